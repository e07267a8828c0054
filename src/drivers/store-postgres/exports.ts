import type { Export } from '../../core/model/export.ts';
import type { ExportId } from '../../core/model/ids.ts';
import type { ExportStore } from '../../core/ports/export-store.ts';
import { EXPIRED_COLUMNS } from '../store-rows/expiry.ts';
import { exportEventOf, exportOf, pageKeyOf } from '../store-rows/export-rows.ts';
import { cursorOf, pageFromRow, sliceOf } from '../store-rows/rows.ts';
import { NOW, type PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

const IS_HELD = `id = $1 AND attempts = $2 AND status = 'running'`;

export function createPostgresExportStore(database: PostgresDatabase): ExportStore {
  const find = async (sql: string, values: readonly unknown[]): Promise<Export | null> => {
    const [row] = await database.query(sql, values);
    return row === undefined ? null : exportOf(row);
  };

  /** Ends the export by the statement, and tells of it in the same transaction. */
  const end = (type: 'export.ready' | 'export.failed', sql: string, values: readonly unknown[]) =>
    database.transaction(async (query) => {
      const [row] = await query(sql, values);
      if (row === undefined) return false;
      const ended = exportOf(row);
      await query(`SELECT write_event($1, $2, $3, ${NOW}, $4::jsonb)`, [
        type,
        ended.accountId,
        ended.jobId,
        jsonParameter(exportEventOf(ended)),
      ]);
      return true;
    });

  return {
    async createExport({ id, accountId, jobId, spec, secret }) {
      // The row of the job is locked, so that an export is not made while the job is deleted.
      await database.query(
        `INSERT INTO exports (id, account_id, job_id, spec, secret, status, due_at, created_at)
         SELECT $1, account_id, id, $2, $3, 'pending', ${NOW}, ${NOW} FROM jobs WHERE id = $4 AND account_id = $5
         FOR KEY SHARE ON CONFLICT (id) DO NOTHING`,
        [id, jsonParameter(spec), secret, jobId, accountId],
      );
      return find('SELECT * FROM exports WHERE id = $1 AND account_id = $2', [id, accountId]);
    },

    getExport: (account, id) =>
      find('SELECT * FROM exports WHERE account_id = $1 AND id = $2', [account, id]),

    findExport: (id) => find('SELECT * FROM exports WHERE id = $1', [id]),

    async listExports({ accountId, jobId, cursor, limit }) {
      const rows = await database.query(
        `SELECT * FROM exports WHERE account_id = $1 AND seq < $2 AND ($3::text IS NULL OR job_id = $3)
         ORDER BY seq DESC LIMIT $4`,
        [accountId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), jobId ?? null, limit + 1],
      );
      return sliceOf(rows, limit, 'seq', exportOf);
    },

    deleteExport: (account, id) =>
      find('DELETE FROM exports WHERE account_id = $1 AND id = $2 RETURNING *', [account, id]),

    claimExport: (leaseMs) =>
      find(
        `UPDATE exports SET failures = failures + CASE WHEN status = 'running' THEN 1 ELSE 0 END, status = 'running',
           attempts = attempts + 1, due_at = ${NOW} + $1, row_count = 0, size_bytes = 0,
           started_at = coalesce(started_at, ${NOW})
         WHERE id = (
           SELECT id FROM exports WHERE due_at <= ${NOW} ORDER BY due_at, seq LIMIT 1 FOR UPDATE SKIP LOCKED
         ) RETURNING *`,
        [leaseMs],
      ),

    async renewExport({ id, attempt }, { rows, sizeBytes }, leaseMs) {
      const changed = await database.query(
        `UPDATE exports SET due_at = ${NOW} + $3, row_count = $4, size_bytes = $5 WHERE ${IS_HELD} RETURNING seq`,
        [id, attempt, leaseMs, rows, sizeBytes],
      );
      return changed.length > 0;
    },

    finishExport: ({ id, attempt }, { rows, sizeBytes, sha256 }) =>
      end(
        'export.ready',
        `UPDATE exports SET status = 'ready', due_at = NULL, row_count = $3, size_bytes = $4, sha256 = $5, error = NULL,
           finished_at = ${NOW} WHERE ${IS_HELD} RETURNING *`,
        [id, attempt, rows, sizeBytes, sha256],
      ),

    async failExport({ id, attempt }, error, retryInMs) {
      const failed = 'failures = failures + 1, error = $3, row_count = 0, size_bytes = 0';
      const values = [id, attempt, jsonParameter(error)];
      if (retryInMs === null) {
        return end(
          'export.failed',
          `UPDATE exports SET ${failed}, status = 'failed', due_at = NULL, finished_at = ${NOW} WHERE ${IS_HELD}
           RETURNING *`,
          values,
        );
      }
      const changed = await database.query(
        `UPDATE exports SET ${failed}, status = 'pending', due_at = ${NOW} + $4 WHERE ${IS_HELD} RETURNING seq`,
        [...values, retryInMs],
      );
      return changed.length > 0;
    },

    async releaseExport({ id, attempt }) {
      await database.query(
        `UPDATE exports SET status = 'pending', due_at = ${NOW}, row_count = 0, size_bytes = 0 WHERE ${IS_HELD}`,
        [id, attempt],
      );
    },

    async endExportLeases() {
      await database.query(`UPDATE exports SET due_at = ${NOW} WHERE status = 'running'`);
    },

    async knownExports(ids) {
      const rows = await database.query('SELECT id FROM exports WHERE id = ANY ($1::text[])', [ids]);
      return rows.map((row) => String(row.id) as ExportId);
    },

    async deleteOldExports({ accountId, jobId, endedBefore, limit, isDryRun = false }) {
      const old =
        'FROM exports WHERE account_id = $1 AND finished_at < $2 AND ($3::text IS NULL OR job_id = $3)';
      const values = [accountId, Math.floor(endedBefore), jobId ?? null];
      const [row] = isDryRun
        ? await database.query(`SELECT count(*) AS n, coalesce(sum(size_bytes), 0) AS bytes ${old}`, values)
        : await database.query(
            `WITH gone AS (
               DELETE FROM exports WHERE seq IN (SELECT seq ${old} LIMIT $4) RETURNING size_bytes
             ) SELECT count(*) AS n, coalesce(sum(size_bytes), 0) AS bytes FROM gone`,
            [...values, limit],
          );
      return { exports: Number(row?.n), bytes: Number(row?.bytes) };
    },

    async listPageKeys({ jobId, cursor, limit }) {
      const rows = await database.query(
        `SELECT seq, task_id, url, bytes FROM pages WHERE job_seq = (SELECT seq FROM jobs WHERE id = $1) AND seq > $2
         ORDER BY seq LIMIT $3`,
        [jobId, cursorOf(cursor, 0), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', pageKeyOf);
    },

    async pagesOfTasks(jobId, taskIds) {
      const rows = await database.query(
        `SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p LEFT JOIN job_expiry e ON e.job_seq = p.job_seq
         WHERE p.job_seq = (SELECT seq FROM jobs WHERE id = $1) AND p.task_id = ANY ($2::bigint[])`,
        [jobId, taskIds],
      );
      return rows.map(pageFromRow);
    },
  };
}
