import type { Numeral } from '../number.ts';
import type { CurrencySpelling } from './currencies.ts';
import type { PriceToken } from './price-lexer.ts';
import { AND_WORDS, RANGE_WORDS } from './price-words.ts';

/** A number of a price text with its currency, unit and labels. */
export interface Quote {
  readonly numeral: Numeral;
  /** Hundredths that stand apart: 19€99. */
  cents: number;
  /** True when the cents may also be the last digits of a whole number. */
  hasLooseCents: boolean;
  /** What comes on top of a number in ten thousands: 1万2,000. */
  rest: number;
  isNegative: boolean;
  /** More than one where the word for it means different things. */
  factors: readonly number[];
  readonly spellings: CurrencySpelling[];
  role: 'price' | 'list' | 'aside';
  isFrom: boolean;
  isUpTo: boolean;
  per: string | null;
  /** True when a range leads from the previous quote to this one. */
  isRangeEnd: boolean;
  /** A number behind a word we do not know: `iPhone 12`. */
  readonly isNamed: boolean;
}

/** The quotes of a text, in order. */
export interface Quotes {
  readonly quotes: readonly Quote[];
  readonly isFree: boolean;
  readonly hasWords: boolean;
}

/** Said behind the old price, not before it. */
const WAS_BEHIND = new Set(['helyett', 'yerine']);
/** These words set an upper end when nothing is before them. */
const UP_TO_ALONE = new Set(['bis', 'до', 'do', 'tot', 'till', 'til', 'עד', 'έως', 'đến']);
/** A text with more numbers is no price. */
const MAX_QUOTES = 16;

class QuoteReader {
  readonly #tokens: readonly PriceToken[];
  readonly #quotes: Quote[] = [];
  readonly #isPrefixed: boolean;
  #pending: CurrencySpelling[] = [];
  #role: Quote['role'] = 'price';
  #isFrom = false;
  #isUpTo = false;
  #isBetween = false;
  #isJoined = false;
  #isNegative = false;
  #isNamed = false;
  #per: string | null = null;
  #isFree = false;
  #hasWords = false;

  constructor(tokens: readonly PriceToken[]) {
    this.#tokens = tokens;
    const first = tokens.find(({ kind }) => kind === 'number' || kind === 'currency');
    this.#isPrefixed = first?.kind === 'currency';
  }

