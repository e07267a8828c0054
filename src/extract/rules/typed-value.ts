import { parseBoolean } from '../normalize/boolean.ts';
import { parseDate } from '../normalize/date/date.ts';
import { parseEmail } from '../normalize/email.ts';
import { parseNumber } from '../normalize/number.ts';
import { parsePhone } from '../normalize/phone.ts';
import { parsePrice } from '../normalize/price/price.ts';
import { normalizeUrl } from '../normalize/url.ts';
import type { RulePage } from './page-sources.ts';
import { RULE_LIMITS } from './rule-limits.ts';
import { isDeeperThan, type ValueType } from './rule-schema.ts';
import { parsedJson, textOf } from './transforms.ts';

/** A value read as a type; null when it is none of that type. */
export function typedValue(type: ValueType, value: unknown, page: RulePage): unknown {
  if (type === 'json') return jsonOf(value);
  // What is of the type already needs no reading.
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (type === 'number' || type === 'price') return value;
    if (type === 'integer') return Number.isInteger(value) ? value : null;
  }
  if (typeof value === 'boolean' && type === 'bool') return value;
  const text = textOf(value);
  return text === null ? null : READERS[type](text, page);
}

type Reader = (text: string, page: RulePage) => unknown;

const localeOf = ({ language }: RulePage): string | undefined => language ?? undefined;

const READERS: Readonly<Record<Exclude<ValueType, 'json'>, Reader>> = {
  string: (text) => text,
  number: (text, page) => parseNumber(text, { locale: localeOf(page) })?.value ?? null,
  integer: (text, page) => {
    const value = parseNumber(text, { locale: localeOf(page) })?.value ?? null;
    return Number.isInteger(value) ? value : null;
  },
  price: (text, page) => parsePrice(text, { locale: localeOf(page) })?.amount ?? null,
  currency: (text, page) => parsePrice(text, { locale: localeOf(page) })?.currency ?? null,
  date: (text, page) => parseDate(text, { fetchedAt: page.fetchedAt, locale: localeOf(page) })?.iso ?? null,
  url: (text, page) => normalizeUrl(text, { base: page.url }),
  email: (text) => parseEmail(text)?.value ?? null,
  phone: (text, page) => parsePhone(text, { locale: localeOf(page) })?.value ?? null,
  bool: (text) => parseBoolean(text),
};

function jsonOf(value: unknown): unknown {
  const json = typeof value === 'string' ? parsedJson(value) : value;
  return json === undefined || isDeeperThan(json, RULE_LIMITS.jsonDepth) ? null : json;
}
