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
import type { SqliteDatabase } from './database.ts';
import { RENDERED_RECORD } from './references.ts';
import type { Synchronous } from './synchronous.ts';

/** Columns in front of the record come first: a long record lies on pages of its own, which need not be read for them. */
const PART_COLUMNS = {
  bodies: 'seq, fetched_at, bytes, content_hash',
  artifacts: `seq, fetched_at, ${RENDERED_RECORD} AS record`,
  records: 'seq, fetched_at, length(record) AS record_bytes',
};

/** VACUUM writes the whole file anew: that is worth it when an eighth of it is free. */
const LEAST_FREE_SHARE = 8;

export function createSqliteRetentionStore(database: SqliteDatabase): Synchronous<RetentionStore> {
  return {
    listAccountIds({ after, limit }) {
      return database
        .all(
          'SELECT id FROM accounts WHERE id > ? AND id <> ? ORDER BY id LIMIT ?',
          after ?? '',
          DELETED_ACCOUNT,
          limit,
        )
        .map(({ id }) => id as AccountId);
    },

    listRetained({ accountId, cursor, limit }) {
      const rows = database.all(
        `SELECT ${RETAINED_COLUMNS}, json_extract(j.options, '$.retention') AS ages
         FROM jobs j LEFT JOIN job_expiry e ON e.job_seq = j.seq
         WHERE j.account_id = ? AND j.seq < ? ORDER BY j.seq DESC LIMIT ?`,
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', retainedJobOf);
    },

    expirePages({ jobSeq, part, fetchedBefore, limit, dryFrom }) {
      const from =
        dryFrom ??
        Number(database.get(`SELECT ${part} AS at FROM job_expiry WHERE job_seq = ?`, jobSeq)?.at ?? 0);
      const rows = database.all(
        `SELECT ${PART_COLUMNS[part]} FROM pages WHERE job_seq = ? AND seq >= ? ORDER BY seq LIMIT ?`,
        jobSeq,
        from,
        limit,
      );
      const { end, ...expired } = expiredPagesOf(rows, { part, fetchedBefore, limit });
      if (end === null || dryFrom !== undefined) return expired;
      if (part === 'records') {
        database.run(
          'UPDATE pages SET record = NULL WHERE job_seq = ? AND seq >= ? AND seq < ?',
          jobSeq,
          from,
          end,
        );
      }
      database.run(
        `INSERT INTO job_expiry (job_seq, ${part}) VALUES (?, ?)
         ON CONFLICT (job_seq) DO UPDATE SET ${part} = max(${part}, excluded.${part})`,
        jobSeq,
        end,
      );
      return expired;
    },

    expireLedger(jobSeq) {
      return (
        database.run(
          `INSERT INTO job_expiry (job_seq, ledger)
           SELECT seq, ${LEDGER.deleting} FROM jobs WHERE seq = ? AND finished_at IS NOT NULL
           ON CONFLICT (job_seq) DO UPDATE SET ledger = excluded.ledger WHERE job_expiry.ledger = 0`,
          jobSeq,
        ) > 0
      );
    },

    purge(limit) {
      const deleted = database.get(
        'SELECT seq FROM jobs WHERE account_id = ? ORDER BY seq LIMIT 1',
        DELETED_ACCOUNT,
      );
      const job =
        deleted ??
        database.get(`SELECT job_seq AS seq FROM job_expiry WHERE ledger = ${LEDGER.deleting} LIMIT 1`);
      if (job === undefined) return 0;
      const seq = Number(job.seq);
      const rows = deleteRows(database, seq, limit);
      if (rows === limit) return rows;
      if (deleted === undefined) {
        database.run(`UPDATE job_expiry SET ledger = ${LEDGER.gone} WHERE job_seq = ?`, seq);
      } else database.run('DELETE FROM jobs WHERE seq = ?', seq);
      return rows + 1;
    },

    compact() {
      const pages = (name: string) => Number(database.get(`PRAGMA ${name}`)?.[name]);
      if (pages('freelist_count') < pages('page_count') / LEAST_FREE_SHARE) return;
      database.exec('VACUUM');
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },

    deleteOldRobots(expiredBefore, limit) {
      return database.run(
        'DELETE FROM robots WHERE origin IN (SELECT origin FROM robots WHERE expires_at < ? LIMIT ?)',
        expiredBefore,
        limit,
      );
    },
  };
}

/** Pages before tasks: a page refers to its task. */
function deleteRows(database: SqliteDatabase, jobSeq: number, limit: number): number {
  const pages = database.run(
    'DELETE FROM pages WHERE seq IN (SELECT seq FROM pages WHERE job_seq = ? LIMIT ?)',
    jobSeq,
    limit,
  );
  if (pages === limit) return pages;
  return (
    pages +
    database.run(
      'DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE job_seq = ? LIMIT ?)',
      jobSeq,
      limit - pages,
    )
  );
}
