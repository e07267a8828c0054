import type { Export } from '../../core/model/export.ts';
import type { ExportId } from '../../core/model/ids.ts';
import type { ExportLease, ExportStore } from '../../core/ports/export-store.ts';
import { EXPIRED_COLUMNS } from '../store-rows/expiry.ts';
import { exportEventOf, exportOf, pageKeyOf } from '../store-rows/export-rows.ts';
import { cursorOf, pageFromRow, sliceOf } from '../store-rows/rows.ts';
import type { SqliteDatabase } from './database.ts';
import { writeEvent } from './event-log.ts';
import type { Synchronous } from './synchronous.ts';

const IS_HELD = `id = ? AND attempts = ? AND status = 'running'`;

export function createSqliteExportStore(
  database: SqliteDatabase,
  clock: () => number,
): Synchronous<ExportStore> {
  const find = (sql: string, ...values: (string | number)[]): Export | null => {
    const row = database.get(sql, ...values);
    return row === undefined ? null : exportOf(row);
  };
  const held = ({ id, attempt }: ExportLease) => [id, attempt] as const;

  function tell(type: 'export.ready' | 'export.failed', id: string, now: number): void {
    const done = find('SELECT * FROM exports WHERE id = ?', id);
    if (done === null) return;
    const { accountId, jobId } = done;
    writeEvent(database, { type, accountId, jobId, data: exportEventOf(done) }, now);
  }

  return {
    createExport({ id, accountId, jobId, spec, secret }) {
      const now = clock();
      database.run(
        `INSERT INTO exports (id, account_id, job_id, spec, secret, status, due_at, created_at)
         SELECT ?, account_id, id, ?, ?, 'pending', ?, ? FROM jobs WHERE id = ? AND account_id = ?
         ON CONFLICT (id) DO NOTHING`,
        id,
        JSON.stringify(spec),
        secret,
        now,
        now,
        jobId,
        accountId,
      );
      return find('SELECT * FROM exports WHERE id = ? AND account_id = ?', id, accountId);
    },

    getExport: (account, id) => find('SELECT * FROM exports WHERE account_id = ? AND id = ?', account, id),

    findExport: (id) => find('SELECT * FROM exports WHERE id = ?', id),

    listExports({ accountId, jobId, cursor, limit }) {
      const rows = database.all(
        `SELECT * FROM exports WHERE account_id = ? AND seq < ? AND ${jobId === undefined ? '? IS NULL' : 'job_id = ?'}
         ORDER BY seq DESC LIMIT ?`,
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        jobId ?? null,
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', exportOf);
    },

    deleteExport: (account, id) =>
      find('DELETE FROM exports WHERE account_id = ? AND id = ? RETURNING *', account, id),

    claimExport(leaseMs) {
      const now = clock();
      return find(
        `UPDATE exports SET failures = failures + (status = 'running'), status = 'running', attempts = attempts + 1,
           due_at = ?, row_count = 0, size_bytes = 0, started_at = coalesce(started_at, ?)
         WHERE id = (SELECT id FROM exports WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1) RETURNING *`,
        now + leaseMs,
        now,
        now,
      );
    },

    renewExport: (lease, { rows, sizeBytes }, leaseMs) =>
      database.run(
        `UPDATE exports SET due_at = ?, row_count = ?, size_bytes = ? WHERE ${IS_HELD}`,
        clock() + leaseMs,
        rows,
        sizeBytes,
        ...held(lease),
      ) > 0,

    finishExport(lease, { rows, sizeBytes, sha256 }) {
      const now = clock();
      const changed = database.run(
        `UPDATE exports SET status = 'ready', due_at = NULL, row_count = ?, size_bytes = ?, sha256 = ?, error = NULL,
           finished_at = ? WHERE ${IS_HELD}`,
        rows,
        sizeBytes,
        sha256,
        now,
        ...held(lease),
      );
      if (changed > 0) tell('export.ready', lease.id, now);
      return changed > 0;
    },

    failExport(lease, error, retryInMs) {
      const now = clock();
      const isOver = retryInMs === null;
      const changed = database.run(
        `UPDATE exports SET status = ?, failures = failures + 1, due_at = ?, error = ?, finished_at = ?, row_count = 0,
           size_bytes = 0 WHERE ${IS_HELD}`,
        isOver ? 'failed' : 'pending',
        isOver ? null : now + retryInMs,
        JSON.stringify(error),
        isOver ? now : null,
        ...held(lease),
      );
      if (changed > 0 && isOver) tell('export.failed', lease.id, now);
      return changed > 0;
    },

    releaseExport(lease) {
      database.run(
        `UPDATE exports SET status = 'pending', due_at = ?, row_count = 0, size_bytes = 0 WHERE ${IS_HELD}`,
        clock(),
        ...held(lease),
      );
    },

    endExportLeases() {
      database.run("UPDATE exports SET due_at = ? WHERE status = 'running'", clock());
    },

    knownExports: (ids) =>
      database
        .all('SELECT id FROM exports WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
        .map((row) => String(row.id) as ExportId),

    deleteOldExports({ accountId, jobId, endedBefore, limit, isDryRun = false }) {
      const old = 'FROM exports WHERE account_id = ?1 AND finished_at < ?2 AND (?3 IS NULL OR job_id = ?3)';
      const values = [accountId, endedBefore, jobId ?? null] as const;
      const rows = isDryRun
        ? database.all(`SELECT size_bytes ${old}`, ...values)
        : database.all(
            `DELETE FROM exports WHERE seq IN (SELECT seq ${old} LIMIT ?4) RETURNING size_bytes`,
            ...values,
            limit,
          );
      return { exports: rows.length, bytes: rows.reduce((sum, row) => sum + Number(row.size_bytes), 0) };
    },

    listPageKeys({ jobId, cursor, limit }) {
      const rows = database.all(
        `SELECT seq, task_id, url, bytes FROM pages WHERE job_seq = (SELECT seq FROM jobs WHERE id = ?) AND seq > ?
         ORDER BY seq LIMIT ?`,
        jobId,
        cursorOf(cursor, 0),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', pageKeyOf);
    },

    pagesOfTasks: (jobId, taskIds) =>
      database
        .all(
          `SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
           LEFT JOIN job_expiry e ON e.job_seq = j.seq
           WHERE j.id = ? AND p.task_id IN (SELECT value FROM json_each(?))`,
          jobId,
          JSON.stringify(taskIds),
        )
        .map(pageFromRow),
  };
}
