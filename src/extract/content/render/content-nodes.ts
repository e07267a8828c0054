import { BaseUrl, srcsetCandidates } from '../../html/links.ts';
import { BLOCK, hashName, TAG, TAG_FLAGS, type TagName } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';

/** Kinds of elements in clean content. Other elements contribute only their text. */
export const KIND = {
  /** Has no effect on the text inside. */
  inline: 0,
  /** A block without a meaning of its own. */
  box: 1,
  paragraph: 2,
  heading: 3,
  list: 4,
  item: 5,
  quote: 6,
  code: 7,
  table: 8,
  row: 9,
  cell: 10,
  figure: 11,
  caption: 12,
  rule: 13,
  break: 14,
  image: 15,
  link: 16,
  strong: 17,
  emphasis: 18,
  strike: 19,
  snippet: 20,
  raised: 21,
  lowered: 22,
  terms: 23,
  term: 24,
  meaning: 25,
  checkbox: 26,
} as const;
export type NodeKind = (typeof KIND)[keyof typeof KIND];

const BY_TAG: Partial<Record<TagName, NodeKind>> = {
  p: KIND.paragraph,
  h1: KIND.heading,
  h2: KIND.heading,
  h3: KIND.heading,
  h4: KIND.heading,
  h5: KIND.heading,
  h6: KIND.heading,
  ul: KIND.list,
  ol: KIND.list,
  menu: KIND.list,
  li: KIND.item,
  blockquote: KIND.quote,
  pre: KIND.code,
  xmp: KIND.code,
  plaintext: KIND.code,
  table: KIND.table,
  tr: KIND.row,
  td: KIND.cell,
  th: KIND.cell,
  figure: KIND.figure,
  figcaption: KIND.caption,
  caption: KIND.caption,
  hr: KIND.rule,
  br: KIND.break,
  img: KIND.image,
  image: KIND.image,
  a: KIND.link,
  dl: KIND.terms,
  dt: KIND.term,
  dd: KIND.meaning,
  input: KIND.checkbox,
};
const KINDS = new Uint8Array(256);
for (let tag = 1; tag < 256; tag++)
  KINDS[tag] = ((TAG_FLAGS[tag] ?? 0) & BLOCK) !== 0 ? KIND.box : KIND.inline;
for (const [name, kind] of Object.entries(BY_TAG)) KINDS[TAG[name as TagName]] = kind;

/** Inline elements that are not in the list of tags, by the hash of their name. */
const BY_NAME = new Map<number, NodeKind>(
  (
    [
      ['strong', KIND.strong],
      ['b', KIND.strong],
      ['em', KIND.emphasis],
      ['i', KIND.emphasis],
      ['cite', KIND.emphasis],
      ['dfn', KIND.emphasis],
      ['del', KIND.strike],
      ['s', KIND.strike],
      ['strike', KIND.strike],
      ['code', KIND.snippet],
      ['kbd', KIND.snippet],
      ['samp', KIND.snippet],
      ['tt', KIND.snippet],
      ['var', KIND.emphasis],
      ['sup', KIND.raised],
      ['sub', KIND.lowered],
    ] as const
  ).map(([name, kind]) => [hashName(name), kind]),
);

export function kindOf(tag: number, hash: number): NodeKind {
  return tag === 0 ? (BY_NAME.get(hash) ?? KIND.inline) : (KINDS[tag] as NodeKind);
}

/** True for elements that separate their text from the text around them. */
export function isBlockKind(kind: NodeKind): boolean {
  return (kind >= KIND.box && kind <= KIND.rule) || (kind >= KIND.terms && kind <= KIND.meaning);
}

const HREF = hashName('href');
const SRC = hashName('src');
const LAZY = ['data-src', 'data-original', 'data-lazy-src', 'data-srcset', 'srcset'].map((name) => ({
  hash: hashName(name),
  isSet: name.endsWith('srcset'),
}));
const TITLE = hashName('title');
const ALT = hashName('alt');
const MOST_ALT_CHARS = 500;

