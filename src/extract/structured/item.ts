import { LIMITS } from '../html/limits.ts';

/** The syntaxes of structured data. */
export type ItemSource = 'json-ld' | 'microdata' | 'rdfa';
export type Scalar = string | number | boolean;
export type ItemValue = Scalar | DataItem;

/**
 * An item with properties, as a page describes it. Names of schema.org are short (`Product`, `offers`), all others are
 * full URLs. Items refer to each other, also in cycles: code that follows values must bound its steps.
 */
export interface DataItem {
  readonly source: ItemSource;
  /** Most specific as written first. */
  readonly types: string[];
  readonly id: string | null;
  readonly properties: Map<string, ItemValue[]>;
}

/** The items of a page in one syntax. */
export interface ReadItems {
  readonly roots: readonly DataItem[];
  /** True when a limit dropped items or values. */
  readonly isTruncated: boolean;
}

/** Values to be filled with the text of an element later, so that values keep the order in which their elements begin. */
export type TextSlot = readonly { readonly values: ItemValue[]; readonly at: number }[];

const SCHEMA = /^https?:\/\/(?:www\.)?schema\.org\/(?:#)?/i;
const OLD_SCHEMA = /^https?:\/\/(?:www\.)?data-vocabulary\.org\/(?:#)?/i;

/** Prefixes of the RDFa initial context that web pages use. */
export const KNOWN_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['schema', 'https://schema.org/'],
  ['og', 'http://ogp.me/ns#'],
  ['dc', 'http://purl.org/dc/terms/'],
  ['dc11', 'http://purl.org/dc/elements/1.1/'],
  ['dcterms', 'http://purl.org/dc/terms/'],
  ['foaf', 'http://xmlns.com/foaf/0.1/'],
  ['gr', 'http://purl.org/goodrelations/v1#'],
  ['v', 'http://rdf.data-vocabulary.org/#'],
  ['vcard', 'http://www.w3.org/2006/vcard/ns#'],
  ['sioc', 'http://rdfs.org/sioc/ns#'],
  ['skos', 'http://www.w3.org/2004/02/skos/core#'],
  ['rdf', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'],
  ['rdfs', 'http://www.w3.org/2000/01/rdf-schema#'],
  ['xsd', 'http://www.w3.org/2001/XMLSchema#'],
  ['ctag', 'http://commontag.org/ns#'],
  ['cc', 'http://creativecommons.org/ns#'],
]);

/** Properties of schema.org whose values are URLs and may be relative. */
const URL_PROPERTIES: ReadonlySet<string> = new Set([
  'url',
  'image',
  'images',
  'logo',
  'sameAs',
  'contentUrl',
  'embedUrl',
  'thumbnailUrl',
  'thumbnail',
  'item',
  'mainEntityOfPage',
  'photo',
  'downloadUrl',
  'installUrl',
  'discussionUrl',
  'hasMap',
  'license',
  'menu',
  'isBasedOn',
  'relatedLink',
  'significantLink',
  'target',
  'urlTemplate',
]);

export function isItem(value: ItemValue | undefined): value is DataItem {
  return typeof value === 'object';
}

/** The items of one page in one syntax. Descriptions of the same id are one item. */
export class ItemGraph {
  isTruncated = false;
  readonly #roots = new Set<DataItem>();
  readonly #source: ItemSource;
  readonly #byId = new Map<string, DataItem>();
  readonly #all: DataItem[] = [];
  #values = 0;
  #chars = 0;

  constructor(source: ItemSource) {
    this.#source = source;
  }

  /** The item with this id, new or known; null beyond the limit. */
  item(id: string | null): DataItem | null {
    const known = id === null ? undefined : this.#byId.get(id);
    if (known !== undefined) return known;
    const item = this.own(id);
    if (item !== null && id !== null) this.#byId.set(id, item);
    return item;
  }

  /** A new item, even if another has the same id; null beyond the limit. */
  own(id: string | null): DataItem | null {
    if (this.#all.length >= LIMITS.items) {
      this.isTruncated = true;
      return null;
    }
    const item: DataItem = { source: this.#source, types: [], id, properties: new Map() };
    this.#all.push(item);
    return item;
  }

  add(item: DataItem, name: string, value: ItemValue): void {
    this.#chars += name.length + (typeof value === 'string' ? value.length : 0);
    if (++this.#values > LIMITS.itemValues || this.#chars > LIMITS.itemChars) {
      this.isTruncated = true;
      return;
    }
    const values = item.properties.get(name);
    if (values === undefined) item.properties.set(name, [value]);
    else if (typeof value !== 'object' || !values.includes(value)) values.push(value);
  }

  /** Reserves values of these properties for a text that is not known yet. */
  awaitText(item: DataItem, names: readonly string[]): TextSlot {
    return names.flatMap((name) => {
      const before = item.properties.get(name)?.length ?? 0;
      this.add(item, name, '');
      const values = item.properties.get(name);
      return values === undefined || values.length === before ? [] : [{ values, at: before }];
    });
  }

  fill(slot: TextSlot, text: string): void {
    for (const { values, at } of slot) {
      this.#chars += text.length;
      if (this.#chars > LIMITS.itemChars) this.isTruncated = true;
      else values[at] = text;
    }
  }

  addRoot(item: DataItem): void {
    this.#roots.add(item);
  }

  /** Replaces items that have nothing but an id by that id, and returns the roots. */
  finish(): readonly DataItem[] {
    const isUnknown = (value: ItemValue): value is DataItem & { readonly id: string } =>
      isItem(value) &&
      value.types.length === 0 &&
      value.properties.size === 0 &&
      value.id !== null &&
      this.#byId.get(value.id) === value;
    for (const item of this.#all) {
      for (const [name, values] of item.properties) {
        if (values.some(isUnknown)) {
          item.properties.set(
            name,
            values.map((value) => (isUnknown(value) ? value.id : value)),
          );
        }
      }
    }
    return [...this.#roots];
  }
}

/** Limit of items visited in a search by type. */
const MOST_STEPS = 5_000;
const NAMING = ['name', 'headline', 'title', '@id'];

/** All items of a page with one of the types, outer ones first. */
export function itemsOfType(roots: readonly DataItem[], isWanted: (type: string) => boolean): DataItem[] {
  const found: DataItem[] = [];
  const seen = new Set<DataItem>(roots);
  const queue = [...roots];
  for (let at = 0; at < queue.length && at < MOST_STEPS; at++) {
    const item = queue[at] as DataItem;
    if (item.types.some(isWanted)) found.push(item);
    for (const values of item.properties.values()) {
      for (const value of values) {
        if (!isItem(value) || seen.has(value)) continue;
        seen.add(value);
        queue.push(value);
      }
    }
  }
  return found;
}

export function valuesOf(
  item: DataItem | null | undefined,
  ...names: readonly string[]
): readonly ItemValue[] {
  for (const name of names) {
    const values = item?.properties.get(name);
    if (values !== undefined && values.length > 0) return values;
  }
  return [];
}

/** The first string, number or boolean value, as text. */
export function textValue(item: DataItem | null | undefined, ...names: readonly string[]): string | null {
  for (const name of names) {
    for (const value of item?.properties.get(name) ?? []) {
      const text = isItem(value) ? null : String(value).trim();
      if (text !== null && text !== '') return text;
    }
  }
  return null;
}

/** The first value that is an item. */
export function itemValue(item: DataItem | null | undefined, ...names: readonly string[]): DataItem | null {
  for (const name of names) {
    const found = item?.properties.get(name)?.find(isItem);
    if (found !== undefined) return found;
  }
  return null;
}

export function itemValues(
  item: DataItem | null | undefined,
  ...names: readonly string[]
): readonly DataItem[] {
  return valuesOf(item, ...names).filter(isItem);
}

/** Every value as text; items give their name. */
export function labels(item: DataItem | null | undefined, ...names: readonly string[]): string[] {
  return valuesOf(item, ...names)
    .map((value) => (isItem(value) ? (textValue(value, ...NAMING) ?? '') : String(value)).trim())
    .filter((text) => text !== '');
}

export function label(item: DataItem | null | undefined, ...names: readonly string[]): string | null {
  return labels(item, ...names)[0] ?? null;
}

/** Every value as a URL; items give theirs. */
export function addresses(item: DataItem | null | undefined, ...names: readonly string[]): string[] {
  return valuesOf(item, ...names)
    .map((value) =>
      (isItem(value) ? (textValue(value, 'contentUrl', 'url') ?? value.id ?? '') : String(value)).trim(),
    )
    .filter((text) => text !== '' && !text.startsWith('_:'));
}

/** The name of a type or property: short for schema.org, the URL for all others. */
export function nameOf(address: string): string {
  const short = address.replace(SCHEMA, '').replace(OLD_SCHEMA, '');
  return short === '' ? address : short;
}

export function holdsUrl(property: string): boolean {
  return URL_PROPERTIES.has(property);
}
