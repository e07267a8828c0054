/** What typed queries can ask about. */
export const QUERY_SOURCES = ['pages', 'links', 'records', 'snapshots'] as const;
export type QuerySource = (typeof QUERY_SOURCES)[number];

/**
 * `text` compares by its bytes in UTF-8, `time` is epoch milliseconds inside and ISO 8601 outside, `json` is whatever an
 * extracted record holds in that place.
 */
export type QueryFieldType = 'text' | 'number' | 'time' | 'boolean' | 'json';

interface Field {
  readonly type: QueryFieldType;
  readonly meaning: string;
}

const field = (type: QueryFieldType, meaning: string): Field => ({ type, meaning });

/** Columns of the table of pages: answered by the database alone. */
export const PAGE_COLUMN_FIELDS = {
  jobId: field('text', 'the job that stored the page'),
  jobKind: field('text', 'scrape, batch, crawl or map'),
  url: field('text', 'the URL that was asked for'),
  host: field('text', 'host of `url`, with its port where it has one'),
  finalUrl: field('text', 'the URL after redirects'),
  statusCode: field('number', 'HTTP status; null when there was no response'),
  contentType: field('text', 'header of the response'),
  charset: field('text', 'encoding of the body'),
  fetchedAt: field('time', 'when the response came'),
  depth: field('number', 'links from the start URL'),
  contentHash: field('text', 'SHA-256 of the body'),
  textHash: field('text', 'hash of the visible text'),
  bytes: field('number', 'size of the body'),
  title: field('text', 'title of the page'),
  etag: field('text', 'validator of the response'),
  lastModified: field('text', 'header of the response'),
  duplicateOf: field('text', 'the URL whose page this one repeats'),
  errorCode: field('text', 'why the page failed; null when it did not'),
  errorMessage: field('text', 'the same in words'),
} as const;
export type PageColumnField = keyof typeof PAGE_COLUMN_FIELDS;

/** Fields that stand in the packed record of a page, and are read page by page, see `SCANNED_FIELDS`. */
const PAGE_RECORD_FIELDS = {
  description: field('text', 'meta description'),
  language: field('text', 'language that the page declares'),
  canonical: field('text', 'rel=canonical'),
  robots: field('text', 'robots directives of the page'),
  h1: field('text', 'first heading of level 1'),
  outcome: field('text', 'what the response was taken for, such as ok or soft-404'),
  linkCount: field('number', 'links on the page'),
  imageCount: field('number', 'images on the page'),
  extractedType: field('text', 'the type that was extracted'),
} as const;

const LINK_FIELDS = {
  url: field('text', 'where the link leads, absolute'),
  host: field('text', 'host of `url`'),
  text: field('text', 'anchor text'),
  rel: field('text', 'rel attribute'),
  from: field('text', 'the element it stood in'),
  isInternal: field('boolean', 'leads to the host of its page'),
  position: field('number', 'place among the links of its page, from 0'),
} as const;

const RECORD_FIELDS = {
  type: field('text', 'type of the record; null when rules made it'),
  probability: field('number', 'how likely the page is of that type, 0 to 1'),
  data: field('json', 'the record; `data.price` or `data.offer.seller` is a value in it'),
} as const;

/** Which columns of its page a row of links or records has, and under what names. */
const LINK_PAGE_FIELDS = {
  jobId: 'jobId',
  pageUrl: 'url',
  pageHost: 'host',
  pageTitle: 'title',
  fetchedAt: 'fetchedAt',
  depth: 'depth',
  statusCode: 'statusCode',
} as const satisfies Readonly<Record<string, PageColumnField>>;

const RECORD_PAGE_FIELDS = {
  jobId: 'jobId',
  url: 'url',
  host: 'host',
  title: 'title',
  fetchedAt: 'fetchedAt',
  depth: 'depth',
  statusCode: 'statusCode',
  contentHash: 'contentHash',
} as const satisfies Readonly<Record<string, PageColumnField>>;

