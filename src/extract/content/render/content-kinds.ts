import { BLOCK, hashName, TAG, TAG_FLAGS, type TagName } from '../../html/names.ts';

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
