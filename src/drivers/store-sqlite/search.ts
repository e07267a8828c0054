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
import type { SqliteDatabase } from './database.ts';
import { SQLITE_DIALECT } from './query-dialect.ts';
import type { Synchronous } from './synchronous.ts';

const COLUMNS = searchableColumns(SQLITE_DIALECT.isPublic.pages);

export function createSqliteSearchStore(database: SqliteDatabase): Synchronous<SearchStore> {
  return {
    listSearchPages(jobId, pageSeqs) {
      const rows = database.all(
        `SELECT ${COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
         WHERE p.seq IN (SELECT value FROM json_each(?)) AND j.id = ? AND ${IS_SEARCHABLE}`,
        JSON.stringify(pageSeqs),
        jobId,
      );
      return rows.map(searchablePageOf);
    },

    scanSearchPages({ after, limit }) {
      const { job, page } = after ?? { job: 0, page: 0 };
      const rows = database.all(
        `SELECT ${COLUMNS} FROM jobs j CROSS JOIN pages p ON p.job_seq = j.seq
         WHERE j.seq >= ?1 AND json_extract(j.options, '$.search') = 1 AND (j.seq > ?1 OR p.seq > ?2)
           AND ${IS_SEARCHABLE} ORDER BY j.seq, p.seq LIMIT ?3`,
        job,
        page,
        limit,
      );
      return searchScanOf(rows, limit);
    },

    readFoundPages({ accountId, hasPrivate }, pages) {
      const rows = database.all(
        `SELECT ${FOUND_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
         WHERE p.seq IN (SELECT value FROM json_each(?)) AND j.account_id = ? AND ${IS_SEARCHABLE}
           ${hasPrivate ? '' : `AND ${SQLITE_DIALECT.isPublic.pages}`}`,
        JSON.stringify(pages.map(({ pageSeq }) => pageSeq)),
        accountId,
      );
      return rows.map(foundPageOf);
    },

    searchJobs(ids) {
      const rows = database.all(
        `SELECT j.id, ${FIRST_SEARCHABLE} FROM jobs j LEFT JOIN job_expiry e ON e.job_seq = j.seq
         WHERE j.id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(ids),
      );
      return rows.map(searchJobOf);
    },
  };
}
