import { hashName, TAG } from '../../html/names.ts';
import { cut } from '../../html/page-text.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { LITERAL_LIMITS } from './literal-reader.ts';
import { flightChunk, readFlight, readScriptState } from './script-state.ts';

/** Data that a page carries for its own scripts. */
export interface EmbeddedState {
  /** Its name on the page: the id of a script, the name of a variable or of an attribute; `json` without a name. */
  readonly name: string;
  /** A JSON value: no cycles, no functions. Objects may have no prototype. */
  readonly value: unknown;
}

const TYPE = hashName('type');
const ID = hashName('id');
const SCRIPT_TYPE = /^\s*(?:$|module|text\/javascript|application\/javascript|text\/ecmascript)/i;
const JSON_TYPE = /^\s*(?:application|text)\/(?:[\w.-]{1,60}\+)?json\s*(?:;|$)|^\s*text\/x-magento-init\s*$/i;
const LD_TYPE = /ld\+json/i;
/** Attributes in which shop and forum systems leave data about the page. */
const DATA_ATTRIBUTES = [
  'data-product_variations',
  'data-product',
  'data-product-json',
  'data-preloaded',
  'data-page',
  'data-props',
  'data-state',
].map((name) => ({ name, hash: hashName(name) }));
const MOST_STATES = 60;
const MOST_CHARS = 10_000_000;
const WORTH_A_LOOK = /__|[sS]tate|[dD]ata|product|meta|spConfig/;

/** Finds and reads the data in a page's scripts and attributes, without running anything. Bounded, never throws. */
export function findEmbeddedState(tree: PageTree): EmbeddedState[] {
  const found: EmbeddedState[] = [];
  let flight = '';
  let chars = 0;
  for (let node = 1; node < tree.count && found.length < MOST_STATES && chars < MOST_CHARS; node++) {
    if (tree.isText(node)) continue;
    if (tree.tags[node] !== TAG.script) {
      if (tree.hasAttributes(node)) readAttributes(tree, node, found);
      continue;
    }
    const child = tree.firstChild(node);
    const source = child < 0 ? '' : tree.text(child);
    if (source.length < 10 || source.length > LITERAL_LIMITS.chars) continue;
    chars += source.length;
    const type = tree.attribute(node, TYPE) ?? '';
    if (JSON_TYPE.test(type) && !LD_TYPE.test(type)) {
      const value = parse(source);
      const name = cut(tree.attribute(node, ID)?.trim() || 'json', 100);
      if (value !== undefined) found.push({ name, value: unpacked(name, value) });
    } else if (SCRIPT_TYPE.test(type)) {
      if (source.includes('__next_f')) flight += flightChunk(source);
      if (WORTH_A_LOOK.test(source)) found.push(...readScriptState(source));
    }
  }
  const rows = flight === '' ? null : readFlight(flight);
  if (rows !== null) found.push({ name: '__next_f', value: rows });
  return found.slice(0, MOST_STATES);
}

function readAttributes(tree: PageTree, node: number, found: EmbeddedState[]): void {
  for (const { name, hash } of DATA_ATTRIBUTES) {
    const written = tree.attribute(node, hash);
    if (written === null || !/^\s*[[{]/.test(written) || written.length > LITERAL_LIMITS.chars) continue;
    const value = parse(written);
    if (value !== undefined)
      found.push({ name, value: name === 'data-preloaded' ? withParsedTexts(value) : value });
  }
}

/** Nuxt 3 writes a flat list; other values are taken as they are. */
function unpacked(name: string, value: unknown): unknown {
  if (name !== '__NUXT_DATA__' && !name.startsWith('nuxt')) return value;
  return readFlatList(value) ?? value;
}

/** Discourse writes JSON into strings of its JSON. */
function withParsedTexts(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const entries = Object.entries(value).slice(0, 200);
  return Object.fromEntries(
    entries.map(([key, text]) => [
      key,
      typeof text === 'string' && /^\s*[[{]/.test(text) ? (parse(text) ?? text) : text,
    ]),
  );
}

function parse(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

const MOST_VALUES = 300_000;
const MOST_DEPTH = 200;
/** Negative indices stand for undefined, NaN and the like; they are read as null. */
const NOTHING = -1;

/**
 * Values written as one flat list in which numbers are places of other values, as Nuxt 3 and SvelteKit do:
 * `[{"name":1},"Desk"]` is `{name: "Desk"}`. Returns undefined for any other value. References from a value to itself
 * become null.
 */
export function readFlatList(list: unknown): unknown {
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_VALUES) return undefined;
  return new FlatList(list).at(0, 0);
}

class FlatList {
  readonly #list: readonly unknown[];
  /** Also holds values that are still being read, so that cycles end. */
  readonly #known = new Map<number, unknown>();
  #steps = 0;

  constructor(list: readonly unknown[]) {
    this.#list = list;
  }

  at(place: unknown, depth: number): unknown {
    if (typeof place !== 'number' || place <= NOTHING || depth > MOST_DEPTH) return null;
    if (this.#known.has(place)) return this.#known.get(place);
    if (++this.#steps > MOST_VALUES) return null;
    this.#known.set(place, null);
    const value = this.#read(this.#list[place], depth + 1);
    this.#known.set(place, value);
    return value;
  }

  #read(written: unknown, depth: number): unknown {
    if (written === null || typeof written !== 'object') return written ?? null;
    if (!Array.isArray(written)) {
      const object: Record<string, unknown> = Object.create(null);
      for (const [key, place] of Object.entries(written)) object[key] = this.at(place, depth);
      return object;
    }
    const [kind, ...places] = written as readonly unknown[];
    if (typeof kind !== 'string') return written.map((place: unknown) => this.at(place, depth));
    return this.#special(kind, places, depth);
  }

  #special(kind: string, places: readonly unknown[], depth: number): unknown {
    const [first] = places;
    switch (kind) {
      case 'Date':
      case 'BigInt':
      case 'URL':
      case 'RegExp':
        return typeof first === 'string' ? first : null;
      case 'Set':
        return places.map((place) => this.at(place, depth));
      case 'Map':
      case 'null': {
        const object: Record<string, unknown> = Object.create(null);
        for (let index = 0; index + 1 < places.length; index += 2) {
          const key = kind === 'Map' ? this.at(places[index], depth) : places[index];
          object[String(key)] = this.at(places[index + 1], depth);
        }
        return object;
      }
      default:
        // Reactive, Ref, ShallowReactive …: a wrapper around one value.
        return this.at(first, depth);
    }
  }
}

export type StateObject = Readonly<Record<string, unknown>>;

export interface StateMatch {
  readonly object: StateObject;
  /** The state it was found in. */
  readonly name: string;
  readonly score: number;
}

/** Limits of a search through all states of a page: objects visited, and depth. */
const MOST_OBJECTS = 100_000;
const MOST_SEARCH_DEPTH = 40;

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
      if (entry.depth >= MOST_SEARCH_DEPTH) continue;
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

/** That value as text: strings and numbers, or the name, title or value of an object. */
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
