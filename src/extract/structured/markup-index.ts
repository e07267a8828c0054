import { LIMITS } from '../html/limits.ts';
import { BaseUrl } from '../html/links.ts';
import { hashName, TAG } from '../html/names.ts';
import { cut } from '../html/page-text.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { isInertTemplate } from './element-text.ts';

const ITEMSCOPE = hashName('itemscope');
const ITEMPROP = hashName('itemprop');
const ID = hashName('id');
const TYPEOF = hashName('typeof');
const PROPERTY = hashName('property');
const VOCAB = hashName('vocab');
const RESOURCE = hashName('resource');
const PREFIX = hashName('prefix');
const ABOUT = hashName('about');
const REL = hashName('rel');
const HREF = hashName('href');
const RDFA = [TYPEOF, PROPERTY, VOCAB, RESOURCE, PREFIX, ABOUT];

const MOST_ELEMENTS = 100_000;

/** The elements of a page that carry structured data, each list in document order. */
export interface MarkupIndex {
  readonly tree: PageTree;
  /** The base of relative URLs. */
  readonly base: BaseUrl;
  readonly page: BaseUrl;
  readonly metas: readonly number[];
  /** `link` elements, and anchors with a relation. */
  readonly links: readonly number[];
  readonly scripts: readonly number[];
  readonly microdata: readonly number[];
  readonly rdfa: readonly number[];
  /** The first element with an id counts. */
  readonly ids: ReadonlyMap<string, number>;
  readonly isTruncated: boolean;
}

const NAMES = [
  'about',
  'content',
  'data',
  'datetime',
  'href',
  'itemid',
  'itemprop',
  'itemscope',
  'itemtype',
  'prefix',
  'property',
  'resource',
  'src',
  'typeof',
  'value',
  'vocab',
] as const;

const HASHES = Object.fromEntries(NAMES.map((name) => [name, hashName(name)])) as Readonly<
  Record<DataAttribute, number>
>;

const SRC_TAGS: ReadonlySet<number> = new Set([
  TAG.audio,
  TAG.embed,
  TAG.iframe,
  TAG.img,
  TAG.image,
  TAG.source,
  TAG.track,
  TAG.video,
]);
const HREF_TAGS: ReadonlySet<number> = new Set([TAG.a, TAG.area, TAG.link]);
const VALUE_TAGS: ReadonlySet<number> = new Set([TAG.data, TAG.meter]);

export function indexMarkup(tree: PageTree, url: string): MarkupIndex {
  const page = BaseUrl.parse(url) ?? BaseUrl.NOWHERE;
  let base: BaseUrl | null = null;
  let hasBase = false;
  const metas: number[] = [];
  const links: number[] = [];
  const scripts: number[] = [];
  const microdata: number[] = [];
  const rdfa: number[] = [];
  const ids = new Map<string, number>();
  const { tags, ends } = tree;
  for (let node = 1; node < tree.count; node++) {
    if (tree.isText(node)) continue;
    const tag = tags[node] as number;
    if (isInertTemplate(tree, node)) {
      node = (ends[node] as number) - 1;
      continue;
    }
    if (!tree.hasAttributes(node)) {
      if (tag === TAG.script) scripts.push(node);
      continue;
    }
    if (tag === TAG.meta) metas.push(node);
    else if (tag === TAG.script) scripts.push(node);
    else if (tag === TAG.link || (tag === TAG.a && tree.attribute(node, REL) !== null)) links.push(node);
    else if (tag === TAG.base && !hasBase) {
      const href = tree.attribute(node, HREF);
      hasBase = href !== null;
      base = href === null ? null : BaseUrl.parse(href, page);
    }
    if (microdata.length < MOST_ELEMENTS) {
      if (tree.attribute(node, ITEMPROP) !== null || tree.attribute(node, ITEMSCOPE) !== null)
        microdata.push(node);
    }
    if (rdfa.length < MOST_ELEMENTS && RDFA.some((name) => tree.attribute(node, name) !== null))
      rdfa.push(node);
    const id = tree.attribute(node, ID);
    if (id !== null && ids.size < MOST_ELEMENTS && id.length < LIMITS.wordsChars && !ids.has(id))
      ids.set(id, node);
  }
  const isTruncated = tree.isTruncated || microdata.length >= MOST_ELEMENTS || rdfa.length >= MOST_ELEMENTS;
  return {
    tree,
    base: base?.isWeb ? base : page,
    page,
    metas,
    links,
    scripts,
    microdata,
    rdfa,
    ids,
    isTruncated,
  };
}

/** The absolute URL; references with other schemes (`mailto:`, `#id`, `urn:` …) are returned as written. */
export function absoluteUrl(base: BaseUrl, reference: string): string {
  const written = reference.trim().slice(0, LIMITS.urlChars);
  return written === '' ? '' : (base.resolve(written) ?? written);
}

/** The attributes of microdata and RDFa. */
export type DataAttribute = (typeof NAMES)[number];

/** An element with structured data: a node of a tree, or the current start tag of the one pass. */
export interface DataElement {
  readonly tag: number;
  attribute(name: DataAttribute): string | null;
}

export class TreeElement implements DataElement {
  readonly tag: number;
  readonly #tree: PageTree;
  readonly #node: number;

  constructor(tree: PageTree, node: number) {
    this.tag = tree.tags[node] as number;
    this.#tree = tree;
    this.#node = node;
  }

  attribute(name: DataAttribute): string | null {
    return this.#tree.attribute(this.#node, HASHES[name]);
  }
}

/** The value of a microdata property that is written in an attribute; null when the text of the element is the value. */
export function attributeValue(element: DataElement, base: BaseUrl): string | null {
  const { tag } = element;
  const content = element.attribute('content');
  if (content !== null || tag === TAG.meta) return cut(content ?? '', LIMITS.itemValueChars);
  if (SRC_TAGS.has(tag)) return absoluteUrl(base, element.attribute('src') ?? '');
  if (HREF_TAGS.has(tag)) return absoluteUrl(base, element.attribute('href') ?? '');
  if (tag === TAG.object) return absoluteUrl(base, element.attribute('data') ?? '');
  if (VALUE_TAGS.has(tag)) return cut(element.attribute('value') ?? '', LIMITS.itemValueChars);
  const datetime = tag === TAG.time ? element.attribute('datetime') : null;
  return datetime === null ? null : cut(datetime, LIMITS.itemValueChars);
}
