import { type Numeral, numeralAt } from '../number.ts';
import { isLetter, lowerInPlace, standsAlone } from '../text.ts';
import { CURRENCY_SPELLINGS, type CurrencySpelling, EXACT_SPELLINGS, isLikelyWord } from './currencies.ts';
import {
  FACTOR_WORDS,
  PER_WORDS,
  PERIOD_WORDS,
  PRICE_UNITS,
  PRICE_WORDS,
  type PriceMark,
} from './price-words.ts';

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A piece of a price text. `word` is any word we do not know, `stop` a sign that ends what was being said. */
export type PriceToken = Span &
  (
    | { readonly kind: 'number'; readonly numeral: Numeral }
    | { readonly kind: 'currency'; readonly spelling: CurrencySpelling }
    | { readonly kind: 'mark'; readonly mark: PriceMark; readonly text: string }
    | { readonly kind: 'factor'; readonly factors: readonly number[] }
    | { readonly kind: 'per'; readonly unit: string }
    | { readonly kind: 'percent' | 'dash' | 'plus' | 'word' | 'stop' }
  );

/** Behind a whole amount, where cents would stand: `,-` `.–` `:-`. */
const NO_CENTS = /[.,:] ?[-–—−]{1,2}(?! ?\d)/y;
const JUNK_NUMBER = /\d[\d.,]*/y;
const PER_AMOUNT = / ?(\d{1,4}(?:[.,]\d{1,2})?)? ?/y;
const ISO_CODE = /^[A-Za-z]{3}$/;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

class PriceLexer {
  readonly #text: string;
  readonly #lower: string;
  readonly #tokens: PriceToken[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#lower = lowerInPlace(text);
  }

  run(): readonly PriceToken[] {
    let at = 0;
    while (at < this.#text.length) {
      if (this.#text[at] === ' ') {
        at++;
        continue;
      }
      const token = this.#number(at) ?? this.#per(at) ?? this.#phrase(at) ?? this.#sign(at) ?? this.#word(at);
      this.#tokens.push(token);
      at = token.end;
    }
    return this.#tokens;
  }

  #isAfterNumber(): boolean {
    const kind = this.#tokens.at(-1)?.kind;
    return kind === 'number' || kind === 'factor';
  }

  #number(start: number): PriceToken | null {
    const code = this.#text.charCodeAt(start);
    if (code < 48 || code > 57) return null;
    const numeral = numeralAt(this.#text, start);
    if (numeral === null) {
      const end = start + (matchAt(JUNK_NUMBER, this.#text, start)?.[0].length ?? 1);
      return { kind: 'word', start, end };
    }
    const dash = matchAt(NO_CENTS, this.#text, numeral.end)?.[0].length ?? 0;
    // A number whose cents are left away has none behind another sign.
    const [whole] = numeral.readings;
    const sure: Numeral = dash === 0 ? numeral : { ...numeral, readings: [whole] };
    return { kind: 'number', numeral: sure, start, end: numeral.end + dash };
  }

  /** `/kg`, `per 100 g`, `pro Stück`, `monthly`. */
  #per(start: number): PriceToken | null {
    const period = PERIOD_WORDS.at(this.#lower, start);
    const word = this.#text[start] === '/' ? { end: start + 1 } : PRICE_WORDS.at(this.#lower, start);
    if (period !== null && period.end > (word?.end ?? 0)) {
      return { kind: 'per', unit: period.value, start, end: period.end };
    }
    // `a` and `al` are in several lists; only a unit behind them makes them mean `per`.
    const end = word !== null && PER_WORDS.has(this.#lower.slice(start, word.end)) ? word.end : null;
    if (end === null) return null;
    const amount = matchAt(PER_AMOUNT, this.#text, end);
    const unit = PRICE_UNITS.at(this.#lower, end + (amount?.[0].length ?? 0));
    if (unit === null) return null;
    const number = amount?.[1]?.replace(',', '.');
    const isOne = number === undefined || Number(number) === 1;
    return {
      kind: 'per',
      unit: isOne ? unit.value : `${Number(number)} ${unit.value}`,
      start,
      end: unit.end,
    };
  }

  #phrase(start: number): PriceToken | null {
    const currency = this.#currency(start);
    const mark = PRICE_WORDS.at(this.#lower, start);
    const factor = this.#isAfterNumber() ? FACTOR_WORDS.at(this.#lower, start) : null;
    const longest = Math.max(currency?.end ?? 0, mark?.end ?? 0, factor?.end ?? 0);
    if (longest === 0) return null;
    if (currency?.end === longest) return currency;
    if (factor?.end === longest) return { kind: 'factor', factors: factor.value, start, end: longest };
    if (mark === null) return null;
    return { kind: 'mark', mark: mark.value, text: this.#lower.slice(start, longest), start, end: longest };
  }

  #currency(start: number): PriceToken | null {
    for (let length = 4; length > 0; length--) {
      const end = start + length;
      const spelling = EXACT_SPELLINGS.get(this.#text.slice(start, end));
      if (spelling === undefined || !standsAlone(this.#lower, start, end) || this.#text[end] === '$')
        continue;
      if (this.#isBeside(end, spelling.side)) return { kind: 'currency', spelling, start, end };
    }
    const found = CURRENCY_SPELLINGS.at(this.#lower, start);
    if (found === null) return null;
    const written = this.#text.slice(start, found.end);
    const isDoubtful = isLikelyWord(written) || (ISO_CODE.test(written) && written !== written.toUpperCase());
    const side = found.value.side;
    if ((side !== 'both' || isDoubtful) && !this.#isBeside(found.end, side)) return null;
    return { kind: 'currency', spelling: found.value, start, end: found.end };
  }

  #isBeside(end: number, side: CurrencySpelling['side']): boolean {
    if (side !== 'before' && this.#isAfterNumber()) return true;
    const next = this.#text[end] === ' ' ? this.#text[end + 1] : this.#text[end];
    return side !== 'after' && next !== undefined && next >= '0' && next <= '9';
  }

  #sign(start: number): PriceToken | null {
    const char = this.#text[start] ?? '';
    const end = start + 1;
    if (char === '%' || char === '٪') return { kind: 'percent', start, end };
    if ('-–—−~〜‐‑'.includes(char)) return { kind: 'dash', start, end };
    if (char === '+') return { kind: 'plus', start, end };
    return isLetter(char) ? null : { kind: 'stop', start, end };
  }

  #word(start: number): PriceToken {
    let end = start + 1;
    while (end < this.#text.length && isLetter(this.#text[end])) end++;
    return { kind: 'word', start, end };
  }
}

export function lexPrice(text: string): readonly PriceToken[] {
  return new PriceLexer(text).run();
}
