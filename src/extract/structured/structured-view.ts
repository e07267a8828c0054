import { LIMITS } from '../html/limits.ts';
import { hashName, TAG } from '../html/names.ts';
import { collapse, decodeEntities } from '../html/page-text.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { type HeadTags, readHeadTags } from './head-tags.ts';
import { addresses, type DataItem, type ItemSource, itemsOfType, label, labels, textValue } from './item.ts';
import { readJsonLd } from './json-ld.ts';
import { readJsonLdItems } from './json-ld-items.ts';
import { absoluteUrl, indexMarkup, type MarkupIndex } from './markup-index.ts';
import { type MergedItem, mergeItems } from './merge-items.ts';
import { readMicrodataItems } from './microdata-items.ts';
import { type Breadcrumbs, type Pagination, readBreadcrumbs, readPagination } from './navigation.ts';
import { readRdfaItems } from './rdfa-items.ts';

const TYPE = hashName('type');
const JSON_LD_TYPE = /^\s*application\/ld\+json\s*(?:;|$)/i;

interface StructuredOptions {
  /** `Link` headers of the response, joined with commas. */
  readonly linkHeader?: string | null;
}

/** A mistake in the structured data of a page that was repaired or left out. */
interface DataProblem {
  readonly source: 'json-ld' | 'page';
  readonly message: string;
}

/** The structured data of a page before it is merged: what typed extraction reads. */
export interface StructuredParts {
  readonly marks: MarkupIndex;
  readonly head: HeadTags;
  /** The items of all syntaxes: JSON-LD first, then microdata, then RDFa. */
  readonly roots: readonly DataItem[];
  readonly breadcrumbs: Breadcrumbs | null;
  readonly problems: readonly DataProblem[];
  readonly isTruncated: boolean;
}

/** All structured data of a page in one view that names the origin of every value. */
export interface StructuredView {
  /** Facts about the page from its head and its structured data; null when no source has one. */
  readonly page: Readonly<Record<PageFact['name'], Omit<PageFact, 'name'> | null>>;
  readonly items: readonly MergedItem[];
  readonly breadcrumbs: Breadcrumbs | null;
  readonly pagination: Pagination;
  readonly hreflang: readonly { readonly lang: string; readonly url: string }[];
  readonly feeds: readonly { readonly url: string; readonly type: string; readonly title: string }[];
  readonly openGraph: Readonly<Record<string, readonly string[]>>;
  readonly twitter: Readonly<Record<string, string>>;
  readonly dublinCore: Readonly<Record<string, readonly string[]>>;
  readonly problems: readonly DataProblem[];
  /** True when a limit dropped data. */
  readonly isTruncated: boolean;
}

const FACT_NAMES = [
  'title',
  'description',
  'url',
  'image',
  'siteName',
  'type',
  'language',
  'author',
  'publishedAt',
  'modifiedAt',
  'keywords',
] as const;

const LANG = hashName('lang');
/** Types of schema.org that are the page or what the page is about. */
const MAIN = /(?:Article|Posting|Page|Product|Recipe|Event|Report)$/;

/** Pure and bounded; never throws. `url` is the URL of the response, after redirects. */
export function structuredView(tree: PageTree, url: string, options: StructuredOptions = {}): StructuredView {
  return viewOf(readStructured(tree, url, options));
}

export function readStructured(
  tree: PageTree,
  url: string,
  options: StructuredOptions = {},
): StructuredParts {
  const marks = indexMarkup(tree, url);
  const head = readHeadTags(marks, options.linkHeader ?? null);
  const { documents, problems, isTruncated } = readBlocks(marks);
  const all = [readJsonLdItems(documents, marks.base), readMicrodataItems(marks), readRdfaItems(marks)];
  const roots = all.flatMap((part) => part.roots);
  return {
    marks,
    head,
    roots,
    breadcrumbs: readBreadcrumbs(roots, marks),
    problems,
    isTruncated: isTruncated || marks.isTruncated || head.isTruncated || all.some((part) => part.isTruncated),
  };
}

export function viewOf(parts: StructuredParts): StructuredView {
  const { marks, head, roots, breadcrumbs, problems } = parts;
  const { items, isTruncated } = mergeItems(roots);
  return {
    page: readPageFacts(parts),
    items,
    breadcrumbs,
    pagination: readPagination(marks, head),
    hreflang: head.links.hreflang,
    feeds: head.links.feeds,
    openGraph: fromMap(head.openGraph),
    twitter: fromMap(head.twitter),
    dublinCore: fromMap(head.dublinCore),
    problems,
    isTruncated: isTruncated || parts.isTruncated,
  };
}

