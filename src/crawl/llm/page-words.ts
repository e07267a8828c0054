const SEPARATORS = /[^\p{L}\p{N}]+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Groups of digits; a space parts thousands only. */
const NUMBER = /\d+(?:[.,'’]\d+|[\u00a0\u202f\u2009 ]\d{3}(?!\d))*/g;
const MAX_NUMBERS = 200_000;

/** The words of a page, for the question whether something stands on it. Case, punctuation and mark-up play no part. */
export class PageWords {
  readonly #words: string;
  readonly #text: string;
  /** Made when first asked for. */
  #numbers: ReadonlySet<number> | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#words = folded(text);
  }

  hasText(value: string): boolean {
    const words = folded(value);
    if (words.trim() === '') return false;
    return this.#words.includes(UNSPACED.test(words) ? words.trim() : words);
  }

  /** Whether a number stands on the page, however it is written: `1.299,50 €` has 1299.5. */
  hasNumber(value: number): boolean {
    this.#numbers ??= numbersIn(this.#text);
    return this.#numbers.has(Math.abs(value));
  }
}

/** Words with one space before, between and after them. */
function folded(text: string): string {
  return ` ${text.normalize('NFKC').toLowerCase().replace(SEPARATORS, ' ').trim()} `;
}

function numbersIn(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [number] of text.normalize('NFKC').matchAll(NUMBER)) {
    if (found.size > MAX_NUMBERS) break;
    for (const reading of readings(number)) found.add(reading);
  }
  return found;
}

/** What a number may mean: `1.299` is either of two, `12.03.2019` is three. */
function readings(written: string): number[] {
  const parts = written.split(/[^\d.,]/);
  const compact = parts.join('');
  // Two numbers beside each other look like thousands.
  const apart = parts.length > 1 ? parts.flatMap((part) => readings(part)) : [];
  const points = compact.match(/[.,]/g) ?? [];
  const last = points.at(-1);
  if (last === undefined) return [Number(compact), ...apart];
  const whole = Number(compact.replace(/[.,]/g, ''));
  const at = compact.lastIndexOf(last);
  const decimal = Number(`${compact.slice(0, at).replace(/[.,]/g, '')}.${compact.slice(at + 1)}`);
  if (points.length === 1)
    return compact.length - at === 4 ? [whole, decimal, ...apart] : [decimal, ...apart];
  if (points.filter((point) => point === last).length === 1) return [decimal, ...apart];
  return [whole, ...compact.split(/[.,]/).map(Number), ...apart];
}
