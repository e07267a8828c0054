import type { JobId } from '../../core/model/ids.ts';
import type { PageKeyStore, SiteStore } from '../../core/ports/job-pages-store.ts';
import { EXPIRED_COLUMNS } from '../store-rows/expiry.ts';
import { pageKeyOf } from '../store-rows/export-rows.ts';
import { cursorOf, pageFromRow } from '../store-rows/rows.ts';
import { SITE_HASH_COLUMNS, SITE_PAGE_COLUMNS, siteHashOf, sitePageOf } from '../store-rows/site-rows.ts';
import { type Methods, read } from './methods.ts';
import { given, oneOf, raw, sql } from './sql.ts';
import { list, slice } from './steps.ts';

const isOfJob = (id: JobId, after: string) =>
  sql`t.job_seq = (SELECT seq FROM jobs WHERE id = ${id}) AND t.url_key > ${after} AND t.kind = 'page'`;

export const jobPagesStore: Methods<SiteStore & PageKeyStore> = {
  listSitePages: read(({ jobId, after = '', urlKeys, limit }) =>
    list(
      sql`SELECT ${raw(SITE_PAGE_COLUMNS)} FROM tasks t LEFT JOIN tasks f ON f.id = t.found_on
        LEFT JOIN pages p ON p.task_id = t.id LEFT JOIN job_expiry e ON e.job_seq = t.job_seq
        WHERE ${isOfJob(jobId, after)} ${given(urlKeys, (keys) => sql`AND t.url_key ${oneOf(keys, 'text')}`)}
        ORDER BY t.url_key LIMIT ${limit}`,
      sitePageOf,
    ),
  ),

  listSiteHashes: read(({ jobId, after = '', limit }) =>
    list(
      sql`SELECT ${raw(SITE_HASH_COLUMNS)} FROM tasks t LEFT JOIN pages p ON p.task_id = t.id
        WHERE ${isOfJob(jobId, after)} ORDER BY t.url_key LIMIT ${limit}`,
      siteHashOf,
    ),
  ),

  listPageKeys: read(({ jobId, cursor, limit }) =>
    slice(
      sql`SELECT seq, task_id, url, bytes FROM pages
        WHERE job_seq = (SELECT seq FROM jobs WHERE id = ${jobId}) AND seq > ${cursorOf(cursor, 0)}
        ORDER BY seq LIMIT ${limit + 1}`,
      limit,
      pageKeyOf,
    ),
  ),

  pagesOfTasks: read((jobId, taskIds) =>
    list(
      sql`SELECT p.*, ${raw(EXPIRED_COLUMNS)} FROM pages p LEFT JOIN job_expiry e ON e.job_seq = p.job_seq
        WHERE p.job_seq = (SELECT seq FROM jobs WHERE id = ${jobId}) AND p.task_id ${oneOf(taskIds, 'bigint')}`,
      pageFromRow,
    ),
  ),
};
