import { decodeHTML } from 'entities/decode';
import { LIMITS } from '../html/limits.ts';
import type { BaseUrl } from '../html/links.ts';
import { cut } from '../html/page-text.ts';
import { readLiteral, skipBlank } from './embedded/literal-reader.ts';
import { type DataItem, holdsUrl, ItemGraph, type ItemValue, KNOWN_PREFIXES, nameOf } from './item.ts';
import { absoluteUrl } from './markup-index.ts';

const WRAPPERS =
  /^\s*(?:\/[/*]\s*)?(?:<!--|<!\[CDATA\[)(?:\s*\*\/)?|(?:\/[/*]\s*)?(?:-->|\]\]>)(?:\s*\*\/)?\s*$/g;
const OPENS = /^[[{]/;
/** Documents written one after another in one block. */
const MAX_DOCUMENTS = 64;

interface JsonLdBlock {
  /** The documents of the block; none when it cannot be repaired, is too large or nests too deep. */
  readonly documents: readonly object[];
  /** Kinds of repairs that were needed; empty for valid JSON. */
  readonly repairs: readonly string[];
}

/** The value of a JSON-LD block; undefined when it has none. Several documents in one block are a list. */
export function parseJsonLd(source: string): unknown {
  const { documents } = readJsonLd(source);
  return documents.length > 1 ? documents : documents[0];
}

/**
 * Reads a block of JSON-LD, and repairs mistakes that have only one possible meaning: wrappers, comments, commas, raw control
 * characters, bare keys, single quotes that cannot be apostrophes, quotes inside texts, documents side by side.
 */
export function readJsonLd(source: string): JsonLdBlock {
  if (source.length > LIMITS.jsonLdChars) return { documents: [], repairs: [] };
  const valid = parse(source);
  if (valid !== undefined) return { documents: usable(valid), repairs: [] };
  const bare = source.replace(WRAPPERS, '');
  const unwrapped = parse(bare);
  if (unwrapped !== undefined) return { documents: usable(unwrapped), repairs: ['wrapper'] };
  // Scripts hold no entities, so a block without any quote but with their entities was escaped once too often.
  const isEscaped = !bare.includes('"') && bare.includes('&quot;');
  const mended = readDocuments(isEscaped ? decodeHTML(bare) : bare);
  return mended === null || !isEscaped
    ? (mended ?? { documents: [], repairs: [] })
    : withRepair(mended, 'entities');
}

function readDocuments(source: string): JsonLdBlock | null {
  const documents: object[] = [];
  const repairs = new Set<string>();
  let at = 0;
  while (documents.length < MAX_DOCUMENTS) {
    at = skipBlank(source, at, source.length);
    while (documents.length > 0 && (source[at] === ',' || source[at] === ';')) {
      at = skipBlank(source, at + 1, source.length);
    }
    if (at >= source.length) break;
    if (!OPENS.test(source.slice(at, at + 1))) return null;
    const literal = readLiteral(source, at, { dialect: 'json', depth: LIMITS.jsonLdDepth + 1 });
    if (literal === null) return null;
    documents.push(...usable(literal.value));
    for (const repair of literal.repairs) repairs.add(repair);
    at = literal.end;
  }
  if (documents.length > 1) repairs.add('several documents');
  else if (repairs.size === 0) repairs.add('wrapper');
  return documents.length === 0 ? null : { documents, repairs: [...repairs] };
}

function withRepair({ documents, repairs }: JsonLdBlock, repair: string): JsonLdBlock {
  return { documents, repairs: [repair, ...repairs] };
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

function usable(value: unknown): object[] {
  return value !== null && typeof value === 'object' && isShallow(value, LIMITS.jsonLdDepth) ? [value] : [];
}

/** JSON.parse accepts any depth, but JSON.stringify of such a value exhausts the stack. */
function isShallow(value: object, depth: number): boolean {
  if (depth === 0) return false;
  for (const child of Object.values(value) as unknown[]) {
    if (child !== null && typeof child === 'object' && !isShallow(child, depth - 1)) return false;
  }
  return true;
}

type Node = Readonly<Record<string, unknown>>;

/** The items of the JSON-LD documents of a page. An id means the same item in all of them. */
export function readJsonLdItems(
  documents: readonly object[],
  base: BaseUrl,
): { roots: readonly DataItem[]; isTruncated: boolean } {
  const graph = new ItemGraph('json-ld');
  for (const [index, document] of documents.entries()) {
    new DocumentReader(graph, base, index).read(document, NO_CONTEXT, LIMITS.jsonLdDepth);
  }
  return { roots: graph.finish(), isTruncated: graph.isTruncated };
}

class DocumentReader {
  readonly #graph: ItemGraph;
  readonly #base: BaseUrl;
  readonly #index: number;

  constructor(graph: ItemGraph, base: BaseUrl, index: number) {
    this.#graph = graph;
    this.#base = base;
    this.#index = index;
  }

  /** Reads a value at the top of a document or of a graph. */
  read(value: unknown, context: JsonLdContext, depth: number): void {
    if (depth === 0 || value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) {
      for (const part of value) this.read(part, context, depth - 1);
      return;
    }
    const node = value as Node;
    const own = '@context' in node ? withContext(context, node['@context']) : context;
    const graph = node['@graph'];
    if (graph !== undefined) this.read(graph, own, depth - 1);
    const isOnlyFrame =
      graph !== undefined && Object.keys(node).every((name) => /^@(?:context|graph|id)$/.test(name));
    if (isOnlyFrame) return;
    const item = this.#item(node, own, depth);
    if (item !== null && (item.types.length > 0 || item.properties.size > 0)) this.#graph.addRoot(item);
  }

  #item(node: Node, context: JsonLdContext, depth: number): DataItem | null {
    const entries = Object.entries(node).map(
      ([name, value]) => [meaningOf(name, context), name, value] as const,
    );
    const id = entries.find(([name, , value]) => name === '@id' && typeof value === 'string')?.[2] as
      | string
      | undefined;
    const item = this.#graph.item(id === undefined || id.trim() === '' ? null : this.#address(id, context));
    if (item === null) return null;
    for (const [name, written, value] of entries) {
      if (name === '@type') this.#addTypes(item, value, context);
      else if (name === '@reverse') this.#addReverse(item, value, context, depth);
      else if (!name.startsWith('@')) {
        const isUrl = holdsUrl(name) || context.links.has(written);
        this.#addValues(item, cut(name, LIMITS.wordsChars), value, context, isUrl, depth);
      }
    }
    return item;
  }

  #addTypes(item: DataItem, value: unknown, context: JsonLdContext): void {
    const list: unknown[] = Array.isArray(value) ? value.slice(0, 50) : [value];
    for (const type of list) {
      if (typeof type !== 'string' || type.trim() === '') continue;
      const name = meaningOf(cut(type.trim(), LIMITS.wordsChars), context);
      if (!item.types.includes(name)) item.types.push(name);
    }
  }

  #addValues(
    item: DataItem,
    name: string,
    value: unknown,
    context: JsonLdContext,
    isUrl: boolean,
    depth: number,
  ): void {
    if (depth === 0 || value === null || value === undefined) return;
    if (Array.isArray(value)) {
      for (const part of value) this.#addValues(item, name, part, context, isUrl, depth - 1);
      return;
    }
    if (typeof value !== 'object') {
      if (typeof value === 'string' && value.trim() === '') return;
      this.#graph.add(item, name, this.#scalar(value as string | number | boolean, isUrl));
      return;
    }
    const node = value as Node;
    const inner = node['@list'] ?? node['@set'] ?? node['@value'];
    if (inner !== undefined) {
      this.#addValues(item, name, inner, context, isUrl, depth - 1);
      return;
    }
    const own = '@context' in node ? withContext(context, node['@context']) : context;
    const child = this.#item(node, own, depth - 1);
    if (child !== null) this.#graph.add(item, name, child);
  }

  #addReverse(item: DataItem, value: unknown, context: JsonLdContext, depth: number): void {
    if (depth === 0 || value === null || typeof value !== 'object') return;
    for (const [name, nodes] of Object.entries(value as Node)) {
      const list: unknown[] = Array.isArray(nodes) ? nodes : [nodes];
      for (const node of list) {
        if (node === null || typeof node !== 'object' || Array.isArray(node)) continue;
        const subject = this.#item(node as Node, context, depth - 1);
        if (subject === null) continue;
        this.#graph.add(subject, meaningOf(name, context), item);
        this.#graph.addRoot(subject);
      }
    }
  }

  #scalar(value: string | number | boolean, isUrl: boolean): ItemValue {
    if (typeof value !== 'string') return value;
    return isUrl ? absoluteUrl(this.#base, value) : cut(value, LIMITS.itemValueChars);
  }

  /** Ids that begin with `_:` are only known within their document. */
  #address(id: string, context: JsonLdContext): string {
    if (id.startsWith('_:')) return `_:${this.#index}-${cut(id.slice(2), LIMITS.wordsChars)}`;
    const colon = id.indexOf(':');
    const prefix =
      colon > 0 && !id.startsWith('//', colon + 1) ? context.terms.get(id.slice(0, colon)) : undefined;
    if (prefix !== undefined && !prefix.startsWith('@'))
      return cut(prefix + id.slice(colon + 1), LIMITS.urlChars);
    if (id.startsWith('#')) return cut(`${this.#base.href.split('#', 1)[0]}${id}`, LIMITS.urlChars);
    return absoluteUrl(this.#base, id);
  }
}

