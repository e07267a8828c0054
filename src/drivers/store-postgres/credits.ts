import type { CreditStore, UsageGroup } from '../../core/ports/credit-store.ts';
import {
  COUNTERS,
  creditEntryOf,
  creditsFromRow,
  requireBalance,
  usageCursorOf,
  usagePageOf,
} from '../store-rows/credit-rows.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
import { NOW, type PostgresDatabase, type Query } from './database.ts';

/** The value of a row of the log in each group. */
const VALUES: Readonly<Record<UsageGroup, string>> = {
  day: `to_char(date '1970-01-01' + day::integer, 'YYYY-MM-DD')`,
  key: 'key_id',
  job: 'job_id',
  engine: 'engine',
  host: 'host',
};

const COLUMNS = COUNTERS.join(', ');
const SUMS = COUNTERS.map((name) => `sum(${name})::bigint AS ${name}`).join(', ');

export function createPostgresCreditStore(database: PostgresDatabase): CreditStore {
  /** Works on the locked row of an account, which is made when there is none. Null when there is no such account. */
  function change<T>(account: string, work: (query: Query) => Promise<T>): Promise<T | null> {
    return database.transaction(async (query) => {
      const known = await query('SELECT FROM accounts WHERE id = $1', [account]);
      if (known.length === 0) return null;
      await query(
        `INSERT INTO credits (account_id, is_limited, monthly, low, month, allowance, balance)
         VALUES ($1, false, 0, 0, month_of(${NOW}), 0, 0) ON CONFLICT (account_id) DO NOTHING`,
        [account],
      );
      await query(`SELECT lock_credits($1, ${NOW})`, [account]);
      return work(query);
    });
  }

  return {
    async getCredits(account) {
      const [row] = await database.query(
        `SELECT c.*, (
           SELECT coalesce(sum(h.allowance + h.balance), 0)::bigint FROM credit_holds h WHERE h.account_id = $1
         ) AS held, c.month < month_of(${NOW}) AS is_over
         FROM credits c WHERE c.account_id = $1 AND c.is_limited`,
        [account],
      );
      if (row === undefined) return null;
      if (row.is_over !== true) return creditsFromRow(row, Number(row.held));
      const [renewed] = await database.query(`SELECT * FROM lock_credits($1, ${NOW})`, [account]);
      return renewed === undefined ? null : creditsFromRow(renewed, Number(row.held));
    },

    async setCreditPlan(account, plan) {
      const monthly = plan?.monthlyMicrocredits ?? 0;
      const isSet = await change(account, async (query) => {
        // What was spent of the month's allowance stays spent; a smaller allowance takes no more than the rest of it.
        await query(
          `SELECT add_credit_entry(account_id, 'allowance', greatest($2 - monthly, -allowance),
             'The plan was changed.', ${NOW}) FROM credits WHERE account_id = $1`,
          [account, monthly],
        );
        await query(
          `UPDATE credits SET is_limited = $2, low = $3, monthly = $4, month = month_of(${NOW}),
             allowance = allowance + greatest($4 - monthly, -allowance) WHERE account_id = $1`,
          [account, plan !== null, plan?.lowMicrocredits ?? 0, monthly],
        );
        // What the operator changes is no event.
        await query(
          'UPDATE credits SET is_low = (is_limited AND allowance + balance < low) WHERE account_id = $1',
          [account],
        );
        return true;
      });
      return isSet ?? false;
    },

    grantCredits(account, { id, microcredits, reason, key }) {
      return change(account, async (query) => {
        const [earlier] = await query('SELECT * FROM credit_entries WHERE account_id = $1 AND key = $2', [
          account,
          key,
        ]);
        if (earlier !== undefined) return creditEntryOf(earlier);
        const [current] = await query('SELECT balance FROM credits WHERE account_id = $1', [account]);
        requireBalance(Number(current?.balance), microcredits);
        await query('UPDATE credits SET balance = balance + $2 WHERE account_id = $1', [
          account,
          microcredits,
        ]);
        const [row] = await query(
          `INSERT INTO credit_entries (id, account_id, at, kind, microcredits, reason, key)
           VALUES ($1, $2, ${NOW}, 'grant', $3, $4, $5) RETURNING *`,
          [id, account, microcredits, reason, key],
        );
        await query(`SELECT note_low($1, ${NOW}, true)`, [account]);
        return row === undefined ? null : creditEntryOf(row);
      });
    },

    async listCreditEntries({ accountId, cursor, limit }) {
      const rows = await database.query(
        'SELECT * FROM credit_entries WHERE account_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3',
        [accountId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', creditEntryOf);
    },

    async foldUsage(limit) {
      const [row] = await database.query('SELECT fold_usage($1) AS folded', [limit]);
      return Number(row?.folded);
    },

    /**
     * Reads the first values of each day: a value that is among the first of all days together is among the first of
     * every day that has it.
     */
    async listUsage({ accountId, by, from, to, cursor, limit }) {
      const rows = await database.query(
        `SELECT value, ${SUMS} FROM (
           SELECT s.value, ${COLUMNS} FROM generate_series($3::bigint, $4::bigint) AS d (day), LATERAL (
             SELECT value, ${COLUMNS} FROM usage_sums
             WHERE account_id = $1 AND grouped_by = $2 AND day = d.day AND value >= coalesce($5::text, '')
               AND value IS DISTINCT FROM $5::text
             ORDER BY value LIMIT $6
           ) s
           UNION ALL
           SELECT value, ${COLUMNS} FROM (
             SELECT ${VALUES[by]} COLLATE "C" AS value, ${COLUMNS} FROM usage_log
             WHERE account_id = $1 AND day BETWEEN $3 AND $4
           ) l WHERE value > $5::text OR $5::text IS NULL
         ) used GROUP BY value ORDER BY value LIMIT $6`,
        [accountId, by, from, to, usageCursorOf(cursor), limit + 1],
      );
      return usagePageOf(rows, limit);
    },
  };
}
