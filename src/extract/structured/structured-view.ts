import { LIMITS } from '../html/limits.ts';
import { hashName, TAG } from '../html/names.ts';
import { collapse, decodeEntities } from '../html/page-text.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { readMicrodataItems, readRdfaItems } from './attribute-items.ts';
import { type HeadTags, readHeadTags } from './head-tags.ts';
import {
  addresses,
  type DataItem,
  type ItemSource,
  type ItemValue,
  isItem,
  itemsOfType,
  label,
  labels,
  type Scalar,
  textValue,
} from './item.ts';
import { readJsonLd, readJsonLdItems } from './json-ld.ts';
import { absoluteUrl, indexMarkup, type MarkupIndex } from './markup-index.ts';
import { type Breadcrumbs, type Pagination, readBreadcrumbs, readPagination } from './navigation.ts';

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

/** An item merged from all syntaxes of a page. */
interface MergedItem {
  readonly type: readonly string[];
  readonly id?: string;
  readonly from: readonly ItemSource[];
  readonly properties: Readonly<Record<string, readonly MergedValue[]>>;
}

interface MergedValue {
  readonly value: Scalar | MergedItem;
  /** Every syntax that has this value. */
  readonly from: readonly ItemSource[];
}

/** Limit of nesting; deeper items are given by their id. */
const MOST_DEPTH = 12;

/** One entry per item, in the order of first description. In a cycle, an item is written out once on a path. */
function mergeItems(roots: readonly DataItem[]): { items: MergedItem[]; isTruncated: boolean } {
  const merger = new Merger();
  const items = group(roots).map((same) => merger.merge(same, []));
  return { items, isTruncated: merger.isTruncated };
}

class Merger {
  isTruncated = false;
  #values = 0;

  merge(same: readonly DataItem[], around: readonly DataItem[]): MergedItem {
    const properties: Record<string, MergedValue[]> = Object.create(null);
    const path = [...around, ...same];
    const names = new Set(same.flatMap((item) => [...item.properties.keys()]));
    for (const name of names) {
      const values = this.#valuesOf(same, name, path);
      if (values.length > 0) properties[name] = values;
    }
    const id = same.map((item) => item.id).find((one) => one !== null && !one.startsWith('_:')) ?? null;
    return {
      type: [...new Set(same.flatMap(({ types }) => types))],
      ...(id === null ? {} : { id }),
      from: [...new Set(same.map(({ source }) => source))],
      properties,
    };
  }

  #valuesOf(same: readonly DataItem[], name: string, path: readonly DataItem[]): MergedValue[] {
    const scalars = new Map<string, { value: Scalar; from: ItemSource[] }>();
    const things: DataItem[] = [];
    for (const item of same) {
      for (const value of item.properties.get(name) ?? []) {
        if (++this.#values > LIMITS.itemValues) {
          this.isTruncated = true;
          break;
        }
        if (isItem(value) && !path.includes(value) && path.length < MOST_DEPTH) things.push(value);
        else addScalar(scalars, value, item.source);
      }
    }
    return [
      ...scalars.values(),
      ...group(things).map((one) => {
        const value = this.merge(one, path);
        return { value, from: value.from };
      }),
    ];
  }
}

function addScalar(
  scalars: Map<string, { value: Scalar; from: ItemSource[] }>,
  value: ItemValue,
  source: ItemSource,
): void {
  const scalar = isItem(value) ? (value.id ?? '') : value;
  const key = comparable(scalar);
  if (key === '') return;
  const known = scalars.get(key);
  if (known === undefined) scalars.set(key, { value: scalar, from: [source] });
  else if (!known.from.includes(source)) known.from.push(source);
}

function comparable(value: Scalar): string {
  return String(value).trim().replace(/\s+/g, ' ').toLowerCase();
}

/** Limit of comparisons: items beyond it are not merged. */
const MOST_COMPARED = 300;

function group(items: readonly DataItem[]): DataItem[][] {
  const groups: DataItem[][] = [];
  for (const item of items) {
    const home = groups
      .slice(0, MOST_COMPARED)
      .find((others) => others.some((other) => isSame(other, item, items)));
    if (home === undefined) groups.push([item]);
    else if (!home.includes(item)) home.push(item);
  }
  return groups;
}

/** True for the same id; or, in two syntaxes, for the same type with the same name or URL, or the only items of a type. */
function isSame(a: DataItem, b: DataItem, all: readonly DataItem[]): boolean {
  if (a === b) return true;
  if (a.id !== null && a.id === b.id) return true;
  if (a.source === b.source) return false;
  const type = a.types.find((name) => b.types.includes(name));
  if (type === undefined) return false;
  for (const property of ['name', 'url', 'sku'] as const) {
    const [one, other] = [textValue(a, property), textValue(b, property)];
    if (one !== null && other !== null) return comparable(one) === comparable(other);
  }
  const isOnly = (item: DataItem): boolean =>
    all.filter(({ source, types }) => source === item.source && types.includes(type)).length === 1;
  return isOnly(a) && isOnly(b);
}
