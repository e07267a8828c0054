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
import type { PostgresDatabase } from './database.ts';
import { POSTGRES_DIALECT } from './query-dialect.ts';

const COLUMNS = searchableColumns(POSTGRES_DIALECT.isPublic.pages);

export function createPostgresSearchStore(database: PostgresDatabase): SearchStore {
  return {
    async listSearchPages(jobId, pageSeqs) {
      const rows = await database.query(
        `SELECT ${COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
         WHERE p.seq = ANY ($1::bigint[]) AND j.id = $2 AND ${IS_SEARCHABLE}`,
        [pageSeqs, jobId],
      );
      return rows.map(searchablePageOf);
    },

    async scanSearchPages({ after, limit }) {
      const { job, page } = after ?? { job: 0, page: 0 };
      const rows = await database.query(
        `SELECT ${COLUMNS} FROM jobs j JOIN pages p ON p.job_seq = j.seq
         WHERE j.options ->> 'search' = 'true' AND (p.job_seq, p.seq) > ($1, $2) AND ${IS_SEARCHABLE}
         ORDER BY p.job_seq, p.seq LIMIT $3`,
        [job, page, limit],
      );
      return searchScanOf(rows, limit);
    },

    async readFoundPages({ accountId, hasPrivate }, pages) {
      const rows = await database.query(
        `SELECT ${FOUND_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
         WHERE p.seq = ANY ($1::bigint[]) AND j.account_id = $2 AND ${IS_SEARCHABLE}
           ${hasPrivate ? '' : `AND ${POSTGRES_DIALECT.isPublic.pages}`}`,
        [pages.map(({ pageSeq }) => pageSeq), accountId],
      );
      return rows.map(foundPageOf);
    },

    async searchJobs(ids) {
      const rows = await database.query(
        `SELECT j.id, ${FIRST_SEARCHABLE} FROM jobs j LEFT JOIN job_expiry e ON e.job_seq = j.seq
         WHERE j.id = ANY ($1::text[])`,
        [ids],
      );
      return rows.map(searchJobOf);
    },
  };
}
