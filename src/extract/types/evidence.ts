import { extractContent } from '../content/extract-content.ts';
import { hashName, TAG } from '../html/names.ts';
import { PageDocument } from '../rules/page-document.ts';
import { type EmbeddedState, findEmbeddedState } from '../structured/embedded/embedded-state.ts';
import { type DataItem, itemsOfType } from '../structured/item.ts';
import { readStructured, type StructuredParts } from '../structured/structured-view.ts';
import type { PageTree } from '../tree/page-tree.ts';
import type { ReadingContext } from './field.ts';
import { Markup } from './markup.ts';

/** Input of a typed extraction. */
export interface TypedPage {
  readonly tree: PageTree;
  /** The URL of the response, after redirects. */
  readonly url: string;
  /** When the page was fetched, in epoch milliseconds: relative dates refer to it. */
  readonly fetchedAt: number;
  readonly linkHeader?: string | null;
  /** Structured data, when it has been read already. */
  readonly structured?: StructuredParts;
  /** The text of the main content, when the caller shares it. */
  readonly contentText?: () => string;
}

/** The address of a page, and where it was read. */
interface Address {
  readonly url: string;
  readonly source: 'meta' | 'open-graph' | 'url';
}

const LANG = hashName('lang');

/** The sources of values on a page, each read once, on first use. */
export class TypedEvidence {
  readonly page: TypedPage;
  #parts: StructuredParts | null = null;
  #states: readonly EmbeddedState[] | null = null;
  #markup: Markup | null = null;
  #document: PageDocument | null = null;
  #contentText: string | null = null;
  #url: URL | null = null;

  constructor(page: TypedPage) {
    this.page = page;
  }

  get parts(): StructuredParts {
    this.#parts ??=
      this.page.structured ??
      readStructured(this.page.tree, this.page.url, { linkHeader: this.page.linkHeader ?? null });
    return this.#parts;
  }

  get states(): readonly EmbeddedState[] {
    this.#states ??= findEmbeddedState(this.page.tree);
    return this.#states;
  }

  get markup(): Markup {
    this.#markup ??= new Markup(this.page.tree);
    return this.#markup;
  }

  /** The page by CSS selectors. */
  get document(): PageDocument {
    const { url, tree } = this.page;
    this.#document ??= new PageDocument(url, tree, () => performance.now());
    return this.#document;
  }

  /** The text of the main content. */
  get contentText(): string {
    const { tree, url, contentText } = this.page;
    this.#contentText ??= contentText === undefined ? extractContent(tree, url).text : contentText();
    return this.#contentText;
  }

  get url(): URL {
    this.#url ??= URL.parse(this.page.url) ?? new URL('about:blank');
    return this.#url;
  }

  /** The canonical URL of the page, else that of Open Graph, else the URL it was fetched from; with its source. */
  get address(): Address {
    const { canonical } = this.parts.head.links;
    if (canonical !== null) return { url: canonical, source: 'meta' };
    const stated = this.openGraph('url');
    return stated === null ? { url: this.page.url, source: 'url' } : { url: stated, source: 'open-graph' };
  }

  get language(): string | undefined {
    const { tree } = this.page;
    for (let node = 1; node < tree.count && node < 20; node++) {
      if (tree.tags[node] === TAG.html) return tree.attribute(node, LANG)?.trim() || undefined;
    }
    return this.openGraph('locale')?.replace('_', '-');
  }

  context(currency?: string): ReadingContext {
    const { base } = this.parts.marks;
    return { base: base.href, fetchedAt: this.page.fetchedAt, locale: this.language, currency };
  }

  openGraph(name: string): string | null {
    return this.parts.head.openGraph.get(name)?.[0] ?? null;
  }

  openGraphAll(name: string): readonly string[] {
    return this.parts.head.openGraph.get(name) ?? [];
  }

  meta(name: string): string | null {
    return this.parts.head.named.get(name) ?? null;
  }

  /** Items of these types, of all syntaxes, outer ones first. */
  items(isWanted: (type: string) => boolean): readonly DataItem[] {
    return itemsOfType(this.parts.roots, isWanted);
  }

  /** True when the generator tag of the page names the system. */
  isMadeWith(system: RegExp): boolean {
    return system.test(this.meta('generator') ?? '');
  }

  /** A title without the name of the site, when the main heading shows which part that is. */
  withoutSite(title: string | null): string | null {
    const heading = this.markup.text(this.markup.heading);
    if (title === null || heading === null || title.length <= heading.length) return title;
    const rest = title.toLowerCase().startsWith(heading.toLowerCase()) ? title.slice(heading.length) : '';
    return /^\s*[|–—·»:-]\s/.test(rest) ? heading : title;
  }

  /** The `title` element without the name of the site. */
  get ownTitle(): string | null {
    const { title } = this.parts.head;
    if (title === null) return null;
    const site = this.openGraph('site_name');
    const parts = title.split(/\s+[|–—·»:-]\s+/);
    if (parts.length === 1) return title;
    const own = site === null ? parts : parts.filter((part) => part.toLowerCase() !== site.toLowerCase());
    return own[0] ?? title;
  }
}
