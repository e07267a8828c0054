import type { BaseUrl } from '../html/base-url.ts';
import { LIMITS } from '../html/limits.ts';
import { hashName } from '../html/name-table.ts';
import { TAG } from '../html/tag.ts';
import { cut } from '../html/white-space.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { absoluteUrl } from './markup-index.ts';

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

/** The attributes of microdata and RDFa. */
export type DataAttribute = (typeof NAMES)[number];

/** An element with structured data: a node of a tree, or the current start tag of the one pass. */
export interface DataElement {
  readonly tag: number;
  attribute(name: DataAttribute): string | null;
}

const HASHES = Object.fromEntries(NAMES.map((name) => [name, hashName(name)])) as Readonly<
  Record<DataAttribute, number>
>;

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
