const SLOTS = 1_024;

/** One step of the hash of a name: letters fold to lower case, so `HREF` and `href` hash alike. */
export function foldName(hash: number, code: number): number {
  return (Math.imul(hash, 131) + (code | 0x20)) | 0;
}

export function hashName(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = foldName(hash, name.charCodeAt(i));
  return hash;
}

/**
 * Finds a known name by its hash, so that the scanner never makes a string of a tag or attribute name.
 * Ids are the places in the list; -1 means unknown. An unknown name with the 32-bit hash of a known one is taken
 * for it: a page built that way only damages its own extraction.
 */
class NameTable {
  readonly #hashes = new Int32Array(SLOTS);
  readonly #ids = new Int16Array(SLOTS).fill(-1);

  constructor(names: readonly string[]) {
    for (const [id, name] of names.entries()) {
      const hash = hashName(name);
      let slot = slotOf(hash);
      while (this.#ids[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
      this.#hashes[slot] = hash;
      this.#ids[slot] = id;
    }
  }

  find(hash: number): number {
    let slot = slotOf(hash);
    for (;;) {
      const id = this.#ids[slot] as number;
      if (id === -1 || this.#hashes[slot] === hash) return id;
      slot = (slot + 1) & (SLOTS - 1);
    }
  }
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

/** Separates words: `a</p><p>b` reads as two. */
export const BLOCK = 1;
/** Has no end tag. */
export const VOID = 2;
/** Its content is not markup: scripts, titles … */
export const RAW = 4;
/** Its start ends some elements that are still open. */
export const IMPLIES_END = 8;
/** Read for links, metadata or facts. */
export const SCANNED = 16;
/** Its text is not rendered. */
export const HIDDEN = 32;
/** Switches between the parsing rules of HTML and of foreign content (SVG, MathML). */
export const BORDER = 64;
/** Set off by an empty line in text. */
export const PARAGRAPH = 128;
/** A cell of a table row. */
export const CELL = 256;
/** Says whether what it holds is content, or stands around it. */
export const LANDMARK = 512;

const P = BLOCK | IMPLIES_END;

const FLAGS = {
  a: SCANNED,
  area: SCANNED | VOID,
  base: SCANNED | VOID,
  link: SCANNED | VOID,
  meta: SCANNED | VOID,
  frame: SCANNED | VOID,
  iframe: SCANNED | RAW,
  form: SCANNED | P,
  img: SCANNED | VOID,
  image: SCANNED | VOID,
  source: SCANNED | VOID,
  input: SCANNED | VOID,
  html: SCANNED | BLOCK,
  script: SCANNED | RAW | HIDDEN,
  style: RAW | HIDDEN,
  title: SCANNED | RAW | HIDDEN | BORDER,
  textarea: RAW | HIDDEN | BLOCK,
  xmp: RAW | BLOCK | PARAGRAPH,
  noembed: RAW | HIDDEN,
  noframes: RAW | HIDDEN,
  plaintext: RAW | BLOCK,
  noscript: SCANNED | HIDDEN,
  template: SCANNED | HIDDEN,
  h1: SCANNED | P | PARAGRAPH,
  h2: SCANNED | P | PARAGRAPH,
  h3: SCANNED | P | PARAGRAPH,
  h4: SCANNED | P | PARAGRAPH,
  h5: SCANNED | P | PARAGRAPH,
  h6: SCANNED | P | PARAGRAPH,
  p: P | PARAGRAPH,
  div: P,
  section: P,
  article: P | LANDMARK,
  aside: P | LANDMARK,
  main: P | LANDMARK,
  nav: P | LANDMARK,
  header: P | LANDMARK,
  footer: P | LANDMARK,
  address: P,
  blockquote: P | PARAGRAPH,
  details: P,
  dialog: P,
  summary: P,
  dl: P | PARAGRAPH,
  dt: P,
  dd: P,
  ul: P | PARAGRAPH,
  ol: P | PARAGRAPH,
  menu: P,
  li: P,
  fieldset: P,
  legend: BLOCK,
  figure: P,
  figcaption: P,
  hgroup: P,
  search: P,
  pre: P | PARAGRAPH,
  hr: P | VOID,
  br: BLOCK | VOID,
  table: P | PARAGRAPH,
  caption: BLOCK,
  colgroup: 0,
  thead: P,
  tbody: P,
  tfoot: P,
  tr: P,
  td: P | CELL,
  th: P | CELL,
  head: BLOCK,
  body: P,
  select: BLOCK,
  option: P,
  optgroup: P,
  button: BLOCK,
  rt: IMPLIES_END,
  rp: IMPLIES_END,
  center: P,
  frameset: BLOCK,
  video: BLOCK,
  audio: BLOCK,
  canvas: BLOCK,
  object: BLOCK,
  svg: BORDER,
  math: BORDER,
  foreignobject: BORDER | BLOCK,
  desc: BORDER | HIDDEN,
  mi: BORDER,
  mo: BORDER,
  mn: BORDER,
  ms: BORDER,
  mtext: BORDER,
  'annotation-xml': BORDER,
  data: 0,
  meter: 0,
  time: 0,
  col: VOID,
  embed: VOID,
  param: VOID,
  track: VOID,
  wbr: VOID,
  basefont: VOID,
  keygen: VOID,
  command: VOID,
  isindex: VOID,
} as const;

export type TagName = keyof typeof FLAGS;
const TAG_LIST = Object.keys(FLAGS) as readonly TagName[];

/** Tag ids count from 1; 0 is every tag that is not in the list. */
export const TAG = Object.fromEntries(TAG_LIST.map((name, index) => [name, index + 1])) as Readonly<
  Record<TagName, number>
>;
export const TAG_FLAGS = Uint16Array.from([0, ...TAG_LIST.map((name) => FLAGS[name])]);
export const TAG_NAMES: readonly string[] = ['', ...TAG_LIST];
export const tagTable = new NameTable(['', ...TAG_LIST]);

const P_ENDS = set('p');
const HEADING_ENDS = set('p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6');
const ENDS: Partial<Record<TagName, Uint8Array>> = {
  h1: HEADING_ENDS,
  h2: HEADING_ENDS,
  h3: HEADING_ENDS,
  h4: HEADING_ENDS,
  h5: HEADING_ENDS,
  h6: HEADING_ENDS,
  li: set('li', 'p'),
  dt: set('dt', 'dd', 'p'),
  dd: set('dt', 'dd', 'p'),
  tr: set('tr', 'td', 'th', 'p', 'caption', 'colgroup'),
  td: set('td', 'th', 'p'),
  th: set('td', 'th', 'p'),
  thead: set('caption', 'colgroup', 'p'),
  tbody: set('thead', 'tbody', 'tr', 'td', 'th', 'caption', 'colgroup', 'p'),
  tfoot: set('thead', 'tbody', 'tr', 'td', 'th', 'p'),
  option: set('option'),
  optgroup: set('option', 'optgroup'),
  rt: set('rt', 'rp'),
  rp: set('rt', 'rp'),
  body: set('head', 'noscript'),
};
/** By tag: the open elements at the top of the stack that its start tag ends. */
export const IMPLIED_ENDS: readonly Uint8Array[] = TAG_NAMES.map((name) => ENDS[name as TagName] ?? P_ENDS);

function set(...names: readonly TagName[]): Uint8Array {
  const ends = new Uint8Array(TAG_LIST.length + 1);
  for (const name of names) ends[TAG[name]] = 1;
  return ends;
}

/** The attributes extraction asks for. At most 32, so that the ones seen on a tag fit into one bit mask. */
const ATTRIBUTE_NAMES = [
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

type AttributeName = (typeof ATTRIBUTE_NAMES)[number];
export const ATTRIBUTE_COUNT = ATTRIBUTE_NAMES.length;
export const attributeTable = new NameTable(ATTRIBUTE_NAMES);

export const ATTR = Object.fromEntries(ATTRIBUTE_NAMES.map((name, id) => [name, id])) as Readonly<
  Record<AttributeName, number>
>;

function maskOf(...names: readonly AttributeName[]): number {
  return names.reduce((mask, name) => mask | (1 << ATTR[name]), 0);
}
export const MICRODATA_MASK = maskOf('itemscope', 'itemprop');
/** RDFa attributes that start a new item. */
export const RDFA_THING_MASK = maskOf('typeof', 'resource', 'about');
export const RDFA_MASK = maskOf('typeof', 'property', 'vocab', 'prefix', 'resource', 'about');
