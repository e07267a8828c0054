import type { AccountId } from '../../core/model/ids.ts';
import type { RetentionStore } from '../../core/ports/retention-store.ts';
import {
  DELETED_ACCOUNT,
  expiredPagesOf,
  LEDGER,
  MAY_BE_RENDERED,
  RETAINED_COLUMNS,
  retainedJobOf,
} from '../store-rows/expiry.ts';
import { cursorOf } from '../store-rows/rows.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { BY_BYTES, eitherText, FOR_NO_KEY_UPDATE, GREATEST, raw, SKIP_LOCKED, sql } from './sql.ts';
import { all, changed, get, list, run, type Steps, slice } from './steps.ts';

/** Columns in front of the record come first: a long record lies on pages of its own, which need not be read for them. */
const PART_COLUMNS = {
  bodies: sql`seq, fetched_at, bytes, content_hash`,
  artifacts: sql`seq, fetched_at, CASE WHEN ${eitherText(MAY_BE_RENDERED)} THEN record END AS record`,
  records: sql`seq, fetched_at, octet_length(record) AS record_bytes`,
};
const DELETING = raw(String(LEDGER.deleting));

/** What the databases do in ways of their own is theirs: to give unused space back to the disk. */
export type SharedRetentionStore = Omit<RetentionStore, 'compact'>;

export const retentionStore: Methods<SharedRetentionStore> = {
  listAccountIds: read(({ after, limit }) =>
    list(
      sql`SELECT id FROM accounts WHERE id ${BY_BYTES} > ${after ?? ''} AND id <> ${DELETED_ACCOUNT}
        ORDER BY id ${BY_BYTES} LIMIT ${limit}`,
      ({ id }) => String(id) as AccountId,
    ),
  ),

  listRetained: read(({ accountId, cursor, limit }) =>
    slice(
      sql`SELECT ${raw(RETAINED_COLUMNS)}, j.options ->> 'retention' AS ages
        FROM jobs j LEFT JOIN job_expiry e ON e.job_seq = j.seq
        WHERE j.account_id = ${accountId} AND j.seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
        ORDER BY j.seq DESC LIMIT ${limit + 1}`,
      limit,
      retainedJobOf,
    ),
  ),

  expirePages: transaction(
    function* ({ jobSeq, part, fetchedBefore, limit, dryFrom }) {
      const column = raw(part);
      // The row of the job is not locked: crawls go on. Two that expire the same pages write the same.
      const found =
        dryFrom === undefined
          ? yield* get(sql`SELECT ${column} AS at FROM job_expiry WHERE job_seq = ${jobSeq}`)
          : { at: dryFrom };
      const from = Number(found?.at ?? 0);
      const rows = yield* all(
        sql`SELECT ${PART_COLUMNS[part]} FROM pages WHERE job_seq = ${jobSeq} AND seq >= ${from}
          ORDER BY seq LIMIT ${limit}`,
      );
      const { end, ...expired } = expiredPagesOf(rows, { part, fetchedBefore, limit });
      if (end === null || dryFrom !== undefined) return expired;
      if (part === 'records') {
        yield* run(
          sql`UPDATE pages SET record = NULL WHERE job_seq = ${jobSeq} AND seq >= ${from} AND seq < ${end}`,
        );
      }
      yield* run(
        sql`INSERT INTO job_expiry AS e (job_seq, ${column}) SELECT seq, ${end} FROM jobs WHERE seq = ${jobSeq}
          ON CONFLICT (job_seq) DO UPDATE SET ${column} = ${GREATEST}(e.${column}, excluded.${column})`,
      );
      return expired;
    },
    { isReserved: true },
  ),

  expireLedger: transaction(
    function* (jobSeq) {
      // Under the lock of the job: it is resumed before, and is not over, or after, and is refused.
      const ended = yield* get(
        sql`SELECT seq FROM jobs WHERE seq = ${jobSeq} AND finished_at IS NOT NULL ${FOR_NO_KEY_UPDATE}`,
      );
      if (ended === undefined) return false;
      return yield* changed(
        sql`INSERT INTO job_expiry AS e (job_seq, ledger) VALUES (${jobSeq}, ${DELETING})
          ON CONFLICT (job_seq) DO UPDATE SET ledger = excluded.ledger WHERE e.ledger = 0`,
      );
    },
    { isReserved: true },
  ),

  purge: transaction(
    function* (limit) {
      const deleted = yield* get(
        sql`SELECT seq FROM jobs WHERE account_id = ${DELETED_ACCOUNT} ORDER BY seq LIMIT 1 ${SKIP_LOCKED}`,
      );
      const job =
        deleted ??
        (yield* get(
          sql`SELECT job_seq AS seq FROM job_expiry WHERE ledger = ${DELETING} ORDER BY job_seq LIMIT 1 ${SKIP_LOCKED}`,
        ));
      if (job === undefined) return 0;
      const seq = Number(job.seq);
      const rows = yield* deleteRows(seq, limit);
      if (rows === limit) return rows;
      yield* run(
        deleted === undefined
          ? sql`UPDATE job_expiry SET ledger = ${LEDGER.gone} WHERE job_seq = ${seq}`
          : sql`DELETE FROM jobs WHERE seq = ${seq}`,
      );
      return rows + 1;
    },
    { isReserved: true },
  ),

  deleteOldRobots: change((expiredBefore, limit) =>
    run(
      sql`DELETE FROM robots WHERE origin IN (
        SELECT origin FROM robots WHERE expires_at < ${expiredBefore} LIMIT ${limit} ${SKIP_LOCKED}
      )`,
    ),
  ),
};

/** Pages before tasks: a page refers to its task. */
function* deleteRows(jobSeq: number, limit: number): Steps<number> {
  const pages = yield* run(
    sql`DELETE FROM pages WHERE seq IN (SELECT seq FROM pages WHERE job_seq = ${jobSeq} LIMIT ${limit})`,
  );
  if (pages === limit) return pages;
  const tasks = yield* run(
    sql`DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE job_seq = ${jobSeq} LIMIT ${limit - pages})`,
  );
  return pages + tasks;
}
