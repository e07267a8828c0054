import { readJsonLd } from '../json-ld.ts';
import { LIMITS } from '../limits.ts';
import { hashName } from '../name-table.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { type Breadcrumbs, readBreadcrumbs } from './breadcrumbs.ts';
import { type HeadTags, readHeadTags } from './head-tags.ts';
import type { DataItem } from './item.ts';
import { readJsonLdItems } from './json-ld-items.ts';
import { type MergedItem, mergeItems } from './merge-items.ts';
import { readMicrodataItems } from './microdata-items.ts';
import { type PageMarks, readMarks } from './page-marks.ts';
import { type Pagination, readPagination } from './pagination.ts';
import { readRdfaItems } from './rdfa-items.ts';
import { type PageFact, readPageFacts } from './view-facts.ts';

const TYPE = hashName('type');
const JSON_LD_TYPE = /^\s*application\/ld\+json\s*(?:;|$)/i;

export interface StructuredOptions {
  /** `Link` headers of the response, joined with commas. */
  readonly linkHeader?: string | null;
}

/** Something wrong with the structured data of a page, which was mended or left out. */
export interface DataProblem {
  readonly source: 'json-ld' | 'page';
  readonly message: string;
}

/** The structured data of a page before it is merged: what typed extraction reads. */
export interface StructuredParts {
  readonly marks: PageMarks;
  readonly head: HeadTags;
  /** Of all syntaxes: JSON-LD, then microdata, then RDFa. */
  readonly roots: readonly DataItem[];
  readonly breadcrumbs: Breadcrumbs | null;
  readonly problems: readonly DataProblem[];
  readonly isTruncated: boolean;
}

/** Everything a page says in a form made for machines, as one view that names the origin of every value. */
export interface StructuredView {
  /** What head and structured data say of the page itself; null where nothing does. */
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
  /** A limit cut something off. */
  readonly isTruncated: boolean;
}

/** Pure, bounded, and without a way to fail. `url` is where the page came from, after redirects. */
export function structuredView(tree: PageTree, url: string, options: StructuredOptions = {}): StructuredView {
  return viewOf(readStructured(tree, url, options));
}

export function readStructured(
  tree: PageTree,
  url: string,
  options: StructuredOptions = {},
): StructuredParts {
  const marks = readMarks(tree, url);
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

function readBlocks({ tree, scripts }: PageMarks): {
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
