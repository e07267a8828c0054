import { type DataItem, isItem, itemValue, label, labels, textValue, valuesOf } from '../structured/item.ts';
import type { Crumb } from '../structured/navigation.ts';
import type { Availability } from '../values/availability.ts';
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

export interface PlaceValue {
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