  run(): Quotes {
    for (const [index, token] of this.#tokens.entries()) {
      if (this.#quotes.length >= MAX_QUOTES) break;
      this.#take(token, index);
    }
    const bare = this.#quotes.filter(({ spellings }) => spellings.length === 0);
    const isLeft = bare.length === this.#quotes.length;
    if (isLeft) for (const quote of bare) quote.spellings.push(...this.#pending);
    return { quotes: this.#quotes, isFree: this.#isFree, hasWords: this.#hasWords };
  }

  #take(token: PriceToken, index: number): void {
    const last = this.#quotes.at(-1);
    switch (token.kind) {
      case 'number':
        this.#number(token, index);
        return;
      case 'currency':
        this.#currency(token, index);
        return;
      case 'factor':
        if (last !== undefined) last.factors = token.factors;
        return;
      case 'per':
        if (last === undefined || this.#isNumberNext(index)) this.#per = token.unit;
        else last.per = token.unit;
        return;
      case 'percent':
        if (last !== undefined && this.#tokens[index - 1]?.kind === 'number') last.role = 'aside';
        else if (this.#tokens[index + 1]?.kind === 'number') this.#role = 'aside';
        return;
      case 'plus': {
        const before = this.#tokens[index - 1];
        if (last !== undefined && before?.end === token.start && !this.#isNumberNext(index))
          last.isFrom = true;
        return;
      }
      case 'dash':
        if (last !== undefined) this.#isJoined = true;
        else this.#isNegative = this.#tokens[index + 1]?.start === token.end;
        return;
      case 'mark':
        this.#mark(token.mark, token.text, index);
        return;
      case 'word':
        this.#hasWords = true;
        this.#isNamed = true;
        this.#isJoined = false;
        return;
      case 'stop':
        this.#isNamed = false;
        return;
    }
  }

  #number(token: PriceToken & { readonly kind: 'number' }, index: number): void {
    if (this.#takeCents(token, index) || this.#takeRest(token, index)) return;
    this.#quotes.push({
      numeral: token.numeral,
      cents: 0,
      rest: 0,
      hasLooseCents: false,
      isNegative: this.#isNegative && this.#quotes.length === 0,
      factors: [1],
      spellings: this.#pending,
      role: this.#role,
      isFrom: this.#isFrom,
      isUpTo: this.#isUpTo,
      per: this.#per,
      isRangeEnd: this.#isJoined,
      isNamed: this.#isNamed,
    });
    this.#pending = [];
    this.#role = 'price';
    this.#isFrom = false;
    this.#isUpTo = false;
    this.#isJoined = false;
    this.#isNamed = false;
    this.#per = null;
  }

  /** Two digits right behind a currency sign, or one space behind a whole number, are the cents of what stands before. */
  #takeCents({ start, numeral }: PriceToken & { readonly kind: 'number' }, index: number): boolean {
    const last = this.#quotes.at(-1);
    const before = this.#tokens[index - 1];
    if (last === undefined || before === undefined || !last.numeral.isPlain || last.cents !== 0) return false;
    if (!numeral.isPlain || numeral.end - numeral.start !== 2) return false;
    const isBehind = before.kind === 'currency' && before.start === last.numeral.end;
    // 35€ 99: one space behind the sign, and nothing that would make the digits a number of their own.
    const isLast = this.#tokens[index + 1] === undefined && !this.#isPrefixed;
    const isInside = isBehind && (before.end === start || (before.end + 1 === start && isLast));
    const isLoose = before.kind === 'number' && before.end + 1 === start;
    if (!isInside && !isLoose) return false;
    last.cents = numeral.readings[0].value / 100;
    last.hasLooseCents = isLoose;
    return true;
  }

  #takeRest({ start, numeral }: PriceToken & { readonly kind: 'number' }, index: number): boolean {
    const last = this.#quotes.at(-1);
    const before = this.#tokens[index - 1];
    if (last === undefined || before?.kind !== 'factor' || before.end !== start) return false;
    const [{ value }] = numeral.readings;
    if (value >= (before.factors[0] ?? 1)) return false;
    last.rest = value;
    return true;
  }

  #currency(token: PriceToken & { readonly kind: 'currency' }, index: number): void {
    const last = this.#quotes.at(-1);
    const before = this.#tokens[index - 1]?.kind;
    const isBehind = before === 'number' || before === 'factor' || before === 'currency';
    if (
      last === undefined ||
      !isBehind ||
      (this.#isPrefixed && this.#isNumberNext(index) && last.spellings.length > 0)
    ) {
      this.#pending.push(token.spelling);
      return;
    }
    if (before === 'currency' && this.#pending.length > 0) {
      this.#pending.push(token.spelling);
      return;
    }
    const whole = this.#quotes.at(-2);
    const isPart = token.spelling.unit < 1 && last.spellings.length === 0 && !last.isRangeEnd;
    if (
      isPart &&
      whole !== undefined &&
      whole.spellings.length > 0 &&
      whole.cents === 0 &&
      whole.numeral.isPlain
    ) {
      whole.cents = last.numeral.readings[0].value * token.spelling.unit;
      this.#quotes.pop();
    } else last.spellings.push(token.spelling);
  }

  /** True when a number follows, with only currencies between. */
  #isNumberNext(index: number): boolean {
    let next = index + 1;
    while (this.#tokens[next]?.kind === 'currency') next++;
    return this.#tokens[next]?.kind === 'number';
  }

  #isNumberLater(index: number): boolean {
    return this.#tokens.some(({ kind }, place) => place > index && kind === 'number');
  }

  #mark(mark: (PriceToken & { readonly kind: 'mark' })['mark'], text: string, index: number): void {
    const last = this.#quotes.at(-1);
    const isBetweenNumbers = last !== undefined && this.#isNumberNext(index);
    this.#isNamed = false;
    if (isBetweenNumbers && (RANGE_WORDS.has(text) || (this.#isBetween && AND_WORDS.has(text)))) {
      this.#isJoined = true;
      return;
    }
    const isLater = this.#isNumberLater(index);
    switch (mark) {
      case 'from':
        if (isLater) this.#isFrom = true;
        return;
      case 'fromBehind':
        if (last !== undefined) last.isFrom = true;
        else this.#isFrom = isLater;
        return;
      case 'to':
        if (UP_TO_ALONE.has(text) && isLater && last === undefined) this.#isUpTo = true;
        return;
      case 'upTo':
        if (isLater) this.#isUpTo = true;
        else if (last !== undefined) last.isUpTo = true;
        return;
      case 'between':
        this.#isBetween = true;
        return;
      case 'was':
        if (last !== undefined && (WAS_BEHIND.has(text) || !isLater)) last.role = 'list';
        else this.#role = 'list';
        return;
      case 'now':
        this.#role = 'price';
        if (isBetweenNumbers && last.role === 'price') last.role = 'list';
        return;
      case 'save':
        if (last !== undefined && (!isLater || text === 'off')) last.role = 'aside';
        else this.#role = 'aside';
        return;
      case 'each':
        if (last !== undefined) last.per = 'piece';
        else this.#per = 'piece';
        return;
      case 'free':
        this.#isFree = true;
        return;
      default:
        return;
    }
  }
}

export function readQuotes(tokens: readonly PriceToken[]): Quotes {
  return new QuoteReader(tokens).run();
}
