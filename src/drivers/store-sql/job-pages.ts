import type { ErrorCode } from '../../core/errors/registry.ts';
import type { JobId, TaskId, UrlKey } from '../../core/model/ids.ts';
import type { FoundBy, TaskState } from '../../core/model/task.ts';
import type {
  PageKey,
  PageKeyStore,
  SiteHash,
  SitePage,
  SiteStore,
} from '../../core/ports/job-pages-store.ts';
import { EXPIRED_COLUMNS } from '../store-rows/expiry.ts';
import { cursorOf, pageFromRow, type Row } from '../store-rows/rows.ts';
import { type Methods, read } from './methods.ts';
import { given, oneOf, raw, sql } from './sql.ts';
import { list, slice } from './steps.ts';

/** Columns of tasks (t), the task that found it (f), its page (p) and what has expired of the job (e). */
const SITE_PAGE_COLUMNS = `p.*, ${EXPIRED_COLUMNS}, t.url_key, t.url AS task_url, t.state AS task_state,
  t.rule AS task_rule, t.error_code AS task_error, t.found_by, f.url AS found_on_url`;

const SITE_HASH_COLUMNS = `t.url_key, t.url, t.rule,
  CASE WHEN t.state = 'done' AND p.error_code IS NULL THEN p.text_hash END AS text_hash`;

const isOfJob = (id: JobId, after: string) =>
  sql`t.job_seq = (SELECT seq FROM jobs WHERE id = ${id}) AND t.url_key > ${after} AND t.kind = 'page'`;

const pageKeyOf = (row: Row): PageKey => ({
  taskId: Number(row.task_id) as TaskId,
  url: String(row.url),
  bytes: Number(row.bytes),
});

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

function sitePageOf(row: Row): SitePage {
  return {
    urlKey: row.url_key as UrlKey,
    url: row.task_url as string,
    state: row.task_state as TaskState,
    rule: row.task_rule as string | null,
    errorCode: row.task_error as ErrorCode | null,
    foundBy: row.found_by as FoundBy,
    foundOn: row.found_on_url as string | null,
    page: row.task_id === null ? null : pageFromRow(row),
  };
}

function siteHashOf(row: Row): SiteHash {
  return {
    urlKey: row.url_key as UrlKey,
    url: row.url as string,
    rule: row.rule as string | null,
    textHash: row.text_hash as string | null,
  };
}
