import { collapseText, StepBudget } from './text-diff.ts';

/** One operation of a JSON Patch (RFC 6902); the value comes from the later document. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

export interface JsonDiff {
  /** Applied to the earlier document, in order, they give the later one. Empty: nothing changed. */
  readonly patch: readonly PatchOperation[];
  /** True when the patch replaces parts as a whole, because it would have too many operations or be too deep. */
  readonly isCoarse: boolean;
}

interface JsonDiffOptions {
  readonly operations?: number;
  readonly depth?: number;
}

const MOST_OPERATIONS = 10_000;
const MOST_DEPTH = 200;
/** Values that are looked at to find the equal ends of lists, over the whole document. */
const STEPS = 1_000_000;

type Container = Readonly<Record<string, unknown>> | readonly unknown[];

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isContainer(value) && !Array.isArray(value);

/** The patch that turns one JSON document into another. Undefined counts as null. Elements of lists have an order. */
export function diffJson(a: unknown, b: unknown, options: JsonDiffOptions = {}): JsonDiff {
  const { operations = MOST_OPERATIONS, depth = MOST_DEPTH } = options;
  const patch: PatchOperation[] = [];
  const budget = new StepBudget(STEPS);
  let isCoarse = false;
  /** False also when the steps are spent: then more is looked at one by one. */
  const isSameEnd = (one: unknown, other: unknown): boolean => isSameJson(one, other, budget);

  function compare(one: unknown, other: unknown, path: string, left: number): void {
    if (patch.length > operations || isSameScalar(one, other)) return;
    if (left === 0) {
      if (isSameJson(one, other)) return;
      isCoarse = true;
      patch.push({ op: 'replace', path, value: other ?? null });
    } else if (Array.isArray(one) && Array.isArray(other)) compareLists(one, other, path, left - 1);
    else if (isObject(one) && isObject(other)) compareObjects(one, other, path, left - 1);
    else patch.push({ op: 'replace', path, value: other ?? null });
  }

  function compareObjects(
    one: Readonly<Record<string, unknown>>,
    other: Readonly<Record<string, unknown>>,
    path: string,
    left: number,
  ): void {
    for (const name of Object.keys(one)) {
      if (!Object.hasOwn(other, name)) patch.push({ op: 'remove', path: pointer(path, name) });
    }
    for (const [name, value] of Object.entries(other)) {
      if (Object.hasOwn(one, name)) compare(one[name], value, pointer(path, name), left);
      else patch.push({ op: 'add', path: pointer(path, name), value: value ?? null });
    }
  }

  /** Equal elements at both ends stay; of the others, those at the same place are compared, and the rest comes or goes. */
  function compareLists(
    one: readonly unknown[],
    other: readonly unknown[],
    path: string,
    left: number,
  ): void {
    const least = Math.min(one.length, other.length);
    let start = 0;
    while (start < least && isSameEnd(one[start], other[start])) start += 1;
    let end = 0;
    while (end < least - start && isSameEnd(one[one.length - 1 - end], other[other.length - 1 - end]))
      end += 1;
    const [before, after] = [one.length - end, other.length - end];
    const both = Math.min(before, after);
    for (let at = start; at < both; at += 1) compare(one[at], other[at], pointer(path, at), left);
    // From the last one on, so that the places of the others stay what they are.
    for (let at = before - 1; at >= both && patch.length <= operations; at -= 1)
      patch.push({ op: 'remove', path: pointer(path, at) });
    for (let at = both; at < after && patch.length <= operations; at += 1)
      patch.push({ op: 'add', path: pointer(path, at), value: other[at] ?? null });
  }

  compare(a, b, '', depth);
  if (patch.length <= operations) return { patch, isCoarse };
  return { patch: [{ op: 'replace', path: '', value: b ?? null }], isCoarse: true };
}

const pointer = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** JSON has one zero, and no undefined. */
const isSameScalar = (one: unknown, other: unknown): boolean =>
  one === other || ((one === undefined || one === null) && (other === undefined || other === null));

/**
 * Without recursion: documents may nest as deep as they like. The order of names does not count, that of elements does.
 * With a budget it is false when that is spent.
 */
export function isSameJson(a: unknown, b: unknown, budget?: StepBudget): boolean {
  const pairs: [unknown, unknown][] = [[a, b]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    budget?.spend(1);
    if (budget?.isSpent === true) return false;
    const [one, other] = pair;
    if (isSameScalar(one, other)) continue;
    if (Array.isArray(one) && Array.isArray(other)) {
      if (one.length !== other.length) return false;
      for (const [at, value] of one.entries()) pairs.push([value, other[at]]);
    } else if (isObject(one) && isObject(other)) {
      const names = Object.keys(one);
      if (names.length !== Object.keys(other).length) return false;
      for (const name of names) {
        if (!Object.hasOwn(other, name)) return false;
        pairs.push([one[name], other[name]]);
      }
    } else return false;
  }
  return true;
}

/** Values of a page by name: its title, price and availability, and what was extracted from it. */
export type PageFields = Readonly<Record<string, unknown>>;

type FieldType = 'text' | 'number' | 'boolean' | 'list' | 'object' | 'none';

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
