import { hashName, TAG, type TagName } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { hintsOf } from './word-lists.ts';

/** Kinds of elements by tag, ARIA role and visibility, independent of class names. */
export const ELEMENT_FLAG_NAMES = [
  'nav',
  'header',
  'footer',
  'aside',
  'form',
  'table',
  'list',
  'terms',
  'article',
  'main',
  'section',
  'figure',
  'link',
  'quote',
  'details',
  'dialog',
  'code',
  'item',
  'cell',
  'heading',
  'paragraph',
  'noscript',
  'unseen',
  'ariaHidden',
  'button',
  'select',
  'body',
  'custom',
  'inline',
] as const;
export type ElementFlagName = (typeof ELEMENT_FLAG_NAMES)[number];
export const ELEMENT_FLAG = Object.fromEntries(
  ELEMENT_FLAG_NAMES.map((name, bit) => [name, 1 << bit]),
) as Readonly<Record<ElementFlagName, number>>;

const BY_TAG: Partial<Record<TagName, ElementFlagName>> = {
  nav: 'nav',
  menu: 'nav',
  header: 'header',
  footer: 'footer',
  aside: 'aside',
  form: 'form',
  table: 'table',
  ul: 'list',
  ol: 'list',
  dl: 'terms',
  article: 'article',
  main: 'main',
  section: 'section',
  figure: 'figure',
  blockquote: 'quote',
  details: 'details',
  dialog: 'dialog',
  pre: 'code',
  li: 'item',
  td: 'cell',
  th: 'cell',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  p: 'paragraph',
  noscript: 'noscript',
  button: 'button',
  select: 'select',
};
const TAG_FLAG_BITS = new Int32Array(256);
for (const [tag, name] of Object.entries(BY_TAG)) TAG_FLAG_BITS[TAG[tag as TagName]] = ELEMENT_FLAG[name];

const ROLES: Readonly<Record<string, number>> = {
  navigation: ELEMENT_FLAG.nav,
  menu: ELEMENT_FLAG.nav,
  menubar: ELEMENT_FLAG.nav,
  banner: ELEMENT_FLAG.header,
  contentinfo: ELEMENT_FLAG.footer,
  complementary: ELEMENT_FLAG.aside,
  search: ELEMENT_FLAG.form,
  form: ELEMENT_FLAG.form,
  main: ELEMENT_FLAG.main,
  article: ELEMENT_FLAG.article,
  list: ELEMENT_FLAG.list,
  listitem: ELEMENT_FLAG.item,
  table: ELEMENT_FLAG.table,
  heading: ELEMENT_FLAG.heading,
  dialog: ELEMENT_FLAG.dialog,
  alertdialog: ELEMENT_FLAG.dialog,
  button: ELEMENT_FLAG.button,
  listbox: ELEMENT_FLAG.select,
};

const CLASS = hashName('class');
const ID = hashName('id');
const ROLE = hashName('role');
const STYLE = hashName('style');
const HIDDEN = hashName('hidden');
const ARIA_HIDDEN = hashName('aria-hidden');
const ARIA_LABEL = hashName('aria-label');
const ARIA_MODAL = hashName('aria-modal');
const ITEM_PROPERTY = hashName('itemprop');
const ITEM_TYPE = hashName('itemtype');
const TEST_ID = hashName('data-testid');
const HREF = hashName('href');
const NOT_RENDERED = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** By node: flags of its tag and role, hints of its names, and a hash of its style. */
export interface ElementFlags {
  readonly flags: Int32Array;
  readonly hints: Int32Array;
  /** Equal for elements of the same template. */
  readonly styleHashes: Int32Array;
}

export function flagElements(tree: PageTree): ElementFlags {
  const flags = new Int32Array(tree.count);
  const hints = new Int32Array(tree.count);
  const styleHashes = new Int32Array(tree.count);
  const { tags } = tree;
  for (let node = 1; node < tree.count; node++) {
    const tag = tags[node] as number;
    if (tag >= 254) continue;
    let flag = TAG_FLAG_BITS[tag] as number;
    let styleHash = tag === 0 ? (tree.hashes[node] as number) : tag;
    if (tag === TAG.a && tree.attribute(node, HREF) !== null) flag |= ELEMENT_FLAG.link;
    if (tree.hasAttributes(node)) {
      const classes = tree.attribute(node, CLASS) ?? '';
      hints[node] = hintsOf(classes) | namedHints(tree, node);
      flag |= attributeFlags(tree, node);
      styleHash = Math.imul(styleHash, 31) + classHash(classes);
    }
    flags[node] = flag;
    styleHashes[node] = styleHash | 0;
  }
  return { flags, hints, styleHashes };
}

const MOST_ID_CHARS = 30;
const MOST_NAME_CHARS = 200;

function namedHints(tree: PageTree, node: number): number {
  let hints = 0;
  for (const name of [ID, ITEM_PROPERTY, ITEM_TYPE, TEST_ID, ROLE, ARIA_LABEL]) {
    const value = tree.attribute(node, name);
    if (value === null || value === '') continue;
    // The id of a heading repeats its text and does not describe the element.
    if (value.length <= (name === ID ? MOST_ID_CHARS : MOST_NAME_CHARS)) hints |= hintsOf(value);
  }
  return hints;
}

function attributeFlags(tree: PageTree, node: number): number {
  const role = tree.attribute(node, ROLE);
  const style = tree.attribute(node, STYLE);
  let flags = role === null ? 0 : (ROLES[role.trim().toLowerCase()] ?? 0);
  if (tree.attribute(node, HIDDEN) !== null || (style !== null && NOT_RENDERED.test(style.slice(0, 1_000)))) {
    flags |= ELEMENT_FLAG.unseen;
  }
  if (tree.attribute(node, ARIA_HIDDEN) === 'true') flags |= ELEMENT_FLAG.ariaHidden;
  if (tree.attribute(node, ARIA_MODAL) === 'true') flags |= ELEMENT_FLAG.dialog;
  return flags;
}

/** Digits are left out: `post-17` has the style of `post-18`. Only the first classes count, the rest are states and sizes. */
function classHash(classes: string): number {
  let hash = 7;
  const end = Math.min(classes.length, 60);
  for (let i = 0; i < end; i++) {
    const code = classes.charCodeAt(i);
    if (code >= 48 && code <= 57) continue;
    hash = (Math.imul(hash, 33) + code) | 0;
  }
  return hash;
}
