import type { EmbeddedState } from './embedded-state.ts';

export type StateObject = Readonly<Record<string, unknown>>;

export interface StateMatch {
  readonly object: StateObject;
  /** The state it was found in. */
  readonly name: string;
  readonly score: number;
}

/** Limits of a search through all states of a page: objects visited, and depth. */
const MOST_OBJECTS = 100_000;
const MOST_DEPTH = 40;

/** The object with the highest score, the first of equals; null when none scores above 0. Outer objects come first. */
export function searchState(
  states: readonly EmbeddedState[],
  judge: (object: StateObject, depth: number) => number,
): StateMatch | null {
  let best: StateMatch | null = null;
  let seen = 0;
  for (const { name, value } of states) {
    const queue: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
    for (let at = 0; at < queue.length && seen < MOST_OBJECTS; at++) {
      const entry = queue[at] as { value: unknown; depth: number };
      if (entry.value === null || typeof entry.value !== 'object') continue;
      seen++;
      if (!Array.isArray(entry.value)) {
        const object = entry.value as StateObject;
        const score = judge(object, entry.depth);
        if (score > (best?.score ?? 0)) best = { object, name, score };
      }
      if (entry.depth >= MOST_DEPTH) continue;
      for (const child of Object.values(entry.value)) {
        if (child !== null && typeof child === 'object') queue.push({ value: child, depth: entry.depth + 1 });
      }
    }
  }
  return best;
}

/** The value of the first path (`offer.price`) that is not empty; null without one. */
export function stateValue(object: StateObject, ...paths: readonly string[]): unknown {
  for (const path of paths) {
    let value: unknown = object;
    for (const key of path.split('.')) {
      value =
        value !== null && typeof value === 'object' && Object.hasOwn(value, key)
          ? (value as StateObject)[key]
          : null;
    }
    if (value !== null && value !== undefined && value !== '') return value;
  }
  return null;
}

/** The same as text: strings and numbers, or the name, title or value of an object. */
export function stateText(object: StateObject, ...paths: readonly string[]): string | null {
  for (const path of paths) {
    const text = stateScalarText(stateValue(object, path));
    if (text !== null) return text;
  }
  return null;
}

export function stateScalarText(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) return value.length === 0 ? null : stateScalarText(value[0]);
  return stateScalarText(
    stateValue(value as StateObject, 'name', 'title', 'label', 'value', 'rendered', 'text', 'amount'),
  );
}

export function stateList(object: StateObject, ...paths: readonly string[]): readonly unknown[] {
  const value = stateValue(object, ...paths);
  if (Array.isArray(value)) return value.slice(0, 1_000);
  // Relay and Shopify wrap lists: {edges: [{node}]} or {nodes: []}.
  if (value !== null && typeof value === 'object') {
    const inner = stateValue(value as StateObject, 'edges', 'nodes', 'items', 'data');
    if (Array.isArray(inner)) {
      return inner.slice(0, 1_000).map((entry: unknown) => stateValue({ entry }, 'entry.node') ?? entry);
    }
  }
  return [];
}

/** How many of these keys have a value. */
export function countKeys(object: StateObject, keys: readonly string[]): number {
  return keys.filter((key) => Object.hasOwn(object, key) && object[key] !== null && object[key] !== '')
    .length;
}
