import type { SiteStore } from '../../core/ports/site-store.ts';
import { SITE_HASH_COLUMNS, SITE_PAGE_COLUMNS, siteHashOf, sitePageOf } from '../store-rows/site-rows.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

const OF_JOB = `t.job_seq = (SELECT seq FROM jobs WHERE id = ?) AND t.url_key > ? AND t.kind = 'page'`;

export function createSqliteSiteStore(database: SqliteDatabase): Synchronous<SiteStore> {
  return {
    listSitePages({ jobId, after = '', urlKeys, limit }) {
      const named = urlKeys === undefined ? '' : 'AND t.url_key IN (SELECT value FROM json_each(?))';
      const rows = database.all(
        `SELECT ${SITE_PAGE_COLUMNS} FROM tasks t LEFT JOIN tasks f ON f.id = t.found_on
         LEFT JOIN pages p ON p.task_id = t.id LEFT JOIN job_expiry e ON e.job_seq = t.job_seq
         WHERE ${OF_JOB} ${named} ORDER BY t.url_key LIMIT ?`,
        jobId,
        after,
        ...(urlKeys === undefined ? [] : [JSON.stringify(urlKeys)]),
        limit,
      );
      return rows.map(sitePageOf);
    },

    listSiteHashes({ jobId, after = '', limit }) {
      const rows = database.all(
        `SELECT ${SITE_HASH_COLUMNS} FROM tasks t LEFT JOIN pages p ON p.task_id = t.id
         WHERE ${OF_JOB} ORDER BY t.url_key LIMIT ?`,
        jobId,
        after,
        limit,
      );
      return rows.map(siteHashOf);
    },
  };
}
