import { decodeHTMLAttribute } from 'entities/decode';
import { TAG } from '../../extract/html/names.ts';
import { HtmlScanner, type ScanHandler } from '../../extract/html/scanner.ts';

/** Longer pages are cut: the main thread writes them. */
const MOST_CHARS = 1_000_000;

/** More open elements than honest pages have; browsers fail in the layout of some ten thousand. */
const MOST_OPEN = 256;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Elements without an end, and those of which a page has one, whatever it says. */
const NEVER_OPEN = words('br col hr html body img input wbr');
/** Their content is no markup: without the tag it would stand in the page as text. */
const RAW = words('style textarea');
/** Blocks end a paragraph that is open. */
const ENDS_PARAGRAPH = words(`
  address article aside blockquote center details dir div dl fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 header
  hgroup hr main menu nav ol p pre search section summary table ul
`);

/** Elements that the next of their kind ends, up to the element that holds them. */
const ENDED_BY: Readonly<
  Record<string, { readonly ends: ReadonlySet<string>; readonly within: ReadonlySet<string> }>
> = {
  li: { ends: words('li'), within: words('ul ol menu dir') },
  dt: { ends: words('dt dd'), within: words('dl') },
  dd: { ends: words('dt dd'), within: words('dl') },
  td: { ends: words('td th'), within: words('tr table') },
  th: { ends: words('td th'), within: words('tr table') },
  tr: { ends: words('tr'), within: words('table') },
  tbody: { ends: words('tbody thead tfoot'), within: words('table') },
  thead: { ends: words('tbody thead tfoot'), within: words('table') },
  tfoot: { ends: words('tbody thead tfoot'), within: words('table') },
  option: { ends: words('option'), within: words('select') },
  optgroup: { ends: words('optgroup'), within: words('select') },
};

/** Elements that only show something. Every other tag is left out; what stands inside it stays. */
const SHOWN = words(`
  a abbr address article aside b bdi bdo big blockquote body br button caption center cite code col colgroup data dd del
  details dfn dir div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr html i img input
  ins kbd label legend li main mark menu meter nav ol optgroup option output p picture pre progress q rp rt ruby s samp
  search section select small span strike strong style sub summary sup table tbody td template textarea tfoot th thead
  time tr tt u ul var wbr
`);
/** Form controls, which do nothing in the preview. */
const CONTROLS = words('button fieldset input optgroup option select textarea');
const ATTRIBUTES = words(`
  align alt bgcolor border cellpadding cellspacing checked class color cols colspan datetime dir face headers height hidden
  high id label lang low max min multiple nowrap open optimum placeholder reversed role rows rowspan scope selected size
  span start style title type valign value width
`);
const ARIA = /^aria-[a-z]+$/;
/** Inline pictures, and no SVG, which is a document of its own. */
const INLINE_PICTURE = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)[;,]/i;
/** Their content is text; that of all other raw elements (scripts, frames …) is left out. */
const PLAIN_TEXT: ReadonlySet<number> = new Set([0, TAG.textarea, TAG.xmp, TAG.plaintext]);

const START = `<!doctype html><meta charset="utf-8"><style>a[title]{text-decoration:underline;cursor:help}</style>\n`;

/**
 * A page that shows what a stored one said, and can do nothing: no scripts, forms, frames, embedded documents, SVG,
 * redirects, bases or handlers, and no address in it that a browser would ask for or go to. Links tell where they lead
 * in their title. Elements are closed in order and nested to a bound. It is written anew from the tokens of the page and has only names of the lists above, so that no
 * markup of the page, however broken, becomes something else in it.
 */
export function inertPage(html: string): string {
  const writer = new InertWriter(html.slice(0, MOST_CHARS));
  return `${START}${writer.write()}`;
}

class InertWriter implements ScanHandler {
  /** Elements of SVG are left out like all unknown ones, so the page has HTML alone. */
  readonly isForeign = false;
  readonly #html: string;
  readonly #scanner = new HtmlScanner();
  readonly #nesting = new InertNesting();
  readonly #parts: string[] = [];

  constructor(html: string) {
    this.#html = html;
  }

  write(): string {
    this.#scanner.scan(this.#html, this);
    return this.#parts.join('');
  }

  text(start: number, end: number): void {
    this.#parts.push(withoutTags(this.#html.slice(start, end)));
  }

  rawText(tag: number, start: number, end: number): void {
    const text = this.#html.slice(start, end);
    if (tag === TAG.style) this.#parts.push(inertStyle(text));
    else if (PLAIN_TEXT.has(tag)) this.#parts.push(withoutTags(text));
  }

