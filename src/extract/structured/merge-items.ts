import { LIMITS } from '../html/limits.ts';
import { type DataItem, type ItemSource, type ItemValue, isItem, type Scalar, textValue } from './item.ts';

/** An item merged from all syntaxes of a page. */
export interface MergedItem {
  readonly type: readonly string[];
  readonly id?: string;
  readonly from: readonly ItemSource[];
  readonly properties: Readonly<Record<string, readonly MergedValue[]>>;
}

export interface MergedValue {
  readonly value: Scalar | MergedItem;
  /** Every syntax that has this value. */
  readonly from: readonly ItemSource[];
}

/** Limit of nesting; deeper items are given by their id. */
const MOST_DEPTH = 12;

/** One entry per item, in the order of first description. In a cycle, an item is written out once on a path. */
export function mergeItems(roots: readonly DataItem[]): { items: MergedItem[]; isTruncated: boolean } {
  const merger = new Merger();
  const items = group(roots).map((same) => merger.merge(same, []));
  return { items, isTruncated: merger.isTruncated };
}

class Merger {
  isTruncated = false;
  #values = 0;

  merge(same: readonly DataItem[], around: readonly DataItem[]): MergedItem {
    const properties: Record<string, MergedValue[]> = Object.create(null);
    const path = [...around, ...same];
    const names = new Set(same.flatMap((item) => [...item.properties.keys()]));
    for (const name of names) {
      const values = this.#valuesOf(same, name, path);
      if (values.length > 0) properties[name] = values;
    }
    const id = same.map((item) => item.id).find((one) => one !== null && !one.startsWith('_:')) ?? null;
    return {
      type: [...new Set(same.flatMap(({ types }) => types))],
      ...(id === null ? {} : { id }),
      from: [...new Set(same.map(({ source }) => source))],
      properties,
    };
  }

  #valuesOf(same: readonly DataItem[], name: string, path: readonly DataItem[]): MergedValue[] {
    const scalars = new Map<string, { value: Scalar; from: ItemSource[] }>();
    const things: DataItem[] = [];
    for (const item of same) {
      for (const value of item.properties.get(name) ?? []) {
        if (++this.#values > LIMITS.itemValues) {
          this.isTruncated = true;
          break;
        }
        if (isItem(value) && !path.includes(value) && path.length < MOST_DEPTH) things.push(value);
        else addScalar(scalars, value, item.source);
      }
    }
    return [
      ...scalars.values(),
      ...group(things).map((one) => {
        const value = this.merge(one, path);
        return { value, from: value.from };
      }),
    ];
  }
}

function addScalar(
  scalars: Map<string, { value: Scalar; from: ItemSource[] }>,
  value: ItemValue,
  source: ItemSource,
): void {
  const scalar = isItem(value) ? (value.id ?? '') : value;
  const key = comparable(scalar);
  if (key === '') return;
  const known = scalars.get(key);
  if (known === undefined) scalars.set(key, { value: scalar, from: [source] });
  else if (!known.from.includes(source)) known.from.push(source);
}

function comparable(value: Scalar): string {
  return String(value).trim().replace(/\s+/g, ' ').toLowerCase();
}

/** Limit of comparisons: items beyond it are not merged. */
const MOST_COMPARED = 300;

function group(items: readonly DataItem[]): DataItem[][] {
  const groups: DataItem[][] = [];
  for (const item of items) {
    const home = groups
      .slice(0, MOST_COMPARED)
      .find((others) => others.some((other) => isSame(other, item, items)));
    if (home === undefined) groups.push([item]);
    else if (!home.includes(item)) home.push(item);
  }
  return groups;
}

/** True for the same id; or, in two syntaxes, for the same type with the same name or URL, or the only items of a type. */
function isSame(a: DataItem, b: DataItem, all: readonly DataItem[]): boolean {
  if (a === b) return true;
  if (a.id !== null && a.id === b.id) return true;
  if (a.source === b.source) return false;
  const type = a.types.find((name) => b.types.includes(name));
  if (type === undefined) return false;
  for (const property of ['name', 'url', 'sku'] as const) {
    const [one, other] = [textValue(a, property), textValue(b, property)];
    if (one !== null && other !== null) return comparable(one) === comparable(other);
  }
  const isOnly = (item: DataItem): boolean =>
    all.filter(({ source, types }) => source === item.source && types.includes(type)).length === 1;
  return isOnly(a) && isOnly(b);
}
