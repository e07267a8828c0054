import { hashName } from '../name-table.ts';
import { TAG, type TagName } from '../tag.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { hintsOf } from './hint-words.ts';

/** What an element is by its tag, its role or the way it is shown, whatever its class is called. */
export const MARK_NAMES = [
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
export type MarkName = (typeof MARK_NAMES)[number];
export const MARK = Object.fromEntries(MARK_NAMES.map((name, bit) => [name, 1 << bit])) as Readonly<
  Record<MarkName, number>
>;

const BY_TAG: Partial<Record<TagName, MarkName>> = {
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
const TAG_MARKS = new Int32Array(256);
for (const [tag, name] of Object.entries(BY_TAG)) TAG_MARKS[TAG[tag as TagName]] = MARK[name];

const ROLES: Readonly<Record<string, number>> = {
  navigation: MARK.nav,
  menu: MARK.nav,
  menubar: MARK.nav,
  banner: MARK.header,
  contentinfo: MARK.footer,
  complementary: MARK.aside,
  search: MARK.form,
  form: MARK.form,
  main: MARK.main,
  article: MARK.article,
  list: MARK.list,
  listitem: MARK.item,
  table: MARK.table,
  heading: MARK.heading,
  dialog: MARK.dialog,
  alertdialog: MARK.dialog,
  button: MARK.button,
  listbox: MARK.select,
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
const NOT_SHOWN = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** Per node of a tree: what its tag and role say (`marks`), what its names say (`hints`), and a hash of its look. */
export interface ElementMarks {
  readonly marks: Int32Array;
  readonly hints: Int32Array;
  /** Elements made by the same template have the same one. */
  readonly looks: Int32Array;
}

export function markElements(tree: PageTree): ElementMarks {
  const marks = new Int32Array(tree.count);
  const hints = new Int32Array(tree.count);
  const looks = new Int32Array(tree.count);
  const { tags } = tree;
  for (let node = 1; node < tree.count; node++) {
    const tag = tags[node] as number;
    if (tag >= 254) continue;
    let mark = TAG_MARKS[tag] as number;
    let look = tag === 0 ? (tree.hashes[node] as number) : tag;
    if (tag === TAG.a && tree.attribute(node, HREF) !== null) mark |= MARK.link;
    if (tree.hasAttributes(node)) {
      const classes = tree.attribute(node, CLASS) ?? '';
      hints[node] = hintsOf(classes) | namedHints(tree, node);
      mark |= attributeMarks(tree, node);
      look = Math.imul(look, 31) + lookOf(classes);
    }
    marks[node] = mark;
    looks[node] = look | 0;
  }
  return { marks, hints, looks };
}

const MOST_ID_CHARS = 30;
const MOST_NAME_CHARS = 200;

function namedHints(tree: PageTree, node: number): number {
  let hints = 0;
  for (const name of [ID, ITEM_PROPERTY, ITEM_TYPE, TEST_ID, ROLE, ARIA_LABEL]) {
    const value = tree.attribute(node, name);
    if (value === null || value === '') continue;
    // The id of a heading is its text, and says what it is about, not what it is.
    if (value.length <= (name === ID ? MOST_ID_CHARS : MOST_NAME_CHARS)) hints |= hintsOf(value);
  }
  return hints;
}

function attributeMarks(tree: PageTree, node: number): number {
  const role = tree.attribute(node, ROLE);
  const style = tree.attribute(node, STYLE);
  let marks = role === null ? 0 : (ROLES[role.trim().toLowerCase()] ?? 0);
  if (tree.attribute(node, HIDDEN) !== null || (style !== null && NOT_SHOWN.test(style.slice(0, 1_000)))) {
    marks |= MARK.unseen;
  }
  if (tree.attribute(node, ARIA_HIDDEN) === 'true') marks |= MARK.ariaHidden;
  if (tree.attribute(node, ARIA_MODAL) === 'true') marks |= MARK.dialog;
  return marks;
}

/** Digits are left out: `post-17` looks like `post-18`. Only the first classes count, the rest are states and sizes. */
function lookOf(classes: string): number {
  let hash = 7;
  const end = Math.min(classes.length, 60);
  for (let i = 0; i < end; i++) {
    const code = classes.charCodeAt(i);
    if (code >= 48 && code <= 57) continue;
    hash = (Math.imul(hash, 33) + code) | 0;
  }
  return hash;
}
