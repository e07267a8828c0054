import { cut } from '../html/page-text.ts';
import { type DataItem, isItem, itemValue, label, labels, textValue, valuesOf } from '../structured/item.ts';
import type { Crumb } from '../structured/navigation.ts';
import { type Availability, parseAvailability } from '../values/availability.ts';
import { parseEmail, parsePhone } from '../values/contact.ts';
import { parseDate } from '../values/date/date.ts';
import { parseDuration } from '../values/duration.ts';
import { parseLocation } from '../values/location.ts';
import { parseNumber } from '../values/number.ts';
import { normalizeUrl, parseGtin } from '../values/plain-values.ts';
import { type Price, parsePrice } from '../values/price/price.ts';
import { normalizeParagraphs, normalizeText } from '../values/text.ts';
import type { TypedEvidence } from './evidence.ts';

/** Where a value came from, the most trusted first. */
export const SOURCES = [
  'json-ld',
  'microdata',
  'rdfa',
  'embedded-state',
  'open-graph',
  'meta',
  'markup',
  'text',
  'url',
] as const;
export type FieldSource = (typeof SOURCES)[number];

interface PlaceValue {
  readonly city: string | null;
  readonly region: string | null;
  /** Code of ISO 3166, such as `DE`. */
  readonly country: string | null;
  /** The whole text as written. */
  readonly raw: string;
}

export interface Salary {
  readonly min: number | null;
  readonly max: number | null;
  readonly currency: string | null;
  /** `hour`, `day`, `week`, `month`, `year`; null when unknown. */
  readonly per: string | null;
}

/** A variant of a product. */
export interface Variant {
  readonly name: string | null;
  readonly sku: string | null;
  readonly gtin: string | null;
  readonly price: number | null;
  readonly listPrice: number | null;
  readonly currency: string | null;
  readonly availability: Availability | null;
  readonly url: string | null;
  readonly image: string | null;
  /** Options of the variant: size, colour … */
  readonly options: Readonly<Record<string, string>>;
}

export interface Post {
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly text: string;
  readonly votes: number | null;
  readonly isAnswer: boolean;
}

/** A stage of a career or an education. */
export interface Station {
  readonly title: string | null;
  readonly organization: string | null;
  readonly startAt: string | null;
  readonly endAt: string | null;
}

/** The value type of each kind of field. Lists and tables are never empty: without entries the field is null. */
export interface FieldKindTypes {
  readonly text: string;
  readonly body: string;
  readonly url: string;
  readonly urls: readonly string[];
  readonly texts: readonly string[];
  readonly number: number;
  readonly count: number;
  readonly price: number;
  readonly currency: string;
  readonly date: string;
  readonly minutes: number;
  readonly flag: boolean;
  readonly gtin: string;
  readonly availability: Availability;
  readonly email: string;
  readonly phone: string;
  readonly place: PlaceValue;
  readonly salary: Salary;
  readonly crumbs: readonly Crumb[];
  readonly variants: readonly Variant[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly posts: readonly Post[];
  readonly stations: readonly Station[];
}

export type FieldKind = keyof FieldKindTypes;

export interface Field<K extends FieldKind = FieldKind> {
  readonly kind: K;
  /** Description for the documentation. */
  readonly says: string;
}

export type Fields = Readonly<Record<string, Field>>;

export type ValueOf<F extends Fields> = { readonly [N in keyof F]: FieldKindTypes[F[N]['kind']] | null };

export function field<K extends FieldKind>(kind: K, says: string): Field<K> {
  return { kind, says };
}

/** An address of schema.org as input of the kind `place`: its parts, or a text. */
export function placeOfItem(item: DataItem | null, ...names: readonly string[]): unknown {
  const [value] = valuesOf(item, ...names);
  if (value === undefined) return null;
  if (!isItem(value)) return typeof value === 'string' && !/^https?:/.test(value) ? value : null;
  if (value.types.some((type) => type === 'PostalAddress') || value.properties.has('addressLocality')) {
    return {
      street: textValue(value, 'streetAddress'),
      postal: textValue(value, 'postalCode'),
      city: textValue(value, 'addressLocality'),
      region: label(value, 'addressRegion'),
      country: label(value, 'addressCountry'),
    };
  }
  return placeOfItem(value, 'address') ?? textValue(value, 'name');
}

/** Rating value and count, under the field names that all types share. */
export function ratingOf(item: DataItem | null): {
  readonly rating: string | null;
  readonly bestRating: string | null;
  readonly reviewCount: string | null;
} {
  const rating = itemValue(item, 'aggregateRating');
  return {
    rating: textValue(rating, 'ratingValue'),
    bestRating: textValue(rating, 'bestRating'),
    reviewCount: textValue(rating, 'reviewCount', 'ratingCount'),
  };
}

/** Keywords come as a list or as one text with commas. */
export function keywordsOf(item: DataItem | null, ...names: readonly string[]): string[] {
  return labels(item, ...names)
    .flatMap((text) => text.split(/\s*[,;]\s*/))
    .filter((word) => word !== '');
}

/** The item a page is about: the one with its URL or heading, else the first. */
function aboutPage(
  items: readonly DataItem[],
  addresses: readonly string[],
  heading: string | null,
): DataItem | null {
  const plain = (url: string): string =>
    url.replace(/^https?:\/\/(?:www\.)?/, '').replace(/[?#].*$|\/$/g, '');
  const own = new Set(addresses.map(plain));
  const byAddress = items.find((item) =>
    [item.id, textValue(item, 'url'), label(item, 'mainEntityOfPage')].some(
      (url) => url !== null && own.has(plain(url)),
    ),
  );
  const title = heading?.toLowerCase().trim();
  const byName = items.find((item) => textValue(item, 'name', 'headline')?.toLowerCase().trim() === title);
  return byName ?? byAddress ?? items[0] ?? null;
}

/** The item of a type that the page is about, once per syntax. */
export function aboutItems(evidence: TypedEvidence, isWanted: (type: string) => boolean): DataItem[] {
  return choosePerSource(evidence, evidence.items(isWanted));
}

export function choosePerSource(evidence: TypedEvidence, items: readonly DataItem[]): DataItem[] {
  const { markup } = evidence;
  const heading = items.length > 1 ? markup.text(markup.heading) : null;
  return (['json-ld', 'microdata', 'rdfa'] as const).flatMap((source) => {
    const own = items.filter((item) => item.source === source);
    const item = aboutPage(own, [evidence.page.url, evidence.address.url], heading);
    return item === null ? [] : [item];
  });
}

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
