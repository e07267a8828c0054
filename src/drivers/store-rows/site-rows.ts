import type { ErrorCode } from '../../core/errors/registry.ts';
import type { UrlKey } from '../../core/model/ids.ts';
import type { FoundBy, TaskState } from '../../core/model/task.ts';
import type { SiteHash, SitePage } from '../../core/ports/job-pages-store.ts';
import { EXPIRED_COLUMNS } from './expiry.ts';
import { pageFromRow, type Row } from './rows.ts';

/** Columns of tasks (t), the task that found it (f), its page (p) and what has expired of the job (e). */
export const SITE_PAGE_COLUMNS = `p.*, ${EXPIRED_COLUMNS}, t.url_key, t.url AS task_url, t.state AS task_state,
  t.rule AS task_rule, t.error_code AS task_error, t.found_by, f.url AS found_on_url`;

export function sitePageOf(row: Row): SitePage {
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

export const SITE_HASH_COLUMNS = `t.url_key, t.url, t.rule,
  CASE WHEN t.state = 'done' AND p.error_code IS NULL THEN p.text_hash END AS text_hash`;

export function siteHashOf(row: Row): SiteHash {
  return {
    urlKey: row.url_key as UrlKey,
    url: row.url as string,
    rule: row.rule as string | null,
    textHash: row.text_hash as string | null,
  };
}
