import { TAG, TAG_NAMES, type TagName } from '../html/names.ts';

/** By tag, 1 for those in the list. */
function flags(...names: readonly TagName[]): Uint8Array {
  const set = new Uint8Array(256);
  for (const name of names) set[TAG[name]] = 1;
  return set;
}

/** The "special" elements of the HTML standard: end tags of other elements never close them. */
export const SPECIAL = flags(
  ...(TAG_NAMES.filter(
    (name) =>
      name !== '' &&
      !['a', 'button', 'data', 'meter', 'time', 'option', 'optgroup', 'rt', 'rp', 'svg', 'math'].includes(
        name,
      ),
  ) as TagName[]),
);
/** The "scope" of the HTML standard: no end tag closes an element outside of these, except those of table parts. */
export const SCOPE = flags(
  'table',
  'td',
  'th',
  'caption',
  'html',
  'body',
  'template',
  'object',
  'foreignobject',
);
/** Tags whose end tag closes an open cell. */
export const TABLE_PART = flags('table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption', 'colgroup');
/** Elements allowed in `head`; any other start tag closes it. */
export const HEAD_CONTENT = flags(
  'base',
  'basefont',
  'link',
  'meta',
  'title',
  'style',
  'script',
  'noscript',
  'template',
  'noframes',
);
/** Start tags that close an open paragraph. */
export const ENDS_PARAGRAPH = flags(
  'address',
  'article',
  'aside',
  'blockquote',
  'center',
  'details',
  'dialog',
  'div',
  'dl',
  'dt',
  'dd',
  'fieldset',
  'figcaption',
  'figure',
  'footer',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hgroup',
  'hr',
  'li',
  'main',
  'menu',
  'nav',
  'ol',
  'p',
  'pre',
  'search',
  'section',
  'summary',
  'table',
  'ul',
  'xmp',
);

/** For a start tag: the open elements it closes, and where the search for them stops. */
export interface Implied {
  /** The innermost of these is closed, with everything inside. */
  readonly ends: Uint8Array;
  readonly stops: Uint8Array;
  /** Closes the content of the found element, not the element itself. */
  readonly isInside: boolean;
}

const LIST_STOPS = flags(
  'ul',
  'ol',
  'menu',
  'table',
  'td',
  'th',
  'section',
  'article',
  'body',
  'blockquote',
  'dl',
);
const TABLE_ONLY = flags('table');
const PARAGRAPH_STOPS = flags(
  'table',
  'td',
  'th',
  'caption',
  'button',
  'body',
  'object',
  'template',
  'foreignobject',
);
const INLINE_STOPS = flags('table', 'td', 'th', 'body', 'li', 'div', 'section', 'article', 'main');

const TERM_STOPS = flags('dl', 'ul', 'ol', 'table', 'td', 'th', 'section', 'article', 'body', 'blockquote');
const HEADING_STOPS = SPECIAL.map((isSpecial, tag) => (tag >= TAG.h1 && tag <= TAG.h6 ? 0 : isSpecial));
const RULES = rules();

/** By tag, in addition to `ENDS_PARAGRAPH`. */
export const IMPLIED: readonly (Implied | undefined)[] = TAG_NAMES.map((name) => RULES[name as TagName]);

function rules(): Partial<Record<TagName, Implied>> {
  const list: Implied = { ends: flags('li'), stops: LIST_STOPS, isInside: false };
  const terms: Implied = { ends: flags('dt', 'dd'), stops: TERM_STOPS, isInside: false };
  const cell: Implied = {
    ends: flags('tr', 'tbody', 'thead', 'tfoot', 'table'),
    stops: flags(),
    isInside: true,
  };
  const row: Implied = { ends: flags('tbody', 'thead', 'tfoot', 'table'), stops: flags(), isInside: true };
  const part: Implied = { ends: TABLE_ONLY, stops: flags(), isInside: true };
  const option: Implied = {
    ends: flags('option'),
    stops: flags('select', 'optgroup', 'body'),
    isInside: false,
  };
  const heading: Implied = {
    ends: flags('h1', 'h2', 'h3', 'h4', 'h5', 'h6'),
    stops: HEADING_STOPS,
    isInside: false,
  };
  return {
    li: list,
    dt: terms,
    dd: terms,
    td: cell,
    th: cell,
    tr: row,
    tbody: part,
    thead: part,
    tfoot: part,
    caption: part,
    colgroup: part,
    option,
    optgroup: { ends: flags('optgroup'), stops: flags('select', 'body'), isInside: false },
    h1: heading,
    h2: heading,
    h3: heading,
    h4: heading,
    h5: heading,
    h6: heading,
    a: { ends: flags('a'), stops: INLINE_STOPS, isInside: false },
    button: { ends: flags('button'), stops: INLINE_STOPS, isInside: false },
    rt: { ends: flags('rt', 'rp'), stops: SPECIAL, isInside: false },
    rp: { ends: flags('rt', 'rp'), stops: SPECIAL, isInside: false },
  };
}

/** Closes a paragraph, searched up to `PARAGRAPH_STOPS`. */
export const PARAGRAPH_END: Implied = { ends: flags('p'), stops: PARAGRAPH_STOPS, isInside: false };
