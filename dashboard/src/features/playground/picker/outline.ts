import type { SelectorStep } from './selectors.ts';

/** An element of a stored page, as text. Nothing of the site's own elements enters the document of the dashboard. */
export interface OutlineEntry {
  readonly key: number;
  readonly depth: number;
  readonly tag: string;
  /** `span.price`, for people to read. */
  readonly name: string;
  /** The visible text of the element, cut. */
  readonly text: string;
  /** Attributes whose value a rule may take. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Whether it has text of its own, or a value such as a picture or a link. */
  readonly hasValue: boolean;
}

export interface Outline {
  readonly entries: readonly OutlineEntry[];
  /** The page has more elements than are listed. */
  readonly isCut: boolean;
  /** What an element holds, in order: texts, and the keys of elements that are listed. */
  childrenOf(key: number): readonly (string | number)[];
  /** The element around another one; null for the outermost. */
  parentOf(key: number): OutlineEntry | null;
  /** The element with its ancestors, for selectors. */
  stepsOf(key: number): readonly SelectorStep[];
  /** How many elements of the page match; 0 for a selector that the browser does not read. */
  countOf(selector: string): number;
}

const MOST_ENTRIES = 20_000;
const TEXT_LENGTH = 160;
/** Ancestors that selectors look at: pages of hostile sites nest thousands. */
const MOST_STEPS = 60;
const HIDDEN = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'svg',
  'base',
  'iframe',
  'object',
  'embed',
]);
const VALUE_ATTRIBUTES = /^(?:href|src|srcset|content|datetime|value|alt|title|id|itemprop|data-[\w-]+)$/;
const VALUE_TAGS = new Set(['img', 'meta', 'time', 'input', 'source', 'video', 'audio', 'link']);

const cut = (text: string, length = TEXT_LENGTH): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
};

/** The parser of a browser looks at all open elements for each new one: 50,000 open ones took 19 seconds. */
const MOST_OPEN = 1_000;
/** Elements that are never open, or that others close. */
const NOT_COUNTED = new Set(
  'area base br col embed hr img input link meta source track wbr p li dt dd tr td th thead tbody tfoot option'.split(
    ' ',
  ),
);

/** The beginning of a page, up to where more elements are open than any honest page has. */
export function shallowPart(html: string): string {
  let open = 0;
  for (const { 1: end, 2: name = '', index } of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    if (NOT_COUNTED.has(name.toLowerCase())) continue;
    open = Math.max(0, open + (end === '' ? 1 : -1));
    if (open > MOST_OPEN) return html.slice(0, index);
  }
  return html;
}

const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^"'>])*/gi;
const QUOTED_OR_STYLE = /"[^"]*"|'[^']*'|(?<![\w-])style(?=\s*=)/gi;

/** Style attributes under another name: the page's policy refuses each of them in the parser's document too, with an error. */
export const withoutStyles = (html: string): string =>
  html.replace(TAG, (tag) => tag.replace(QUOTED_OR_STYLE, (part) => (/^["']/.test(part) ? part : 'x-style')));

/** Reads HTML into an outline. The parser makes an inert document: no script runs, nothing is loaded. */
export function outlineOf(html: string): Outline {
  const part = shallowPart(html);
  const page = new DOMParser().parseFromString(withoutStyles(part), 'text/html');
  const elements: Element[] = [];
  const keys = new Map<Node, number>();
  const entries: OutlineEntry[] = [];
  let isCut = part !== html;
  const waiting: { readonly element: Element; readonly depth: number }[] = [
    { element: page.documentElement, depth: 0 },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (entries.length >= MOST_ENTRIES) {
      isCut = true;
      break;
    }
    const { element, depth } = next;
    entries.push(entryOf(element, elements.length, depth));
    keys.set(element, elements.length);
    elements.push(element);
    for (let child = element.lastElementChild; child !== null; child = child.previousElementSibling) {
      if (!HIDDEN.has(child.localName)) waiting.push({ element: child, depth: depth + 1 });
    }
  }
  return {
    entries,
    isCut,
    childrenOf(key) {
      return [...(elements[key]?.childNodes ?? [])].flatMap((node): readonly (string | number)[] => {
        if (node.nodeType === 3) return [(node.nodeValue ?? '').replace(/\s+/g, ' ')];
        const child = keys.get(node);
        return child === undefined ? [] : [child];
      });
    },
    parentOf(key) {
      const parent = elements[key]?.parentElement ?? null;
      return parent === null ? null : (entries[keys.get(parent) ?? -1] ?? null);
    },
    stepsOf(key) {
      const steps: SelectorStep[] = [];
      for (let each: Element | null = elements[key] ?? null; each !== null; each = each.parentElement) {
        if (steps.length < MOST_STEPS) steps.push(stepOf(each));
      }
      return steps;
    },
    countOf(selector) {
      try {
        return page.querySelectorAll(selector).length;
      } catch {
        return 0;
      }
    },
  };
}

function entryOf(element: Element, key: number, depth: number): OutlineEntry {
  const tag = element.localName;
  const classes = [...element.classList].slice(0, 3).map((name) => `.${name}`);
  const own = [...element.childNodes].some(
    (node) => node.nodeType === 3 && (node.nodeValue ?? '').trim() !== '',
  );
  const attributes = [...element.attributes]
    .filter(({ name, value }) => VALUE_ATTRIBUTES.test(name) && value !== '')
    .slice(0, 12)
    .map(({ name, value }) => [name, cut(value)] as const);
  return {
    key,
    depth,
    tag,
    name: cut(`${tag}${element.id === '' ? '' : `#${element.id}`}${classes.join('')}`, 60),
    // The text of a large element is that of all below it: its beginning is enough, and quickly found.
    text: cut(leadingText(element)),
    attributes,
    hasValue: own || VALUE_TAGS.has(tag),
  };
}

/** The first characters of an element's text, without those of scripts and styles. */
function leadingText(element: Element): string {
  const walker = element.ownerDocument.createTreeWalker(
    element,
    NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
    (node) =>
      node.nodeType === 1 && HIDDEN.has((node as Element).localName)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
  );
  let text = '';
  for (let steps = 0; steps < 60 && text.length < TEXT_LENGTH; steps++) {
    const node = walker.nextNode();
    if (node === null) break;
    if (node.nodeType === 3) text += `${node.nodeValue?.slice(0, TEXT_LENGTH * 2).trim() ?? ''} `;
  }
  return text;
}

function stepOf(element: Element): SelectorStep {
  const same = [...(element.parentElement?.children ?? [element])].filter(
    ({ localName }) => localName === element.localName,
  );
  return {
    tag: element.localName,
    id: element.id,
    classes: [...element.classList],
    attributes: Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
    place: same.indexOf(element) + 1,
    siblings: same.length,
  };
}