/** Columns of the table of snapshots. */
export const SNAPSHOT_COLUMN_FIELDS = {
  id: field('text', 'id of the snapshot, for `GET /v1/snapshots/:id`'),
  url: field('text', 'canonical URL'),
  host: field('text', 'host of `url`'),
  hash: field('text', 'of the normalized content: the same for the same content, also at another URL'),
  firstSeenAt: field('time', 'when the URL first had this content'),
  lastSeenAt: field('time', 'when it last had it'),
  timesSeen: field('number', 'how often it was seen'),
  finalUrl: field('text', 'the URL after redirects'),
  statusCode: field('number', 'HTTP status'),
  contentType: field('text', 'header of the response'),
  contentHash: field('text', 'SHA-256 of the body'),
  bytes: field('number', 'size of the body'),
  title: field('text', 'title of the page'),
  price: field('number', 'what the page asks for'),
  currency: field('text', 'ISO 4217'),
  availability: field('text', 'as schema.org names it, such as InStock'),
  jobId: field('text', 'the job that saw it first'),
} as const;
export type SnapshotColumnField = keyof typeof SNAPSHOT_COLUMN_FIELDS;

/** A column that the database can compare and group by. */
export type QueryColumn = PageColumnField | SnapshotColumnField;

/** A field of a source. */
export interface QueryField extends Field {
  readonly name: string;
  /** The column of the table that it is; null when it is read from the packed record of a page. */
  readonly column: QueryColumn | null;
}

type Fields = Readonly<Record<string, Field>>;

const columns = (fields: Fields): QueryField[] =>
  Object.entries(fields).map(([name, each]) => ({
    ...each,
    name,
    column: name as QueryColumn,
  }));

const renamed = (names: Readonly<Record<string, PageColumnField>>): QueryField[] =>
  Object.entries(names).map(([name, column]) => ({ ...PAGE_COLUMN_FIELDS[column], name, column }));

const packed = (fields: Fields): QueryField[] =>
  Object.entries(fields).map(([name, each]) => ({ ...each, name, column: null }));

const byName = (fields: readonly QueryField[]): ReadonlyMap<string, QueryField> =>
  new Map(fields.map((each) => [each.name, each]));

/** Every field that a query may name, by source, in the order in which it is documented. */
export const QUERY_CATALOGUE: Readonly<Record<QuerySource, ReadonlyMap<string, QueryField>>> = {
  pages: byName([...columns(PAGE_COLUMN_FIELDS), ...packed(PAGE_RECORD_FIELDS)]),
  links: byName([...packed(LINK_FIELDS), ...renamed(LINK_PAGE_FIELDS)]),
  records: byName([...packed(RECORD_FIELDS), ...renamed(RECORD_PAGE_FIELDS)]),
  snapshots: byName(columns(SNAPSHOT_COLUMN_FIELDS)),
};

/** What a row shows when the query selects nothing. */
export const DEFAULT_SELECTION: Readonly<Record<QuerySource, readonly string[]>> = {
  pages: ['url', 'statusCode', 'title', 'bytes', 'fetchedAt', 'jobId'],
  links: ['pageUrl', 'url', 'text', 'rel', 'from'],
  records: ['url', 'type', 'data', 'fetchedAt'],
  snapshots: ['id', 'url', 'title', 'firstSeenAt', 'lastSeenAt', 'timesSeen'],
};

const DATA_PATH = /^data(?:\.[A-Za-z0-9_$@-]{1,64}){1,8}$/;

/** The field of that name; of records also any path into `data`. Undefined when there is none. */
export function queryFieldOf(source: QuerySource, name: string): QueryField | undefined {
  const known = QUERY_CATALOGUE[source].get(name);
  if (known !== undefined || source !== 'records' || !DATA_PATH.test(name)) return known;
  return { name, type: 'json', column: null, meaning: 'a value of the record' };
}
