import { LIMITS } from '../limits.ts';

/** The three ways to write things and their properties into a page. */
export type ItemSource = 'json-ld' | 'microdata' | 'rdfa';
export type Scalar = string | number | boolean;
export type ItemValue = Scalar | DataItem;

/**
 * A thing with properties, as a page describes it. Names of schema.org are short (`Product`, `offers`), all others are
 * full addresses. Things refer to each other, also in circles: whoever follows values must count its steps.
 */
export interface DataItem {
  readonly source: ItemSource;
  /** Most specific as written first. */
  readonly types: string[];
  readonly id: string | null;
  readonly properties: Map<string, ItemValue[]>;
}

/** What a page says of things in one syntax. */
export interface ReadItems {
  readonly roots: readonly DataItem[];
  /** A limit cut something off. */
  readonly isTruncated: boolean;
}

/** Places that wait for the text of an element, so that values stand in the order in which their elements begin. */
export type TextSlot = readonly { readonly values: ItemValue[]; readonly at: number }[];

export function isItem(value: ItemValue | undefined): value is DataItem {
  return typeof value === 'object';
}

/** The things of one page in one syntax: what is said of one id in several places belongs to one thing. */
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

  /** The thing with this id, new or known; null when there are too many. */
  item(id: string | null): DataItem | null {
    const known = id === null ? undefined : this.#byId.get(id);
    if (known !== undefined) return known;
    const item = this.own(id);
    if (item !== null && id !== null) this.#byId.set(id, item);
    return item;
  }

  /** A thing of its own, although others may have the same id; null when there are too many. */
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

  /** The values of these properties are a text that is not known yet. */
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

  /** Things of which nothing is known but the id that refers to them become that id. */
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
