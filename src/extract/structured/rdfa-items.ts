import type { BaseUrl } from '../base-url.ts';
import { LIMITS } from '../limits.ts';
import { hashName } from '../name-table.ts';
import { TAG } from '../tag.ts';
import { cut, words } from '../white-space.ts';
import { elementText } from './element-text.ts';
import { type DataItem, ItemGraph, type ItemValue, isItem } from './item.ts';
import { absolute, type PageMarks } from './page-marks.ts';
import { KNOWN_PREFIXES, nameOf } from './vocabulary.ts';

const VOCAB = hashName('vocab');
const PREFIX = hashName('prefix');
const TYPEOF = hashName('typeof');
const PROPERTY = hashName('property');
const RESOURCE = hashName('resource');
const ABOUT = hashName('about');
const CONTENT = hashName('content');
const HREF = hashName('href');
const SRC = hashName('src');
const DATETIME = hashName('datetime');
const VALUE = hashName('value');
const MOST_PREFIXES = 200;

/** What holds within an element: for names without a prefix, for those with one, and whom properties describe. */
interface Scope {
  readonly end: number;
  readonly vocab: string;
  readonly prefixes: ReadonlyMap<string, string>;
  readonly subject: DataItem | null;
}

/**
 * The things of a page's RDFa Lite, with `about` and `content` besides. Properties outside of any thing (Open Graph tags
 * are such) are left to others, and an address on an element without a property does not change whom the ones inside describe.
 */
export function readRdfaItems(marks: PageMarks): { roots: readonly DataItem[]; isTruncated: boolean } {
  const reader = new RdfaReader(marks);
  for (const node of marks.rdfa) reader.read(node);
  const items = reader.finish();
  return { roots: items, isTruncated: reader.graph.isTruncated };
}

class RdfaReader {
  readonly graph = new ItemGraph('rdfa');
  readonly #marks: PageMarks;
  readonly #scopes: Scope[];

  constructor(marks: PageMarks) {
    this.#marks = marks;
    this.#scopes = [{ end: marks.tree.count, vocab: '', prefixes: KNOWN_PREFIXES, subject: null }];
  }

  read(node: number): void {
    const { tree, base } = this.#marks;
    let outer = this.#scopes.at(-1) as Scope;
    while (node >= outer.end && this.#scopes.length > 1) {
      this.#scopes.pop();
      outer = this.#scopes.at(-1) as Scope;
    }
    const vocab = tree.attribute(node, VOCAB)?.trim() ?? outer.vocab;
    const prefixes = withPrefixes(outer.prefixes, tree.attribute(node, PREFIX));
    const scope = { vocab, prefixes };
    const about = tree.attribute(node, ABOUT);
    const properties = words(tree.attribute(node, PROPERTY)).map((name) => expand(name, scope));
    const types = words(tree.attribute(node, TYPEOF)).map((name) => expand(name, scope));
    const described = about === null ? outer.subject : this.graph.item(idOf(base, about, scope));
    let subject = described;
    if (types.length > 0) {
      const target = about ?? this.#target(node);
      const item = this.graph.item(target === null ? null : idOf(base, target, scope));
      if (item !== null) {
        for (const type of types) if (!item.types.includes(type)) item.types.push(type);
        const owner = about === null ? outer.subject : null;
        if (owner !== null && properties.length > 0) this.#add(owner, properties, item);
        else this.graph.addRoot(item);
        subject = item;
      }
    } else if (properties.length > 0) {
      if (described !== null) this.#add(described, properties, this.#value(node, scope));
    } else {
      const resource = tree.attribute(node, RESOURCE);
      if (resource !== null) subject = this.graph.item(idOf(base, resource, scope));
    }
    if (subject !== null && subject !== outer.subject && types.length === 0) this.graph.addRoot(subject);
    if (this.#scopes.length < LIMITS.depth)
      this.#scopes.push({ ...scope, end: tree.ends[node] as number, subject });
  }

  /** Things that others hold as a value are no roots, and an element with a type and nothing in it says nothing. */
  finish(): readonly DataItem[] {
    const roots = this.graph.finish();
    const held = new Set<ItemValue>();
    for (const root of roots) {
      for (const values of root.properties.values()) {
        for (const value of values) if (isItem(value) && value !== root) held.add(value);
      }
    }
    const free = roots.filter((root) => !held.has(root));
    return (free.length > 0 ? free : roots).filter(({ properties }) => properties.size > 0);
  }

  #add(owner: DataItem, names: readonly string[], value: ItemValue): void {
    for (const name of names) this.graph.add(owner, cut(name, LIMITS.wordsChars), value);
  }

  /** The address an element leads to. */
  #target(node: number): string | null {
    const { tree } = this.#marks;
    return tree.attribute(node, RESOURCE) ?? tree.attribute(node, HREF) ?? tree.attribute(node, SRC);
  }

  #value(node: number, scope: Pick<Scope, 'prefixes'>): ItemValue {
    const { tree, base } = this.#marks;
    const content = tree.attribute(node, CONTENT);
    if (content !== null) return cut(content, LIMITS.itemValueChars);
    const target = this.#target(node);
    if (target !== null) {
      const id = idOf(base, target, scope);
      return (id === null ? null : this.graph.item(id)) ?? absolute(base, target);
    }
    const tag = tree.tags[node] as number;
    const written =
      tag === TAG.time
        ? tree.attribute(node, DATETIME)
        : tag === TAG.data
          ? tree.attribute(node, VALUE)
          : null;
    return written ?? elementText(tree, node, LIMITS.itemValueChars);
  }
}

function withPrefixes(
  outer: ReadonlyMap<string, string>,
  written: string | null,
): ReadonlyMap<string, string> {
  if (written === null) return outer;
  const own = new Map(outer);
  const parts = written.trim().split(/\s+/);
  for (let at = 0; at + 1 < parts.length && own.size < MOST_PREFIXES; at += 2) {
    const [prefix, address] = [parts[at] as string, parts[at + 1] as string];
    if (prefix.endsWith(':')) own.set(prefix.slice(0, -1).toLowerCase(), address);
  }
  return own;
}

function expand(name: string, { vocab, prefixes }: Pick<Scope, 'vocab' | 'prefixes'>): string {
  const colon = name.indexOf(':');
  if (colon < 0) return nameOf(vocab + name);
  const address = prefixes.get(name.slice(0, colon).toLowerCase());
  return nameOf(
    address === undefined || name.startsWith('//', colon + 1) ? name : address + name.slice(colon + 1),
  );
}

/** The id an address gives: absolute, also for a place within the page; null for an empty one. */
function idOf(base: BaseUrl, written: string, { prefixes }: Pick<Scope, 'prefixes'>): string | null {
  const reference = written.trim();
  if (reference === '') return null;
  if (reference.startsWith('#')) return cut(`${base.href.split('#', 1)[0]}${reference}`, LIMITS.urlChars);
  if (reference.startsWith('[') && reference.endsWith(']'))
    return expand(reference.slice(1, -1), { vocab: '', prefixes });
  return absolute(base, reference);
}
