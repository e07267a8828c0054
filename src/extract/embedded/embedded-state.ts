import { hashName } from '../name-table.ts';
import { TAG } from '../tag.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { cut } from '../white-space.ts';
import { readFlatList } from './devalue.ts';
import { LITERAL_LIMITS } from './literal-limits.ts';
import { flightChunk, readFlight } from './next-flight.ts';
import { readScriptState } from './script-state.ts';

/** Data that a page carries for its own scripts. */
export interface EmbeddedState {
  /** What the page calls it: the id of a script, the name of a variable or of an attribute; `json` without a name. */
  readonly name: string;
  /** As from JSON: no circles, no functions. Objects may have no prototype. */
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

/** Nuxt 3 writes a flat list; the rest is what it looks like. */
function unpacked(name: string, value: unknown): unknown {
  if (name !== '__NUXT_DATA__' && !name.startsWith('nuxt')) return value;
  return readFlatList(value) ?? value;
}

/** Discourse puts JSON into the texts of JSON. */
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
