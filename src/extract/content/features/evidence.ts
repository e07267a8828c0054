import { LIMITS } from '../../html/limits.ts';
import { hashName, TAG } from '../../html/names.ts';
import { collapse } from '../../html/page-text.ts';
import { parseJsonLd } from '../../structured/json-ld.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { type Block, type Blocks, findBlocks } from './blocks.ts';
import { type ElementFlags, flagElements } from './element-flags.ts';
import { measureShape, type PageShape } from './page-shape.ts';

/** All inputs of the features of a page. */
export interface ContentEvidence {
  readonly tree: PageTree;
  readonly url: string;
  readonly blocks: readonly Block[];
  readonly elements: ElementFlags;
  readonly shape: PageShape;
  readonly signals: PageSignals;
}

const NAME = hashName('name');
const PROPERTY = hashName('property');
const ITEM_PROPERTY = hashName('itemprop');
const CONTENT = hashName('content');
const TYPE = hashName('type');
const LANG = hashName('lang');
const XML_LANG = hashName('xml:lang');
const MOST_OBJECTS = 2_000;

/** Collects the inputs of the features, for extraction and training alike. */
export function gatherEvidence(tree: PageTree, url: string): { evidence: ContentEvidence; blocks: Blocks } {
  const blocks = findBlocks(tree);
  const elements = flagElements(tree);
  const shape = measureShape(tree, blocks, elements);
  const signals = readSignals(tree);
  return { evidence: { tree, url, blocks: blocks.list, elements, shape, signals }, blocks };
}

/** What a page states about itself outside its text. */
export interface PageSignals {
  readonly title: string | null;
  readonly language: string | null;
  /** By name or property in lower case; the first one counts. */
  readonly meta: ReadonlyMap<string, string>;
  /** Every object of JSON-LD that has a type, outer ones first. */
  readonly objects: readonly TypedObject[];
}

export interface TypedObject {
  readonly types: readonly string[];
  readonly value: Readonly<Record<string, unknown>>;
}

function readSignals(tree: PageTree): PageSignals {
  const meta = new Map<string, string>();
  const objects: TypedObject[] = [];
  let title: string | null = null;
  let language: string | null = null;
  let blocks = 0;
  const { tags } = tree;
  for (let node = 1; node < tree.count; node++) {
    const tag = tags[node] as number;
    if (tag === TAG.meta) readMeta(tree, node, meta);
    else if (tag === TAG.html) language = tree.attribute(node, LANG) ?? tree.attribute(node, XML_LANG);
    else if (tag === TAG.title && title === null && !isInSvg(tree, node)) {
      title = collapse(tree.textOf(node, LIMITS.titleChars * 8), LIMITS.titleChars);
    } else if (tag === TAG.script && blocks < LIMITS.jsonLdBlocks && isJsonLd(tree.attribute(node, TYPE))) {
      blocks++;
      const child = tree.firstChild(node);
      if (child >= 0) collectObjects(parseJsonLd(tree.text(child)), objects);
    }
  }
  return { title: title === '' ? null : title, language: language?.trim() || null, meta, objects };
}

function isInSvg(tree: PageTree, node: number): boolean {
  return tree.tags[tree.parents[node] as number] === TAG.svg;
}

function isJsonLd(type: string | null): boolean {
  return type?.trim().toLowerCase().startsWith('application/ld+json') ?? false;
}

function readMeta(tree: PageTree, node: number, meta: Map<string, string>): void {
  if (meta.size >= LIMITS.metaTags) return;
  const name =
    tree.attribute(node, PROPERTY) ?? tree.attribute(node, NAME) ?? tree.attribute(node, ITEM_PROPERTY);
  const content = tree.attribute(node, CONTENT);
  if (name === null || content === null) return;
  const key = name.trim().toLowerCase();
  const value = collapse(content, LIMITS.metaChars);
  if (key !== '' && value !== '' && !meta.has(key)) meta.set(key, value);
}

/** Breadth first, so that the objects a block is about come before those inside them. */
function collectObjects(root: unknown, objects: TypedObject[]): void {
  const queue: unknown[] = [root];
  for (let at = 0; at < queue.length && at < MOST_OBJECTS; at++) {
    const value = queue[at];
    if (value === null || typeof value !== 'object') continue;
    if (Array.isArray(value)) {
      queue.push(...value.slice(0, MOST_OBJECTS));
      continue;
    }
    const object = value as Readonly<Record<string, unknown>>;
    const types = typesOf(object['@type']);
    if (types.length > 0 && objects.length < MOST_OBJECTS) objects.push({ types, value: object });
    for (const child of Object.values(object))
      if (child !== null && typeof child === 'object') queue.push(child);
  }
}

function typesOf(type: unknown): string[] {
  const list: unknown[] = Array.isArray(type) ? type : [type];
  return list
    .filter((name) => typeof name === 'string')
    .map((name) => name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf(':')) + 1).toLowerCase());
}