const MOST_TERMS = 1_000;
const SCHEMA_CONTEXT = /^https?:\/\/(?:www\.)?schema\.org(?:\/|$)/i;

/** The meaning of names in a JSON-LD document. A nested context extends the outer one. */
interface JsonLdContext {
  /** Terms and prefixes, each with its URL or keyword. */
  readonly terms: ReadonlyMap<string, string>;
  /** Terms whose values are URLs. */
  readonly links: ReadonlySet<string>;
  /** Prefix of names that no term defines; empty for schema.org, whose names stay short. */
  readonly vocab: string;
}

/** schema.org lets documents say `type` and `id` for `@type` and `@id`. */
const NO_CONTEXT: JsonLdContext = {
  terms: new Map([
    ['type', '@type'],
    ['id', '@id'],
  ]),
  links: new Set(),
  vocab: '',
};

function withContext(outer: JsonLdContext, written: unknown): JsonLdContext {
  const parts: unknown[] = Array.isArray(written) ? written.slice(0, 20) : [written];
  return parts.reduce<JsonLdContext>(withPart, outer);
}

function withPart(outer: JsonLdContext, part: unknown): JsonLdContext {
  if (typeof part === 'string') {
    return SCHEMA_CONTEXT.test(part) ? { ...outer, vocab: '' } : outer;
  }
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return outer;
  const terms = new Map(outer.terms);
  const links = new Set(outer.links);
  let { vocab } = outer;
  for (const [term, meaning] of Object.entries(part).slice(0, MOST_TERMS)) {
    if (term === '@vocab') {
      vocab = typeof meaning === 'string' && !SCHEMA_CONTEXT.test(meaning) ? meaning : '';
    } else if (typeof meaning === 'string') {
      terms.set(term, meaning);
    } else if (meaning !== null && typeof meaning === 'object') {
      const { '@id': id, '@type': type } = meaning as Readonly<Record<string, unknown>>;
      if (typeof id === 'string') terms.set(term, id);
      if (type === '@id') links.add(term);
    }
  }
  return { terms, links, vocab };
}

/** The keyword, short name or address that a name in the document stands for. */
function meaningOf(name: string, context: JsonLdContext): string {
  if (name.startsWith('@')) return name;
  const term = context.terms.get(name);
  if (term !== undefined && term !== name)
    return term.startsWith('@') ? term : nameOf(expandPrefix(term, context));
  const expanded = expandPrefix(name, context);
  return expanded === name && !name.includes(':') ? context.vocab + name : nameOf(expanded);
}

function expandPrefix(name: string, { terms }: JsonLdContext): string {
  const colon = name.indexOf(':');
  if (colon < 1 || name.startsWith('//', colon + 1)) return name;
  const prefix = name.slice(0, colon);
  const address = terms.get(prefix) ?? KNOWN_PREFIXES.get(prefix);
  return address === undefined || address.startsWith('@') ? name : address + name.slice(colon + 1);
}
