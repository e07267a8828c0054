import type { SiteStore } from '../../core/ports/site-store.ts';
import { SITE_HASH_COLUMNS, SITE_PAGE_COLUMNS, siteHashOf, sitePageOf } from '../store-rows/site-rows.ts';
import type { PostgresDatabase } from './database.ts';

const OF_JOB = `t.job_seq = (SELECT seq FROM jobs WHERE id = $1) AND t.url_key > $2 AND t.kind = 'page'`;

export function createPostgresSiteStore(database: PostgresDatabase): SiteStore {
  return {
    async listSitePages({ jobId, after = '', urlKeys, limit }) {
      const rows = await database.query(
        `SELECT ${SITE_PAGE_COLUMNS} FROM tasks t LEFT JOIN tasks f ON f.id = t.found_on
         LEFT JOIN pages p ON p.task_id = t.id LEFT JOIN job_expiry e ON e.job_seq = t.job_seq
         WHERE ${OF_JOB} ${urlKeys === undefined ? '' : 'AND t.url_key = ANY ($4::text[])'}
         ORDER BY t.url_key LIMIT $3`,
        [jobId, after, limit, ...(urlKeys === undefined ? [] : [urlKeys])],
      );
      return rows.map(sitePageOf);
    },

    async listSiteHashes({ jobId, after = '', limit }) {
      const rows = await database.query(
        `SELECT ${SITE_HASH_COLUMNS} FROM tasks t LEFT JOIN pages p ON p.task_id = t.id
         WHERE ${OF_JOB} ORDER BY t.url_key LIMIT $3`,
        [jobId, after, limit],
      );
      return rows.map(siteHashOf);
    },
  };
}
