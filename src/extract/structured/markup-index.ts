import { BaseUrl } from '../html/base-url.ts';
import { LIMITS } from '../html/limits.ts';
import { hashName } from '../html/name-table.ts';
import { TAG } from '../html/tag.ts';
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
