import type { BaseUrl } from '../base-url.ts';
import { LIMITS } from '../limits.ts';
import { cut } from '../white-space.ts';
import { type DataItem, ItemGraph, type ItemValue } from './item.ts';
import { type JsonLdContext, meaningOf, NO_CONTEXT, withContext } from './json-ld-context.ts';
import { absolute } from './page-marks.ts';
import { holdsUrl } from './vocabulary.ts';

type Node = Readonly<Record<string, unknown>>;

/** The things that the JSON-LD documents of a page describe. An id names one thing in all of them. */
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

  /** Reads what stands at the top of a document or of a graph. */
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
    return isUrl ? absolute(this.#base, value) : cut(value, LIMITS.itemValueChars);
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
    return absolute(this.#base, id);
  }
}
