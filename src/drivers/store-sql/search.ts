import type { SearchStore } from '../../core/ports/search-store.ts';
import {
  FIRST_SEARCHABLE,
  FOUND_COLUMNS,
  foundPageOf,
  IS_SEARCHABLE,
  searchableColumns,
  searchablePageOf,
  searchJobOf,
  searchScanOf,
} from '../store-rows/search-rows.ts';
import { type Methods, read } from './methods.ts';
import { IS_PUBLIC_PAGE } from './page-conditions.ts';
import { either, eitherText, NOTHING, oneOf, raw, sql } from './sql.ts';
import { all, list } from './steps.ts';

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
