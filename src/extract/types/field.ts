import type { Crumb } from '../structured/navigation.ts';
import type { Availability } from '../values/availability.ts';

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
