import { type Availability, parseAvailability } from './availability.ts';
import { parseBoolean } from './boolean.ts';
import { type ParsedDate, parseDate } from './date/date.ts';
import { type Duration, parseDuration } from './duration.ts';
import { type Email, parseEmail } from './email.ts';
import { type Gtin, parseGtin } from './gtin.ts';
import { type ParsedNumber, parseNumber } from './number.ts';
import { type Phone, parsePhone } from './phone.ts';
import { type Location, parseLocation } from './place/location.ts';
import { type Price, parsePrice } from './price/price.ts';
import { parseRating, type Rating } from './rating.ts';
import { normalizeText } from './text.ts';
import { normalizeUrl } from './url.ts';

/** Context for parsing the fields of a record. */
export interface NormalizeContext {
  readonly fetchedAt: number;
  readonly url?: string | undefined;
  readonly locale?: string | undefined;
  readonly country?: string | undefined;
  readonly currency?: string | undefined;
  readonly timeZone?: string | undefined;
}

/** Value of a field by the kind it is declared as. */
export interface KindValues {
  readonly text: string;
  readonly url: string;
  readonly email: Email;
  readonly phone: Phone;
  readonly price: Price;
  readonly date: ParsedDate;
  readonly number: ParsedNumber;
  readonly boolean: boolean;
  readonly availability: Availability;
  readonly gtin: Gtin;
  readonly rating: Rating;
  readonly duration: Duration;
  readonly location: Location;
}

export type ValueKind = keyof KindValues;
/** A kind, or a list of values of a kind. */
export type KindOrList = ValueKind | { readonly list: ValueKind };
export type RecordKinds = Readonly<Record<string, KindOrList>>;

type FieldValue<F> = F extends ValueKind
  ? KindValues[F]
  : F extends { readonly list: infer K extends ValueKind }
    ? readonly KindValues[K][]
    : never;

/** A value that could not be read. Its field is null, or the list goes without it; the other fields are not affected. */
export interface RecordProblem {
  /** `price`, or `images[2]`. */
  readonly field: string;
  readonly kind: ValueKind;
  readonly message: string;
  /** The beginning of what was found there. */
  readonly found: string;
}

export interface NormalizedRecord<K extends RecordKinds> {
  /** Every field of the kinds and no other; null where there was nothing, or nothing that could be read. */
  readonly record: { readonly [F in keyof K]: FieldValue<K[F]> | null };
  readonly problems: readonly RecordProblem[];
}

type Readers = {
  readonly [K in ValueKind]: (text: string, context: NormalizeContext) => KindValues[K] | null;
};

const READERS: Readers = {
  text: (text) => normalizeText(text) || null,
  url: (text, { url }) => normalizeUrl(text, { base: url }),
  email: (text) => parseEmail(text),
  phone: (text, { country, locale }) => parsePhone(text, { country, locale }),
  price: (text, { country, locale, currency }) => parsePrice(text, { country, locale, currency }),
  date: (text, { fetchedAt, locale, timeZone }) => parseDate(text, { fetchedAt, locale, timeZone }),
  number: (text, { country, locale }) => parseNumber(text, { country, locale }),
  boolean: (text) => parseBoolean(text),
  availability: (text) => parseAvailability(text),
  gtin: (text) => parseGtin(text),
  rating: (text) => parseRating(text),
  duration: (text) => parseDuration(text),
  location: (text, { country }) => parseLocation(text, { country }),
};

const MAX_LIST = 1_000;
const MAX_FOUND_CHARS = 100;

/**
 * Reads every field by its kind. A field that is missing, null or empty is null and no problem; one that cannot be read
 * is null and a problem; undeclared fields are left out. Never throws.
 */
export function normalizeRecord<const K extends RecordKinds>(
  record: Readonly<Record<string, unknown>>,
  kinds: K,
  context: NormalizeContext,
): NormalizedRecord<K> {
  const problems: RecordProblem[] = [];
  const fields = Object.entries(kinds).map(([field, kind]) => {
    const value = Object.hasOwn(record, field) ? record[field] : undefined;
    const read =
      typeof kind === 'string'
        ? readOne(field, value, kind, context, problems)
        : readList(field, value, kind.list, context, problems);
    return [field, read] as const;
  });
  // The keys are those of the kinds, one for one, which the type of fromEntries cannot say.
  return { record: Object.fromEntries(fields) as NormalizedRecord<K>['record'], problems };
}

function readList(
  field: string,
  value: unknown,
  kind: ValueKind,
  context: NormalizeContext,
  problems: RecordProblem[],
): readonly KindValues[ValueKind][] | null {
  if (value === undefined || value === null) return null;
  const values = Array.isArray(value) ? value.slice(0, MAX_LIST) : [value];
  return values
    .map((each, index) => readOne(`${field}[${index}]`, each, kind, context, problems))
    .filter((each) => each !== null);
}

function readOne(
  field: string,
  value: unknown,
  kind: ValueKind,
  context: NormalizeContext,
  problems: RecordProblem[],
): KindValues[ValueKind] | null {
  if (value === undefined || value === null || value === '') return null;
  if (kind === 'number' && typeof value === 'number' && Number.isFinite(value)) {
    return { value, isAmbiguous: false, readings: [] };
  }
  if (kind === 'price' && typeof value === 'number' && Number.isFinite(value))
    return plainPrice(value, context);
  const text = textOf(value);
  if (text !== null && text.trim() === '') return null;
  const read = text === null ? null : READERS[kind](text, context);
  if (read !== null) return read;
  const found = (text ?? typeof value).slice(0, MAX_FOUND_CHARS).toWellFormed();
  const message = text === null ? `expected ${kind}, found ${typeof value}` : `cannot be read as ${kind}`;
  problems.push({ field, kind, message, found });
  return null;
}

/** A number of structured data has its decimals where programs put them. */
function plainPrice(amount: number, context: NormalizeContext): Price | null {
  const price = parsePrice('0', context);
  return price === null ? null : { ...price, amount };
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
    ? String(value)
    : null;
}
