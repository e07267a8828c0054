import { type DataItem, type ItemValue, isItem } from './item.ts';

/** Items looked at when a page is searched for things of a type. */
const MOST_STEPS = 5_000;
const NAMING = ['name', 'headline', 'title', '@id'];

/** All things in a page that have one of the types, those on top first. */
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

/** The first value that is text, a number or yes or no, as text. */
export function textValue(item: DataItem | null | undefined, ...names: readonly string[]): string | null {
  for (const name of names) {
    for (const value of item?.properties.get(name) ?? []) {
      const text = isItem(value) ? null : String(value).trim();
      if (text !== null && text !== '') return text;
    }
  }
  return null;
}

/** The first value that is a thing. */
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

/** Every value as text: things by their name. */
export function labels(item: DataItem | null | undefined, ...names: readonly string[]): string[] {
  return valuesOf(item, ...names)
    .map((value) => (isItem(value) ? (textValue(value, ...NAMING) ?? '') : String(value)).trim())
    .filter((text) => text !== '');
}

export function label(item: DataItem | null | undefined, ...names: readonly string[]): string | null {
  return labels(item, ...names)[0] ?? null;
}

/** Every value as an address: things by where they are. */
export function addresses(item: DataItem | null | undefined, ...names: readonly string[]): string[] {
  return valuesOf(item, ...names)
    .map((value) =>
      (isItem(value) ? (textValue(value, 'contentUrl', 'url') ?? value.id ?? '') : String(value)).trim(),
    )
    .filter((text) => text !== '' && !text.startsWith('_:'));
}
