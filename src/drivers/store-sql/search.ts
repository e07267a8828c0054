import { hash } from 'node:crypto';
import type { AccountId, ContentHash, JobId } from '../../core/model/ids.ts';
import type { FoundPage, SearchablePage, SearchStore, StoredBody } from '../../core/ports/search-store.ts';
import { IS_PUBLIC_PAGE } from '../store-rows/query-sql.ts';
import type { Row } from '../store-rows/rows.ts';
import { type Methods, read } from './methods.ts';
import { either, eitherText, NOTHING, oneOf, raw, sql } from './sql.ts';
import { all, list } from './steps.ts';

const PRIVATE_MARK = '!';

/** A page (p) whose job (j) is there and that can be searched for. */
const IS_SEARCHABLE = `p.error_code IS NULL AND p.record IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM job_expiry e WHERE e.job_seq = p.job_seq AND (e.bodies > p.seq OR e.records > p.seq OR e.ledger > 0)
)`;

const PAGE_COLUMNS =
  'j.id AS job_id, p.seq, p.url, p.title, p.fetched_at, p.record, p.content_hash, p.bytes, p.content_type, p.charset, p.final_url';

/** By the condition under which a page is public. */
const searchableColumns = (isPublic: string): string =>
  `j.account_id, j.seq AS job_seq, ${PAGE_COLUMNS}, NOT (${isPublic}) AS is_private`;

const FOUND_COLUMNS = `${PAGE_COLUMNS}, p.status_code`;

/** The first page of a job (j) that can be searched for, by its row in `job_expiry` (e); none are left of a deleted ledger. */
const FIRST_SEARCHABLE = `CASE WHEN e.job_seq IS NULL THEN 0 WHEN e.ledger > 0 THEN ${Number.MAX_SAFE_INTEGER}
  WHEN e.bodies > e.records THEN e.bodies ELSE e.records END AS first_page`;

const nullable = (value: unknown): string | null => (value === null ? null : String(value));

/** Records are pieces of memory of their own, so that they can be handed to another thread. */
const ownBytes = (value: unknown) => new Uint8Array(value as Uint8Array);

const bodyOf = (row: Row): StoredBody | null =>
  row.content_hash === null
    ? null
    : {
        contentHash: String(row.content_hash) as ContentHash,
        bytes: Number(row.bytes),
        contentType: nullable(row.content_type),
        charset: nullable(row.charset),
        finalUrl: String(row.final_url),
      };

const searchablePageOf = (row: Row): SearchablePage => ({
  accountId: String(row.account_id) as AccountId,
  jobId: String(row.job_id) as JobId,
  isPrivate: Number(row.is_private) === 1,
  pageSeq: Number(row.seq),
  url: String(row.url),
  title: nullable(row.title),
  fetchedAt: Number(row.fetched_at),
  record: ownBytes(row.record),
  body: bodyOf(row),
});

const foundPageOf = (row: Row): FoundPage => ({
  jobId: String(row.job_id) as JobId,
  pageSeq: Number(row.seq),
  url: String(row.url),
  title: nullable(row.title),
  fetchedAt: Number(row.fetched_at),
  statusCode: row.status_code === null ? null : Number(row.status_code),
  record: ownBytes(row.record),
  body: bodyOf(row),
});

const searchJobOf = (row: Row) => ({
  id: String(row.id) as JobId,
  firstPage: Number(row.first_page),
});

const columns = either(
  raw(searchableColumns(IS_PUBLIC_PAGE.sqlite)),
  raw(searchableColumns(IS_PUBLIC_PAGE.postgres)),
);
const isPublic = eitherText(IS_PUBLIC_PAGE);
const isSearchable = raw(IS_SEARCHABLE);

export const searchStore: Methods<SearchStore> = {
  listSearchPages: read((jobId, pageSeqs) =>
    list(
      sql`SELECT ${columns} FROM pages p JOIN jobs j ON j.seq = p.job_seq
        WHERE p.seq ${oneOf(pageSeqs, 'bigint')} AND j.id = ${jobId} AND ${isSearchable}`,
      searchablePageOf,
    ),
  ),

  scanSearchPages: read(function* ({ after, limit }) {
    const { job, page } = after ?? { job: 0, page: 0 };
    // SQLite takes the tables in the order of a CROSS JOIN, and so needs not sort.
    const found = either(
      sql`jobs j CROSS JOIN pages p ON p.job_seq = j.seq
        WHERE j.seq >= ${job} AND json_extract(j.options, '$.search') = 1 AND (j.seq > ${job} OR p.seq > ${page})
          AND ${isSearchable} ORDER BY j.seq, p.seq`,
      sql`jobs j JOIN pages p ON p.job_seq = j.seq
        WHERE j.options ->> 'search' = 'true' AND (p.job_seq, p.seq) > (${job}, ${page})
          AND ${isSearchable} ORDER BY p.job_seq, p.seq`,
    );
    return searchScanOf(yield* all(sql`SELECT ${columns} FROM ${found} LIMIT ${limit}`), limit);
  }),

  readFoundPages: read(({ accountId, hasPrivate }, pages) => {
    const seqs = pages.map(({ pageSeq }) => pageSeq);
    return list(
      sql`SELECT ${raw(FOUND_COLUMNS)} FROM pages p JOIN jobs j ON j.seq = p.job_seq
        WHERE p.seq ${oneOf(seqs, 'bigint')} AND j.account_id = ${accountId} AND ${isSearchable}
          ${hasPrivate ? NOTHING : sql`AND ${isPublic}`}`,
      foundPageOf,
    );
  }),

  searchJobs: read((ids) =>
    list(
      sql`SELECT j.id, ${raw(FIRST_SEARCHABLE)} FROM jobs j LEFT JOIN job_expiry e ON e.job_seq = j.seq
        WHERE j.id ${oneOf(ids, 'text')}`,
      searchJobOf,
    ),
  ),
};

/** What an index knows a URL by, and its host. The private content of a URL has a key of its own. */
export function searchKeyOf({ url, isPrivate }: Pick<SearchablePage, 'url' | 'isPrivate'>): {
  readonly urlKey: string;
  readonly host: string;
} {
  const start = url.indexOf('//') + 2;
  const end = url.indexOf('/', start);
  return {
    urlKey: `${hash('sha256', url, 'base64url').slice(0, 22)}${isPrivate ? PRIVATE_MARK : ''}`,
    host: url.slice(start, end === -1 ? url.length : end),
  };
}

/** A step of a scan; there may be more behind it when it has as many pages as it may. */
function searchScanOf(rows: readonly Row[], limit: number) {
  const last = rows.at(-1);
  const isFull = last !== undefined && rows.length >= limit;
  return {
    pages: rows.map(searchablePageOf),
    next: isFull ? { job: Number(last.job_seq), page: Number(last.seq) } : null,
  };
}
