import type { XPathPage } from './nodes.ts';

/** Nodes are in document order, each once. */
export type Value = string | number | boolean | readonly number[];

const NUMBER = /^[ \t\n\r]*-?(?:\d+(?:\.\d*)?|\.\d+)[ \t\n\r]*$/;

export function isNodes(value: Value): value is readonly number[] {
  return Array.isArray(value);
}

export function stringOf(page: XPathPage, value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return written(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  const [first] = value;
  return first === undefined ? '' : page.text(first);
}

export function numberOf(page: XPathPage, value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const text = stringOf(page, value);
  return NUMBER.test(text) ? Number(text) : Number.NaN;
}

export function booleanOf(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0 && !Number.isNaN(value);
  return value.length > 0;
}

/** XPath knows no exponents. */
function written(number: number): string {
  if (Object.is(number, -0)) return '0';
  const text = String(number);
  if (!text.includes('e')) return text;
  if (Math.abs(number) >= 1) return BigInt(number).toString();
  const [digits = '', exponent = '0'] = text.split('e-');
  const places = Number(exponent) + (digits.split('.')[1]?.length ?? 0);
  return places > 100 ? number.toFixed(100).replace(/0+$/, '0') : number.toFixed(places);
}
