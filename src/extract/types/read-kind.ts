import { cut } from '../html/page-text.ts';
import { parseAvailability } from '../values/availability.ts';
import { parseEmail, parsePhone } from '../values/contact.ts';
import { parseDate } from '../values/date/date.ts';
import { parseDuration } from '../values/duration.ts';
import { parseLocation } from '../values/location.ts';
import { parseNumber } from '../values/number.ts';
import { normalizeUrl, parseGtin } from '../values/plain-values.ts';
import { type Price, parsePrice } from '../values/price/price.ts';
import { normalizeParagraphs, normalizeText } from '../values/text.ts';
import type { FieldKind, FieldKindTypes, PlaceValue } from './field.ts';

/** Context for parsing the values of a page. */
export interface ReadingContext {
  /** The base of relative URLs. */
  readonly base: string;
  readonly fetchedAt: number;
  readonly locale: string | undefined;
  /** ISO 4217, where the page names one. */
  readonly currency: string | undefined;
}

const TEXT_CHARS = 1_000;
const BODY_CHARS = 50_000;
const MOST_ENTRIES = 200;
/** Machine-written numbers. Three decimals are excluded: they may be thousands. */
const MACHINE_PRICE = /^\d{1,12}(?:\.(?:\d{1,2}|\d{4,8}))?$/;
const CURRENCY = /^[A-Z]{3}$/;

type Readers = {
  readonly [K in FieldKind]: (raw: unknown, context: ReadingContext) => FieldKindTypes[K] | null;
};

/** Parsers by kind of field; they return null for values they cannot parse. */
export const FIELD_READERS: Readers = {
  text: (raw) => fieldText(raw, TEXT_CHARS),
  body: readBody,
  url: readUrl,
  urls: (raw, context) => listOf(raw, (one) => readUrl(one, context)),
  texts: (raw) => listOf(raw, (one) => fieldText(one, BODY_CHARS)),
  number: readNumber,
  count: (raw, context) => {
    const number = readNumber(raw, context);
    return number === null || number < 0 ? null : Math.round(number);
  },
  price: (raw, context) =>
    typeof raw === 'number' ? amountOf(raw) : amountOf(readPrice(raw, context)?.amount ?? null),
  currency: (raw, context) => {
    const code = String(raw ?? '')
      .trim()
      .toUpperCase();
    return CURRENCY.test(code)
      ? code
      : (readPrice(`1 ${code}`, { ...context, currency: undefined })?.currency ?? null);
  },
  date: readDate,
  minutes: (raw) => {
    if (typeof raw === 'number') return raw;
    const duration = typeof raw === 'string' ? parseDuration(raw) : null;
    return duration === null ? null : Math.round(duration.seconds / 60);
  },
  flag: (raw) => (typeof raw === 'boolean' ? raw : raw === 'true' ? true : raw === 'false' ? false : null),
  gtin: (raw) => (raw === null || raw === undefined ? null : (parseGtin(String(raw))?.value ?? null)),
  availability: (raw) => (typeof raw === 'string' ? parseAvailability(raw) : null),
  email: (raw) =>
    typeof raw === 'string' ? (parseEmail(raw.replace(/^mailto:/i, ''))?.value ?? null) : null,
  phone: (raw, { locale }) =>
    raw === null || raw === undefined
      ? null
      : (parsePhone(String(raw).replace(/^tel:/i, ''), { locale })?.value ?? null),
  place: readPlace,
  salary: (raw) => (isTable(raw) ? (raw as unknown as FieldKindTypes['salary']) : null),
  crumbs: (raw) => built<FieldKindTypes['crumbs']>(raw),
  variants: (raw) => built<FieldKindTypes['variants']>(raw),
  posts: (raw) => built<FieldKindTypes['posts']>(raw),
  stations: (raw) => built<FieldKindTypes['stations']>(raw),
  attributes: readAttributes,
};

