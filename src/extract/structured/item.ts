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
    if (this.#all.length >= LIMITS.items) {
      this.isTruncated = true;
      return null;
    }
    const item: DataItem = { source: this.#source, types: [], id, properties: new Map() };
    this.#all.push(item);
    if (id !== null) this.#byId.set(id, item);
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

  addRoot(item: DataItem): void {
    this.#roots.add(item);
  }

  /** Things of which nothing is known but their id become that id. */
  finish(): readonly DataItem[] {
    for (const item of this.#all) {
      for (const [name, values] of item.properties) {
        if (values.some(isUnknown)) {
          item.properties.set(
            name,
            values.map((value) => (isUnknown(value) ? (value.id ?? '') : value)),
          );
        }
      }
    }
    return [...this.#roots];
  }
}

function isUnknown(value: ItemValue): value is DataItem {
  return isItem(value) && value.types.length === 0 && value.properties.size === 0 && value.id !== null;
}
