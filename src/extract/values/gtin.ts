import { fold } from './fold.ts';

/** A Global Trade Item Number with a valid check digit. */
export interface Gtin {
  /** Digits as printed: 8, 12, 13 or 14. */
  readonly value: string;
  readonly kind: 'GTIN-8' | 'GTIN-12' | 'GTIN-13' | 'GTIN-14';
  /** Filled up to 14 digits: equal for the same article, however it is printed. */
  readonly gtin14: string;
}

const KINDS: Readonly<Record<number, Gtin['kind']>> = {
  8: 'GTIN-8',
  12: 'GTIN-12',
  13: 'GTIN-13',
  14: 'GTIN-14',
};
const ISBN_10 = /^\d{9}[\dX]$/;

function checkDigit(digits: string): number {
  let sum = 0;
  for (let index = digits.length - 1, weight = 3; index >= 0; index--, weight = 4 - weight) {
    sum += Number(digits[index]) * weight;
  }
  return (10 - (sum % 10)) % 10;
}

function isIsbn10(text: string): boolean {
  if (!ISBN_10.test(text)) return false;
  let sum = 0;
  for (const [index, char] of [...text].entries()) sum += (char === 'X' ? 10 : Number(char)) * (10 - index);
  return sum % 11 === 0;
}

/** Reads EAN, UPC, GTIN and ISBN (ten digits become thirteen); null when the length or the check digit is wrong. */
export function parseGtin(text: string): Gtin | null {
  const folded = fold(text, 60).toUpperCase();
  const bare = folded
    .replace(/^(?:(?:GTIN|EAN|UPC|ISBN|JAN)(?:[- ]?1[0234]|[- ]?8)?(?:-A)?[ :#]+)/, '')
    .replace(/[ \-‐‑–]/g, '');
  if (isIsbn10(bare)) {
    const body = `978${bare.slice(0, 9)}`;
    return parseGtin(`${body}${checkDigit(body)}`);
  }
  const kind = KINDS[bare.length];
  if (kind === undefined || !/^\d+$/.test(bare) || /^0+$/.test(bare)) return null;
  if (checkDigit(bare.slice(0, -1)) !== Number(bare.at(-1))) return null;
  return { value: bare, kind, gtin14: bare.padStart(14, '0') };
}
