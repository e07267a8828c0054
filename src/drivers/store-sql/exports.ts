import type { Export, ExportError, ExportSpec, ExportStatus } from '../../core/model/export.ts';
import type { AccountId, ExportId, JobId } from '../../core/model/ids.ts';
import type { ExportLease, ExportStore } from '../../core/ports/export-store.ts';
import { cursorOf, type Row } from '../store-rows/rows.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { CLOCK, FOR_KEY_SHARE, given, json, oneOf, SKIP_LOCKED, type Sql, sql } from './sql.ts';
import { all, changed, find, list, one, run, type Steps, slice, tell } from './steps.ts';

const maybeNumber = (value: unknown): number | null => (value === null ? null : Number(value));

/** Bytes of the files of an account (a). */
export const EXPORTED_BYTES =
  "(SELECT coalesce(sum(size_bytes), 0) FROM exports x WHERE x.account_id = a.id AND x.status = 'ready')";

const isHeld = ({ id, attempt }: ExportLease): Sql =>
  sql`id = ${id} AND attempts = ${attempt} AND status = 'running'`;

/** Ends the export by the statement, and tells of it. */
function* end(type: 'export.ready' | 'export.failed', statement: Sql): Steps<boolean> {
  const ended = yield* find(sql`${statement} RETURNING *`, exportOf);
  if (ended === null) return false;
  yield* tell({ type, accountId: ended.accountId, jobId: ended.jobId, data: exportEventOf(ended) });
  return true;
}

/**
 * The account whose turn it is. Its newest exports wait, and are few, so that the newest begun one is found soon; an account
 * that deletes what was written for it has none begun, which is why the last one served is given.
 */
const nextAccount = (lastServed: AccountId | null): Sql => sql`(
  SELECT account_id FROM (
    SELECT account_id, min(due_at) AS due_since FROM exports WHERE due_at <= ${CLOCK} GROUP BY account_id
  ) waiting
  ORDER BY CASE WHEN account_id = ${lastServed ?? ''} THEN 1 ELSE 0 END,
    coalesce((SELECT started_at FROM exports begun WHERE begun.account_id = waiting.account_id
      AND started_at IS NOT NULL ORDER BY seq DESC LIMIT 1), 0), due_since
  LIMIT 1)`;

