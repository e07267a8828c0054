import { parseAvailability } from '../normalize/availability.ts';
import { parseDate } from '../normalize/date/date.ts';
import { parseDuration } from '../normalize/duration.ts';
import { parseEmail } from '../normalize/email.ts';
import { parseGtin } from '../normalize/gtin.ts';
import { parseNumber } from '../normalize/number.ts';
import { parsePhone } from '../normalize/phone.ts';
import { parseLocation } from '../normalize/place/location.ts';
import { type Price, parsePrice } from '../normalize/price/price.ts';
import { normalizeText } from '../normalize/text.ts';
import { normalizeUrl } from '../normalize/url.ts';
import { cut } from '../white-space.ts';
import type { Kind, KindTypes, Place } from './field.ts';

/** What values of a page are read with. */
export interface ReadingContext {
  /** What addresses are relative to. */
  readonly base: string;
  readonly fetchedAt: number;
  readonly locale: string | undefined;
  /** ISO 4217, where the page names one. */
  readonly currency: string | undefined;
}

const TEXT_CHARS = 1_000;
const BODY_CHARS = 50_000;
const MOST_ENTRIES = 200;
/** Numbers as programs write them. Three decimals may be thousands. */
const MACHINE_PRICE = /^\d{1,12}(?:\.(?:\d{1,2}|\d{4,8}))?$/;
const CURRENCY = /^[A-Z]{3}$/;

type Readers = { readonly [K in Kind]: (raw: unknown, context: ReadingContext) => KindTypes[K] | null };

/** Reads what a page has written as a value of a kind; null when it is none. */
export const READ: Readers = {
  text: (raw) => textOf(raw, TEXT_CHARS),
  body: (raw) => textOf(raw, BODY_CHARS),
  url: readUrl,
  urls: (raw, context) => listOf(raw, (one) => readUrl(one, context)),
  texts: (raw) => listOf(raw, (one) => textOf(one, BODY_CHARS)),
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
  salary: (raw) => (isTable(raw) ? (raw as unknown as KindTypes['salary']) : null),
  crumbs: (raw) => built<KindTypes['crumbs']>(raw),
  variants: (raw) => built<KindTypes['variants']>(raw),
  posts: (raw) => built<KindTypes['posts']>(raw),
  stations: (raw) => built<KindTypes['stations']>(raw),
  attributes: readAttributes,
};

export function readPrice(raw: unknown, { locale, currency }: ReadingContext): Price | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null;
  const text = String(raw).trim();
  if (!MACHINE_PRICE.test(text)) return parsePrice(text, { locale, currency });
  // A plain number is not for a locale to read.
  const price = parsePrice('1', { currency });
  return price === null ? null : { ...price, amount: Number(text) };
}

function amountOf(amount: number | null): number | null {
  if (amount === null || !Number.isFinite(amount) || amount < 0) return null;
  return Math.round(amount * 10_000) / 10_000;
}

export function textOf(raw: unknown, limit = TEXT_CHARS): string | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null;
  const text = cut(normalizeText(cut(String(raw), limit * 4)), limit);
  return text === '' ? null : text;
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

function readPlace(raw: unknown): Place | null {
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
      .map((part) => textOf(part))
      .filter(Boolean)
      .join(' '),
    region,
    country,
  ];
  const text = parts.map((part) => textOf(part)).filter((part) => part !== null);
  if (text.length === 0) return null;
  const countryName = textOf(country);
  // Some write all of it where the city belongs.
  if (textOf(city)?.includes(',')) {
    const whole = readPlace(String(city));
    return whole && { ...whole, country: whole.country ?? readCountry(countryName), raw: text.join(', ') };
  }
  const read = parseLocation([textOf(city), textOf(region), countryName].filter(Boolean).join(', '));
  return {
    city: textOf(city) ?? read?.city ?? null,
    region: textOf(region) ?? read?.region ?? null,
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
      const [name, text] = [textOf(key)?.replace(/\s*:$/, ''), textOf(value)];
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

/** Lists whose entries were read one by one where they were found. */
function built<T extends readonly unknown[]>(raw: unknown): T | null {
  return Array.isArray(raw) && raw.length > 0 ? (raw.slice(0, MOST_ENTRIES) as unknown as T) : null;
}
