import type { Export, ExportError, ExportSpec, ExportStatus } from '../../core/model/export.ts';
import type { AccountId, ExportId, JobId, TaskId } from '../../core/model/ids.ts';
import type { PageKey } from '../../core/ports/job-pages-store.ts';
import type { Row } from './rows.ts';

const maybeNumber = (value: unknown): number | null => (value === null ? null : Number(value));

export function exportOf(row: Row): Export {
  return {
    id: String(row.id) as ExportId,
    accountId: String(row.account_id) as AccountId,
    jobId: String(row.job_id) as JobId,
    spec: JSON.parse(String(row.spec)) as ExportSpec,
    secret: String(row.secret),
    status: String(row.status) as ExportStatus,
    attempts: Number(row.attempts),
    failures: Number(row.failures),
    rows: Number(row.row_count),
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256 === null ? null : String(row.sha256),
    error: row.error === null ? null : (JSON.parse(String(row.error)) as ExportError),
    createdAt: Number(row.created_at),
    startedAt: maybeNumber(row.started_at),
    finishedAt: maybeNumber(row.finished_at),
  };
}

export const pageKeyOf = (row: Row): PageKey => ({
  taskId: Number(row.task_id) as TaskId,
  url: String(row.url),
  bytes: Number(row.bytes),
});

/** What the events of an export tell. */
export function exportEventOf({ id, spec, status, rows, sizeBytes, sha256, error }: Export) {
  const { type, format } = spec;
  const what = { exportId: id, type, format, status };
  return status === 'ready' ? { ...what, rows, sizeBytes, sha256 } : { ...what, error };
}

/** Bytes of the files of an account (a). */
export const EXPORTED_BYTES =
  "(SELECT coalesce(sum(size_bytes), 0) FROM exports x WHERE x.account_id = a.id AND x.status = 'ready')";
