import { monthOf } from '../../core/model/credits.ts';
import type { CreditStore } from '../../core/ports/credit-store.ts';
import {
  creditEntryOf,
  creditsFromRow,
  requireBalance,
  usageCursorOf,
  usagePageOf,
} from '../store-rows/credit-rows.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
import { addEntry, creditAccount, noteLow, write } from './credit-holds.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './sql-methods.ts';
import { foldUsage, sumUsage } from './usage.ts';

export function createSqliteCreditStore(
  database: SqliteDatabase,
  clock: () => number,
): Synchronous<CreditStore> {
  const hasAccount = (id: string) =>
    database.get('SELECT 1 AS is_there FROM accounts WHERE id = ?', id) !== undefined;

  function makeRow(account: string): void {
    database.run(
      `INSERT INTO credits (account_id, is_limited, monthly, low, month, allowance, balance)
       VALUES (?, 0, 0, 0, ?, 0, 0) ON CONFLICT (account_id) DO NOTHING`,
      account,
      monthOf(clock()),
    );
  }

  return {
    getCredits(account) {
      const found = creditAccount(database, account, clock());
      if (found === null || !found.isLimited) return null;
      const held = database.get(
        'SELECT coalesce(sum(allowance + balance), 0) AS held FROM credit_holds WHERE account_id = ?',
        account,
      );
      return creditsFromRow({ ...found }, Number(held?.held));
    },

    setCreditPlan(account, plan) {
      if (!hasAccount(account)) return false;
      const now = clock();
      makeRow(account);
      const before = creditAccount(database, account, now);
      if (before === null) return false;
      const monthly = plan?.monthlyMicrocredits ?? 0;
      // What was spent of the month's allowance stays spent; a smaller allowance takes no more than the rest of it.
      const change = Math.max(monthly - before.monthly, -before.allowance);
      addEntry(database, account, 'allowance', change, 'The plan was changed.', now);
      write(database, {
        ...before,
        isLimited: plan !== null,
        low: plan?.lowMicrocredits ?? 0,
        month: monthOf(now),
        monthly,
        allowance: before.allowance + change,
      });
      // What the operator changes is no event.
      database.run(
        'UPDATE credits SET is_low = (is_limited AND allowance + balance < low) WHERE account_id = ?',
        account,
      );
      return true;
    },

    grantCredits(account, { id, microcredits, reason, key }) {
      if (!hasAccount(account)) return null;
      const now = clock();
      if (key !== null) {
        const earlier = database.get(
          'SELECT * FROM credit_entries WHERE account_id = ? AND key = ?',
          account,
          key,
        );
        if (earlier !== undefined) return creditEntryOf(earlier);
      }
      makeRow(account);
      requireBalance(creditAccount(database, account, now)?.balance ?? 0, microcredits);
      database.run('UPDATE credits SET balance = balance + ? WHERE account_id = ?', microcredits, account);
      const row = database.get(
        `INSERT INTO credit_entries (id, account_id, at, kind, microcredits, reason, key)
         VALUES (?, ?, ?, 'grant', ?, ?, ?) RETURNING *`,
        ...[id, account, now, microcredits, reason, key],
      );
      noteLow(database, account, now, true);
      return row === undefined ? null : creditEntryOf(row);
    },

    listCreditEntries({ accountId, cursor, limit }) {
      const rows = database.all(
        'SELECT * FROM credit_entries WHERE account_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', creditEntryOf);
    },

    foldUsage: (limit) => foldUsage(database, limit),

    listUsage(query) {
      return usagePageOf(sumUsage(database, query, usageCursorOf(query.cursor)), query.limit);
    },
  };
}
