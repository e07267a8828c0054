import type { AccountId } from '../../core/model/ids.ts';
import type { RetentionStore } from '../../core/ports/retention-store.ts';
import {
  DELETED_ACCOUNT,
  expiredPagesOf,
  LEDGER,
  RETAINED_COLUMNS,
  retainedJobOf,
} from '../store-rows/expiry.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
import type { PostgresDatabase, Query } from './database.ts';
import { MAY_BE_RENDERED } from './references.ts';

const PART_COLUMNS = {
  bodies: 'seq, fetched_at, bytes, content_hash',
  artifacts: `seq, fetched_at, CASE WHEN ${MAY_BE_RENDERED} THEN record END AS record`,
  records: 'seq, fetched_at, octet_length(record) AS record_bytes',
};

export function createPostgresRetentionStore(database: PostgresDatabase): RetentionStore {
  return {
    async listAccountIds({ after, limit }) {
      const rows = await database.query(
        'SELECT id FROM accounts WHERE id COLLATE "C" > $1 AND id <> $2 ORDER BY id COLLATE "C" LIMIT $3',
        [after ?? '', DELETED_ACCOUNT, limit],
      );
      return rows.map(({ id }) => String(id) as AccountId);
    },

    async listRetained({ accountId, cursor, limit }) {
      const rows = await database.query(
        `SELECT ${RETAINED_COLUMNS}, j.options->'retention' AS ages
         FROM jobs j LEFT JOIN job_expiry e ON e.job_seq = j.seq
         WHERE j.account_id = $1 AND j.seq < $2 ORDER BY j.seq DESC LIMIT $3`,
        [accountId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', retainedJobOf);
    },

    expirePages({ jobSeq, part, fetchedBefore, limit, dryFrom }) {
      return database.transaction(async (query) => {
        // The row of the job is not locked: crawls go on. Two that expire the same pages write the same.
        const [found] =
          dryFrom === undefined
            ? await query(`SELECT ${part} AS at FROM job_expiry WHERE job_seq = $1`, [jobSeq])
            : [{ at: dryFrom }];
        const from = Number(found?.at ?? 0);
        const rows = await query(
          `SELECT ${PART_COLUMNS[part]} FROM pages WHERE job_seq = $1 AND seq >= $2 ORDER BY seq LIMIT $3`,
          [jobSeq, from, limit],
        );
        const { end, ...expired } = expiredPagesOf(rows, { part, fetchedBefore, limit });
        if (end === null || dryFrom !== undefined) return expired;
        if (part === 'records') {
          await query('UPDATE pages SET record = NULL WHERE job_seq = $1 AND seq >= $2 AND seq < $3', [
            jobSeq,
            from,
            end,
          ]);
        }
        await query(
          `INSERT INTO job_expiry AS e (job_seq, ${part}) SELECT seq, $2 FROM jobs WHERE seq = $1
           ON CONFLICT (job_seq) DO UPDATE SET ${part} = greatest(e.${part}, excluded.${part})`,
          [jobSeq, end],
        );
        return expired;
      });
    },

    expireLedger(jobSeq) {
      return database.transaction(async (query) => {
        // Under the lock of the job: it is resumed before, and is not over, or after, and is refused.
        const [ended] = await query(
          'SELECT seq FROM jobs WHERE seq = $1 AND finished_at IS NOT NULL FOR NO KEY UPDATE',
          [jobSeq],
        );
        if (ended === undefined) return false;
        const rows = await query(
          `INSERT INTO job_expiry AS e (job_seq, ledger) VALUES ($1, ${LEDGER.deleting})
           ON CONFLICT (job_seq) DO UPDATE SET ledger = excluded.ledger WHERE e.ledger = 0 RETURNING job_seq`,
          [jobSeq],
        );
        return rows.length > 0;
      });
    },

    purge(limit) {
      return database.transaction(async (query) => {
        const [deleted] = await query(
          'SELECT seq FROM jobs WHERE account_id = $1 ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED',
          [DELETED_ACCOUNT],
        );
        const [job] =
          deleted === undefined
            ? await query(
                `SELECT job_seq AS seq FROM job_expiry WHERE ledger = ${LEDGER.deleting}
                 ORDER BY job_seq LIMIT 1 FOR UPDATE SKIP LOCKED`,
              )
            : [deleted];
        if (job === undefined) return 0;
        const rows = await deleteRows(query, job.seq, limit);
        if (rows === limit) return rows;
        await query(
          deleted === undefined
            ? `UPDATE job_expiry SET ledger = ${LEDGER.gone} WHERE job_seq = $1`
            : 'DELETE FROM jobs WHERE seq = $1',
          [job.seq],
        );
        return rows + 1;
      });
    },

    // The server makes the space of deleted rows free for new ones by itself.
    compact: () => Promise.resolve(),

    async deleteOldRobots(expiredBefore, limit) {
      const rows = await database.query(
        `DELETE FROM robots WHERE origin IN (
           SELECT origin FROM robots WHERE expires_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
         ) RETURNING origin`,
        [expiredBefore, limit],
      );
      return rows.length;
    },
  };
}

/** Pages before tasks: a page refers to its task. */
async function deleteRows(query: Query, jobSeq: unknown, limit: number): Promise<number> {
  const deleteFrom = async (table: 'pages' | 'tasks', key: 'seq' | 'id', most: number) => {
    const [row] = await query(
      `WITH gone AS (
         DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE job_seq = $1 LIMIT $2) RETURNING 1
       ) SELECT count(*) AS n FROM gone`,
      [jobSeq, most],
    );
    return Number(row?.n);
  };
  const pages = await deleteFrom('pages', 'seq', limit);
  return pages === limit ? pages : pages + (await deleteFrom('tasks', 'id', limit - pages));
}