export const exportStore: Methods<ExportStore> = {
  createExport: change(function* ({ id, accountId, jobId, spec, secret }) {
    // The row of the job is locked, so that an export is not made while the job is deleted.
    yield* run(
      sql`INSERT INTO exports (id, account_id, job_id, spec, secret, status, due_at, created_at)
        SELECT ${id}, account_id, id, ${json(spec)}, ${secret}, 'pending', ${CLOCK}, ${CLOCK}
        FROM jobs WHERE id = ${jobId} AND account_id = ${accountId} ${FOR_KEY_SHARE} ON CONFLICT (id) DO NOTHING`,
    );
    return yield* find(sql`SELECT * FROM exports WHERE id = ${id} AND account_id = ${accountId}`, exportOf);
  }),

  getExport: read((account, id) =>
    find(sql`SELECT * FROM exports WHERE account_id = ${account} AND id = ${id}`, exportOf),
  ),

  findExport: read((id) => find(sql`SELECT * FROM exports WHERE id = ${id}`, exportOf)),

  listExports: read(({ accountId, jobId, cursor, limit }) =>
    slice(
      sql`SELECT * FROM exports
        WHERE account_id = ${accountId} AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
          ${given(jobId, (id) => sql`AND job_id = ${id}`)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      exportOf,
    ),
  ),

  deleteExport: change(
    (account, id) =>
      find(sql`DELETE FROM exports WHERE account_id = ${account} AND id = ${id} RETURNING *`, exportOf),
    { isReserved: true },
  ),

  countOpenExports: read((account) =>
    one(
      sql`SELECT count(*) AS n FROM exports WHERE account_id = ${account} AND due_at IS NOT NULL`,
      ({ n }) => Number(n),
    ),
  ),

  // The file of an export that was claimed is written anew, so a claim that is lost does no harm.
  claimExport: change(
    (leaseMs, lastServed = null) =>
      find(
        sql`UPDATE exports SET failures = failures + CASE WHEN status = 'running' THEN 1 ELSE 0 END, status = 'running',
            attempts = attempts + 1, due_at = ${CLOCK} + ${leaseMs}, row_count = 0, size_bytes = 0,
            started_at = coalesce(started_at, ${CLOCK})
          WHERE id = (SELECT id FROM exports WHERE due_at <= ${CLOCK} AND account_id = ${nextAccount(lastServed)}
            ORDER BY due_at, seq LIMIT 1 ${SKIP_LOCKED})
          RETURNING *`,
        exportOf,
      ),
    { isUnsynced: true },
  ),

  renewExport: change(
    (lease, { rows, sizeBytes }, leaseMs) =>
      changed(
        sql`UPDATE exports SET due_at = ${CLOCK} + ${leaseMs}, row_count = ${rows}, size_bytes = ${sizeBytes}
          WHERE ${isHeld(lease)}`,
      ),
    { isUnsynced: true },
  ),

  finishExport: transaction((lease, { rows, sizeBytes, sha256 }) =>
    end(
      'export.ready',
      sql`UPDATE exports SET status = 'ready', due_at = NULL, row_count = ${rows}, size_bytes = ${sizeBytes},
          sha256 = ${sha256}, error = NULL, finished_at = ${CLOCK} WHERE ${isHeld(lease)}`,
    ),
  ),

  failExport: transaction(function* (lease, error, retryInMs) {
    const failed = sql`UPDATE exports SET failures = failures + 1, error = ${json(error)}, row_count = 0, size_bytes = 0`;
    if (retryInMs === null) {
      return yield* end(
        'export.failed',
        sql`${failed}, status = 'failed', due_at = NULL, finished_at = ${CLOCK} WHERE ${isHeld(lease)}`,
      );
    }
    return yield* changed(
      sql`${failed}, status = 'pending', due_at = ${CLOCK} + ${retryInMs} WHERE ${isHeld(lease)}`,
    );
  }),

  releaseExport: change(
    function* (lease) {
      yield* run(
        sql`UPDATE exports SET status = 'pending', due_at = ${CLOCK}, row_count = 0, size_bytes = 0
          WHERE ${isHeld(lease)}`,
      );
    },
    { isUnsynced: true },
  ),

  endExportLeases: change(
    function* () {
      yield* run(sql`UPDATE exports SET due_at = ${CLOCK} WHERE status = 'running'`);
    },
    { isUnsynced: true },
  ),

  knownExports: read((ids) =>
    list(sql`SELECT id FROM exports WHERE id ${oneOf(ids, 'text')}`, (row) => String(row.id) as ExportId),
  ),

  deleteOldExports: change(
    function* ({ accountId, jobId, endedBefore, limit, isDryRun = false }) {
      const old = sql`FROM exports WHERE account_id = ${accountId} AND finished_at < ${Math.floor(endedBefore)}
        ${given(jobId, (id) => sql`AND job_id = ${id}`)}`;
      if (isDryRun) {
        return yield* one(
          sql`SELECT count(*) AS n, coalesce(sum(size_bytes), 0) AS bytes ${old}`,
          ({ n, bytes }) => ({ exports: Number(n), bytes: Number(bytes) }),
        );
      }
      const rows = yield* all(
        sql`DELETE FROM exports WHERE seq IN (SELECT seq ${old} LIMIT ${limit}) RETURNING size_bytes`,
      );
      return { exports: rows.length, bytes: rows.reduce((sum, row) => sum + Number(row.size_bytes), 0) };
    },
    { isReserved: true },
  ),
};

function exportOf(row: Row): Export {
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

/** What the events of an export tell. */
function exportEventOf({ id, spec, status, rows, sizeBytes, sha256, error }: Export) {
  const { type, format } = spec;
  const what = { exportId: id, type, format, status };
  return status === 'ready' ? { ...what, rows, sizeBytes, sha256 } : { ...what, error };
}