/** The base of relative URLs: the URL of the page, or its `base` element. */
export function baseOf(tree: PageTree, url: string): BaseUrl {
  const page = BaseUrl.parse(url) ?? BaseUrl.NOWHERE;
  for (let node = 1; node < tree.count; node++) {
    const tag = tree.tags[node];
    if (tag === TAG.body) break;
    if (tag !== TAG.base) continue;
    const href = tree.attribute(node, HREF);
    if (href === null) continue;
    const base = BaseUrl.parse(href, page);
    return base?.isWeb ? base : page;
  }
  return page;
}

/** Addresses to write to or to call, which are content as well. */
const CONTACT = /^[\0-\x20]*(?:mailto|tel):/i;
const MOST_CONTACT_CHARS = 500;

/** The target of a link; null for scripts and fragments of the same page. */
export function linkOf(tree: PageTree, node: number, base: BaseUrl): string | null {
  const href = tree.attribute(node, HREF);
  if (href === null) return null;
  return CONTACT.test(href) ? contactOf(href) : base.resolve(href);
}

/** Returns null for a link that names no address, as buttons to share a page do, or that holds a whole letter. */
function contactOf(href: string): string | null {
  const { protocol, pathname, search } = URL.parse(href) ?? {};
  if (protocol === undefined || pathname === undefined || pathname === '') return null;
  const address = `${protocol}${pathname}${search ?? ''}`;
  return address.length > MOST_CONTACT_CHARS ? null : address;
}

/** The URL of an image; lazy loaders keep the real one in other attributes and a placeholder in `src`. */
export function imageOf(tree: PageTree, node: number, base: BaseUrl): string | null {
  for (const { hash, isSet } of LAZY.slice(0, 4)) {
    const found = addressIn(tree.attribute(node, hash), isSet, base);
    if (found !== null) return found;
  }
  const source = tree.attribute(node, SRC);
  return addressIn(source, false, base) ?? addressIn(tree.attribute(node, LAZY[4]?.hash ?? 0), true, base);
}

function addressIn(value: string | null, isSet: boolean, base: BaseUrl): string | null {
  if (value === null || value === '') return null;
  const written = isSet ? (srcsetCandidates(value).at(-1)?.url ?? '') : value;
  return written === '' ? null : base.resolve(written);
}

export function altOf(tree: PageTree, node: number): string {
  const alt = tree.attribute(node, ALT) ?? tree.attribute(node, TITLE) ?? '';
  return alt.slice(0, MOST_ALT_CHARS).replace(/\s+/g, ' ').trim();
}

const CLASS = hashName('class');
const DATA = ['data-lang', 'data-language', 'lang', 'data-code-language'].map(hashName);
const CODE = hashName('code');
const IN_CLASS =
  /(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|code|sourceCode)[-:\s]\s*([a-z][a-z0-9+#.-]{0,19})(?=[\s;]|$)/i;
const NAME = /^[a-z][a-z0-9+#.-]{0,19}$/i;
const NOT_NAMES = new Set([
  'default',
  'none',
  'text',
  'plain',
  'plaintext',
  'notranslate',
  'block',
  'en',
  'wrapper',
  'copy',
  'toolbar',
  'example',
  'container',
  'snippet',
  'content',
  'nohighlight',
  'box',
]);

/** The programming language of a `pre`, by the classes in and around it; empty without one. */
export function codeLanguage(tree: PageTree, node: number): string {
  const places = [node, tree.parents[node] as number];
  const end = Math.min(tree.ends[node] as number, node + 4);
  for (let at = node + 1; at < end; at++)
    if (tree.hashes[at] === CODE && !tree.isText(at)) places.unshift(at);
  places.push(tree.parents[tree.parents[node] as number] ?? -1);
  for (const place of places) {
    if (place <= 0) continue;
    for (const name of DATA) {
      const value = tree.attribute(place, name)?.trim() ?? '';
      if (NAME.test(value) && !NOT_NAMES.has(value.toLowerCase())) return value.toLowerCase();
    }
    const found = IN_CLASS.exec((tree.attribute(place, CLASS) ?? '').slice(0, 300))?.[1]?.toLowerCase();
    if (found !== undefined && !NOT_NAMES.has(found)) return found;
  }
  return '';
}