export function readPrice(raw: unknown, { locale, currency }: ReadingContext): Price | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null;
  const text = String(raw).trim();
  if (!MACHINE_PRICE.test(text)) return parsePrice(text, { locale, currency });
  // Machine-written numbers do not depend on the locale.
  const price = parsePrice('1', { currency });
  return price === null ? null : { ...price, amount: Number(text) };
}

function amountOf(amount: number | null): number | null {
  if (amount === null || !Number.isFinite(amount) || amount < 0) return null;
  return Math.round(amount * 10_000) / 10_000;
}

export function fieldText(raw: unknown, limit = TEXT_CHARS): string | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null;
  const text = cut(normalizeText(cut(String(raw), limit * 4)), limit);
  return text === '' ? null : text;
}

/** A text of several paragraphs. */
function readBody(raw: unknown): string | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null;
  return cut(normalizeParagraphs(cut(String(raw), BODY_CHARS * 4)), BODY_CHARS).trimEnd() || null;
}

function readUrl(raw: unknown, { base }: ReadingContext): string | null {
  return typeof raw === 'string' ? normalizeUrl(raw, { base }) : null;
}

function readNumber(raw: unknown, { locale }: ReadingContext): number | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : null;
  return typeof raw === 'string' ? (parseNumber(raw, { locale })?.value ?? null) : null;
}

function readDate(raw: unknown, { fetchedAt, locale }: ReadingContext): string | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null;
  return parseDate(String(raw), { fetchedAt, locale })?.iso ?? null;
}

function readPlace(raw: unknown): PlaceValue | null {
  if (typeof raw === 'string') {
    const found = parseLocation(raw);
    return found === null
      ? null
      : { city: found.city, region: found.region, country: found.country, raw: found.raw };
  }
  if (!isTable(raw)) return null;
  const { city, region, country, street, postal } = raw as Readonly<Record<string, unknown>>;
  const parts = [
    street,
    [postal, city]
      .map((part) => fieldText(part))
      .filter(Boolean)
      .join(' '),
    region,
    country,
  ];
  const text = parts.map((part) => fieldText(part)).filter((part) => part !== null);
  if (text.length === 0) return null;
  const countryName = fieldText(country);
  // Some pages write the whole address as the city.
  if (fieldText(city)?.includes(',')) {
    const whole = readPlace(String(city));
    return whole && { ...whole, country: whole.country ?? readCountry(countryName), raw: text.join(', ') };
  }
  const read = parseLocation([fieldText(city), fieldText(region), countryName].filter(Boolean).join(', '));
  return {
    city: fieldText(city) ?? read?.city ?? null,
    region: fieldText(region) ?? read?.region ?? null,
    country: read?.country ?? readCountry(countryName),
    raw: text.join(', '),
  };
}

function readCountry(name: string | null): string | null {
  return name === null ? null : (parseLocation(name)?.country ?? null);
}

function readAttributes(raw: unknown): Readonly<Record<string, string>> | null {
  if (!isTable(raw)) return null;
  const entries = Object.entries(raw)
    .slice(0, MOST_ENTRIES)
    .flatMap(([key, value]) => {
      const [name, text] = [fieldText(key)?.replace(/\s*:$/, ''), fieldText(value)];
      return name && text !== null ? [[name, text] as const] : [];
    });
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function listOf<T>(raw: unknown, read: (one: unknown) => T | null): readonly T[] | null {
  const list: unknown[] = Array.isArray(raw) ? raw.slice(0, MOST_ENTRIES) : [raw];
  const values = new Set(list.map(read).filter((value) => value !== null));
  return values.size === 0 ? null : [...values];
}

function isTable(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return raw !== null && typeof raw === 'object' && !Array.isArray(raw);
}

/** Lists whose entries were parsed already. */
function built<T extends readonly unknown[]>(raw: unknown): T | null {
  return Array.isArray(raw) && raw.length > 0 ? (raw.slice(0, MOST_ENTRIES) as unknown as T) : null;
}