function readBlocks({ tree, scripts }: MarkupIndex): {
  documents: object[];
  problems: DataProblem[];
  isTruncated: boolean;
} {
  const documents: object[] = [];
  const problems: DataProblem[] = [];
  let blocks = 0;
  for (const script of scripts) {
    if (!JSON_LD_TYPE.test(tree.attribute(script, TYPE) ?? '')) continue;
    if (++blocks > LIMITS.jsonLdBlocks) return { documents, problems, isTruncated: true };
    const child = tree.firstChild(script);
    const source = child < 0 ? '' : tree.text(child);
    const block = readJsonLd(source);
    documents.push(...block.documents);
    if (block.documents.length === 0 && source.trim() !== '') {
      problems.push({
        source: 'json-ld',
        message: `block ${blocks} is no JSON that could be read or mended`,
      });
    } else if (block.repairs.length > 0) {
      problems.push({
        source: 'json-ld',
        message: `block ${blocks} was mended: ${block.repairs.join(', ')}`,
      });
    }
  }
  return { documents, problems, isTruncated: false };
}

function fromMap<T>(map: ReadonlyMap<string, T>): Record<string, T> {
  const object: Record<string, T> = Object.create(null);
  for (const [key, value] of map) object[key] = value;
  return object;
}

type FactSource = ItemSource | 'open-graph' | 'twitter' | 'dublin-core' | 'meta' | 'link' | 'markup';

interface PageFact {
  readonly name: (typeof FACT_NAMES)[number];
  /** As written, with entities decoded; addresses absolute. */
  readonly value: string;
  /** Every source with this value, the most trusted first. */
  readonly from: readonly FactSource[];
}

type Said = readonly [FactSource, string | null | undefined];

/** Facts about the page; the most trusted source gives the value. */
function readPageFacts(
  parts: Pick<StructuredParts, 'roots' | 'head' | 'marks'>,
): Record<PageFact['name'], Omit<PageFact, 'name'> | null> {
  const { roots, head, marks } = parts;
  const main = mainItem(roots);
  const source = main?.source ?? 'json-ld';
  const og = (name: string): Said => ['open-graph', head.openGraph.get(name)?.[0]];
  const twitter = (name: string): Said => ['twitter', head.twitter.get(name)];
  const dublin = (name: string): Said => ['dublin-core', head.dublinCore.get(name)?.[0]];
  const meta = (name: string): Said => ['meta', head.named.get(name)];
  const address = ([from, value]: Said): Said => [from, value ? absoluteUrl(marks.base, value) : null];
  const [site] = itemsOfType(roots, (type) => type === 'WebSite');
  return {
    title: fact([
      [source, textValue(main, 'headline', 'name')],
      og('title'),
      twitter('title'),
      dublin('title'),
      ['markup', head.title],
    ]),
    description: fact([
      [source, textValue(main, 'description')],
      og('description'),
      meta('description'),
      twitter('description'),
      dublin('description'),
    ]),
    url: fact([['link', head.links.canonical], address(og('url')), [source, textValue(main, 'url')]]),
    image: fact([
      [source, addresses(main, 'image', 'thumbnailUrl')[0]],
      address(og('image')),
      address(og('image:url')),
      address(twitter('image')),
    ]),
    siteName: fact([
      [site?.source ?? 'json-ld', textValue(site, 'name')],
      og('site_name'),
      meta('application-name'),
      dublin('publisher'),
    ]),
    type: fact([[source, main?.types[0]], og('type'), dublin('type')]),
    language: fact([
      ['markup', pageLanguage(parts)],
      [source, textValue(main, 'inLanguage')],
      og('locale'),
      dublin('language'),
      meta('language'),
    ]),
    author: fact([
      [source, label(main, 'author')],
      meta('author'),
      og('article:author'),
      dublin('creator'),
      twitter('creator'),
    ]),
    publishedAt: fact([
      [source, textValue(main, 'datePublished', 'datePosted', 'dateCreated')],
      og('article:published_time'),
      dublin('date'),
      dublin('issued'),
      meta('date'),
    ]),
    modifiedAt: fact([
      [source, textValue(main, 'dateModified')],
      og('article:modified_time'),
      og('updated_time'),
      dublin('modified'),
      meta('last-modified'),
    ]),
    keywords: fact([
      [source, labels(main, 'keywords').join(', ') || null],
      meta('keywords'),
      meta('news_keywords'),
      ['open-graph', head.openGraph.get('article:tag')?.join(', ')],
      dublin('subject'),
    ]),
  };
}

/** The item the page is about: the main entity of its `WebPage`, else the first item of a fitting type. */
function mainItem(roots: readonly DataItem[]): DataItem | null {
  const found = itemsOfType(roots, (type) => MAIN.test(type));
  return found.find(({ types }) => !types.some((type) => type.endsWith('Page'))) ?? found[0] ?? null;
}

function pageLanguage({ marks: { tree } }: Pick<StructuredParts, 'marks'>): string | null {
  for (let node = 1; node < tree.count && node < 20; node++) {
    if (tree.tags[node] === TAG.html) return tree.attribute(node, LANG);
  }
  return null;
}

function fact(said: readonly Said[]): Omit<PageFact, 'name'> | null {
  const known = said.flatMap(([from, value]) => {
    const text = value ? collapse(decodeEntities(value), LIMITS.metaChars) : '';
    return text === '' ? [] : [{ from, text }];
  });
  const [first] = known;
  if (first === undefined) return null;
  const agreeing = known.filter(({ text }) => text.toLowerCase() === first.text.toLowerCase());
  return { value: first.text, from: [...new Set(agreeing.map(({ from }) => from))] };
}
