const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** More open elements than honest pages have; browsers fail in the layout of some ten thousand. */
const MOST_OPEN = 256;

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

/**
 * The open elements of a page that is written anew. Every end that HTML leaves out is written, and the depth has a
 * bound, so that a browser neither nests what a hostile page nests nor repeats unclosed formatting in each paragraph.
 */
export class InertNesting {
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
