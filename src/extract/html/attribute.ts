import { NameTable } from './name-table.ts';

/** The attributes extraction asks for. At most 32, so that the ones seen on a tag fit into one bit mask. */
const NAMES = [
  'href',
  'src',
  'srcset',
  'rel',
  'content',
  'name',
  'property',
  'http-equiv',
  'lang',
  'hreflang',
  'type',
  'title',
  'alt',
  'itemscope',
  'itemprop',
  'itemtype',
  'itemid',
  'typeof',
  'vocab',
  'resource',
  'about',
  'datetime',
  'value',
  'data',
  'action',
  'method',
  'xlink:href',
  'shadowrootmode',
  'data-src',
  'data-srcset',
  'xml:lang',
  'prefix',
] as const;

export type AttributeName = (typeof NAMES)[number];
export const ATTRIBUTE_COUNT = NAMES.length;
export const attributeTable = new NameTable(NAMES);

export const ATTR = Object.fromEntries(NAMES.map((name, id) => [name, id])) as Readonly<
  Record<AttributeName, number>
>;

function maskOf(...names: readonly AttributeName[]): number {
  return names.reduce((mask, name) => mask | (1 << ATTR[name]), 0);
}
export const MICRODATA_MASK = maskOf('itemscope', 'itemprop');
/** RDFa attributes that start a new item. */
export const RDFA_THING_MASK = maskOf('typeof', 'resource', 'about');
export const RDFA_MASK = maskOf('typeof', 'property', 'vocab', 'prefix', 'resource', 'about');
