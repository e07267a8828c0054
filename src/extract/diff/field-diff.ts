import { diffJson, isSameJson, type PatchOperation } from './json-diff.ts';
import { collapseText } from './text-diff.ts';

/** Values of a page by name: its title, price and availability, and what was extracted from it. */
export type PageFields = Readonly<Record<string, unknown>>;

export type FieldType = 'text' | 'number' | 'boolean' | 'list' | 'object' | 'none';

export interface FieldChange {
  readonly field: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Type of the later value; for a field that was removed, type of the earlier value. */
  readonly type: FieldType;
  readonly before: unknown;
  readonly after: unknown;
  /** For a change between two numbers, the later number less the earlier. */
  readonly difference?: number;
  /** Between two numbers: the difference of the larger one, 0 to 1. */
  readonly share?: number;
  /** Between two lists or objects: the JSON Patch from the earlier to the later one. */
  readonly patch?: readonly PatchOperation[];
}

/** These come first in every diff, in this order; the others follow by name. */
const FIRST: readonly string[] = ['title', 'price', 'currency', 'availability'];

/**
 * Fields whose values differ. The order of characters and of elements counts, white space in texts does not. A field
 * that is missing, null or an empty text has no value. `names` limits the fields that are looked at.
 */
export function diffFields(a: PageFields, b: PageFields, names?: readonly string[]): FieldChange[] {
  const all = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const wanted = names === undefined ? all : all.filter((name) => names.includes(name));
  return wanted.sort(byPlace).flatMap((field) => {
    const [before, after] = [normalized(valueIn(a, field)), normalized(valueIn(b, field))];
    return isSameJson(before, after) ? [] : [changeOf(field, before, after)];
  });
}

const valueIn = (fields: PageFields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : null;

function byPlace(one: string, other: string): number {
  const [left, right] = [FIRST.indexOf(one), FIRST.indexOf(other)];
  if (left !== right) return (left < 0 ? FIRST.length : left) - (right < 0 ? FIRST.length : right);
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Texts with their white space collapsed, on the first levels: records are not deeper. */
export function normalized(value: unknown, depth = 8): unknown {
  if (typeof value === 'string') return collapseText(value) || null;
  if (value === undefined || value === null || depth === 0) return value ?? null;
  if (Array.isArray(value)) return value.map((each) => normalized(each, depth - 1));
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, each]) => [name, normalized(each, depth - 1)] as const);
  return Object.fromEntries(entries);
}

function changeOf(field: string, before: unknown, after: unknown): FieldChange {
  const kind = before === null ? 'added' : after === null ? 'removed' : 'changed';
  const change = { field, kind, type: typeOf(after ?? before), before, after } as const;
  if (typeof before === 'number' && typeof after === 'number') {
    const difference = after - before;
    return {
      ...change,
      difference,
      share: Math.abs(difference) / Math.max(Math.abs(before), Math.abs(after)),
    };
  }
  if (kind === 'changed' && typeof before === 'object' && typeof after === 'object')
    return { ...change, patch: diffJson(before, after).patch };
  return change;
}

function typeOf(value: unknown): FieldType {
  if (value === null) return 'none';
  if (Array.isArray(value)) return 'list';
  const types = { string: 'text', number: 'number', boolean: 'boolean', object: 'object' } as const;
  return types[typeof value as keyof typeof types] ?? 'none';
}
