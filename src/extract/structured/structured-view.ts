import { LIMITS } from '../html/limits.ts';
import { hashName } from '../html/name-table.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { type HeadTags, readHeadTags } from './head-tags.ts';
import type { DataItem } from './item.ts';
import { readJsonLd } from './json-ld.ts';
import { readJsonLdItems } from './json-ld-items.ts';
import { indexMarkup, type MarkupIndex } from './markup-index.ts';
import { type MergedItem, mergeItems } from './merge-items.ts';
import { readMicrodataItems } from './microdata-items.ts';
import { type Breadcrumbs, type Pagination, readBreadcrumbs, readPagination } from './navigation.ts';
import { readRdfaItems } from './rdfa-items.ts';
import { type PageFact, readPageFacts } from './view-facts.ts';

const TYPE = hashName('type');
const JSON_LD_TYPE = /^\s*application\/ld\+json\s*(?:;|$)/i;

export interface StructuredOptions {
  /** `Link` headers of the response, joined with commas. */
  readonly linkHeader?: string | null;
}

/** A mistake in the structured data of a page that was repaired or left out. */
export interface DataProblem {
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