  open(): void {
    const name = this.#name();
    if (name === null) return;
    this.#parts.push(this.#nesting.endsBefore(name));
    if (this.#nesting.begin(name)) this.#parts.push(`<${name}${this.#attributes(name)}>`);
  }

  close(): void {
    const name = this.#name();
    if (name !== null) this.#parts.push(this.#nesting.end(name));
  }

  /** Returns the name of the current tag as it is written to the preview; null when the tag is left out. */
  #name(): string | null {
    const { nameStart, nameEnd } = this.#scanner;
    const name = this.#html.slice(nameStart, nameEnd).toLowerCase();
    // A page with scripts has shown nothing of it.
    if (name === 'noscript') return 'template';
    if (name === 'xmp' || name === 'plaintext') return 'pre';
    return SHOWN.has(name) ? name : null;
  }

  #attributes(tag: string): string {
    const { ranges, attributeCount } = this.#scanner;
    const written = new Map<string, string>();
    let target: string | null = null;
    for (let slot = 0; slot < attributeCount * 4; slot += 4) {
      const name = this.#html.slice(ranges[slot], ranges[slot + 1]).toLowerCase();
      const value = decodeHTMLAttribute(this.#html.slice(ranges[slot + 2], ranges[slot + 3]));
      if (written.has(name)) continue;
      if (name === 'style') written.set(name, inertStyle(value));
      else if (ATTRIBUTES.has(name) || ARIA.test(name)) written.set(name, value);
      else if (name === 'src' && tag === 'img' && INLINE_PICTURE.test(value)) written.set(name, value);
      else if (name === 'href' && tag === 'a') target ??= value;
    }
    if (target !== null && !written.has('title')) written.set('title', target);
    if (CONTROLS.has(tag)) written.set('disabled', '');
    return [...written].map(([name, value]) => ` ${name}="${quotable(value)}"`).join('');
  }
}

/** Entities stay as they are. */
const withoutTags = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const quotable = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * CSS without addresses, as far as they are written plainly; those that are not, the policy of the answer refuses. What
 * is taken away is replaced by something else: a gap could join the parts of an end tag.
 */
function inertStyle(css: string): string {
  return css
    .replace(/@import/gi, '@-no-import')
    .replace(/url\((?!\s*["']?data:)[^)]*\)?/gi, 'url(data:,)')
    .replaceAll('<', '\\3c ');
}

/**
 * The open elements of a page that is written anew. Every end that HTML leaves out is written, and the depth has a
 * bound, so that a browser neither nests what a hostile page nests nor repeats unclosed formatting in each paragraph.
 */
class InertNesting {
  readonly #open: string[] = [];
  /** How many of each name are open. */
  readonly #counts = new Map<string, number>();
  /** Start tags that were left out for their depth, by name: their end tags are left out too. */
  readonly #leftOut = new Map<string, number>();

  /** End tags to be written before a start tag of this name. */
  endsBefore(name: string): string {
    const { ends, within } = ENDED_BY[name] ?? {};
    const before = ends === undefined ? '' : this.#endsUpTo(this.#nearest(ends, within));
    return ENDS_PARAGRAPH.has(name) && (this.#counts.get('p') ?? 0) > 0
      ? before + this.#endsUpTo(this.#open.lastIndexOf('p'))
      : before;
  }

  /** Whether a start tag is written; it is open from now on where its element can be. */
  begin(name: string): boolean {
    if (NEVER_OPEN.has(name)) return true;
    if (this.#open.length >= MOST_OPEN && !RAW.has(name)) {
      this.#leftOut.set(name, (this.#leftOut.get(name) ?? 0) + 1);
      return false;
    }
    this.#open.push(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return true;
  }

  /** The end tags to be written for one of this name: those of all elements in it come first. */
  end(name: string): string {
    const leftOut = this.#leftOut.get(name) ?? 0;
    if (leftOut > 0) {
      this.#leftOut.set(name, leftOut - 1);
      return '';
    }
    return (this.#counts.get(name) ?? 0) === 0 ? '' : this.#endsUpTo(this.#open.lastIndexOf(name));
  }

  #nearest(names: ReadonlySet<string>, within: ReadonlySet<string> | undefined): number {
    for (let at = this.#open.length - 1; at >= 0; at -= 1) {
      const name = this.#open[at] as string;
      if (names.has(name)) return at;
      if (within?.has(name) === true) return -1;
    }
    return -1;
  }

  #endsUpTo(place: number): string {
    if (place < 0) return '';
    let ends = '';
    for (const name of this.#open.splice(place).reverse()) {
      this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1);
      ends += `</${name}>`;
    }
    return ends;
  }
}
