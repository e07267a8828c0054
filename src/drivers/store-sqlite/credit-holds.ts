import { randomUUID } from 'node:crypto';
import { creditsOf, monthOf } from '../../core/model/credits.ts';
import type { JobSeq } from '../../core/model/ids.ts';
import type { CreditEntryKind } from '../../core/ports/credit-store.ts';
import { creditsExhausted } from '../store-rows/credit-rows.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeEvent } from './event-log.ts';

/**
 * Credits that are held for jobs; see `CreditStore`. The part that comes from the allowance of a month lapses with that
 * month, so the two parts are held apart.
 */
export interface CreditAccount {
  readonly id: string;
  readonly isLimited: boolean;
  readonly low: number;
  readonly isLow: boolean;
  readonly month: number;
  readonly monthly: number;
  readonly allowance: number;
  readonly balance: number;
}

interface Hold {
  readonly month: number;
  readonly allowance: number;
  readonly balance: number;
}

const NO_HOLD = { allowance: 0, balance: 0 };

/** The row of an account, renewed when its month is over. Null when the account has none. */
export function creditAccount(database: SqliteDatabase, id: string, now: number): CreditAccount | null {
  const row = database.get('SELECT * FROM credits WHERE account_id = ?', id);
  if (row === undefined) return null;
  const account = accountOf(row);
  const month = monthOf(now);
  if (!account.isLimited || month <= account.month) return account;
  addEntry(database, id, 'lapse', -account.allowance, 'The month is over.', now);
  addEntry(database, id, 'allowance', account.monthly, 'The allowance of the month.', now);
  const renewed = { ...account, month, allowance: account.monthly };
  write(database, renewed);
  noteLow(database, id, now, true);
  return renewed;
}

const accountOf = (row: SqliteRow): CreditAccount => ({
  id: String(row.account_id),
  isLimited: Number(row.is_limited) === 1,
  low: Number(row.low),
  isLow: Number(row.is_low) === 1,
  month: Number(row.month),
  monthly: Number(row.monthly),
  allowance: Number(row.allowance),
  balance: Number(row.balance),
});

/** Writes the amounts, and whether they are low; an account that is low stays so until it is lifted above its threshold. */
export function write(database: SqliteDatabase, account: CreditAccount): void {
  database.run(
    `UPDATE credits SET is_limited = ?, monthly = ?, low = ?, month = ?, allowance = ?, balance = ? WHERE account_id = ?`,
    account.isLimited ? 1 : 0,
    account.monthly,
    account.low,
    account.month,
    account.allowance,
    account.balance,
    account.id,
  );
}

export function addEntry(
  database: SqliteDatabase,
  account: string,
  kind: CreditEntryKind,
  microcredits: number,
  reason: string,
  now: number,
): void {
  if (microcredits === 0) return;
  database.run(
    'INSERT INTO credit_entries (id, account_id, at, kind, microcredits, reason) VALUES (?, ?, ?, ?, ?, ?)',
    randomUUID(),
    account,
    now,
    kind,
    microcredits,
    reason,
  );
}

export interface Purse {
  /** What the account has beside everything that is held. */
  readonly free: number;
  held: number;
}

/** What a job of an account with limits has for its tasks; null when nothing has to be reserved for it. */
export function purseOf(
  database: SqliteDatabase,
  job: JobSeq,
  accountId: string,
  reserve: number,
  now: number,
): Purse | null {
  if (reserve === 0) return null;
  const account = creditAccount(database, accountId, now);
  if (account === null || !account.isLimited) return null;
  const { allowance, balance } = currentHold(database, job, account, now);
  return { free: account.allowance + account.balance, held: allowance + balance };
}

/** Holds `needed` for the job in total. Where the account has to be asked for it, `spare` is held as well. */
export function hold(
  database: SqliteDatabase,
  job: JobSeq,
  accountId: string,
  needed: number,
  spare: number,
  now: number,
): void {
  const account = creditAccount(database, accountId, now);
  if (account === null) return;
  const before = currentHold(database, job, account, now);
  const missing = needed - before.allowance - before.balance;
  if (missing <= 0) return;
  const wanted = missing + spare;
  const fromAllowance = Math.min(wanted, Math.max(0, account.allowance));
  const fromBalance = wanted - fromAllowance;
  writeHold(database, job, account.id, {
    month: account.month,
    allowance: before.allowance + fromAllowance,
    balance: before.balance + fromBalance,
  });
  write(database, {
    ...account,
    allowance: account.allowance - fromAllowance,
    balance: account.balance - fromBalance,
  });
  noteLow(database, account.id, now);
}

/** Takes what a commit costs from what is held, the part of the allowance first. A refund goes to the balance. */
export function charge(
  database: SqliteDatabase,
  job: JobSeq,
  accountId: string,
  microcredits: number,
  now: number,
): void {
  const account = creditAccount(database, accountId, now);
  if (account === null || !account.isLimited) return;
  const before = currentHold(database, job, account, now);
  const fromAllowance = Math.min(Math.max(0, microcredits), before.allowance);
  writeHold(database, job, account.id, {
    month: account.month,
    allowance: before.allowance - fromAllowance,
    balance: before.balance - (microcredits - fromAllowance),
  });
}

/** Throws CREDITS_EXHAUSTED when the account cannot pay for one task. */
export function requireCredits(
  database: SqliteDatabase,
  accountId: string,
  reserve: number,
  now: number,
): void {
  const account = reserve === 0 ? null : creditAccount(database, accountId, now);
  if (account === null || !account.isLimited) return;
  const free = account.allowance + account.balance;
  if (free < reserve) throw creditsExhausted(free, reserve);
}

/** Gives what is still held for a job back to its account. */
export function returnHold(database: SqliteDatabase, job: JobSeq, now: number): void {
  const row = database.get('SELECT account_id FROM credit_holds WHERE job_seq = ?', job);
  if (row === undefined) return;
  const account = creditAccount(database, String(row.account_id), now);
  if (account !== null) {
    const { allowance, balance } = currentHold(database, job, account, now);
    write(database, {
      ...account,
      allowance: account.allowance + allowance,
      balance: account.balance + balance,
    });
  }
  database.run('DELETE FROM credit_holds WHERE job_seq = ?', job);
}

/** Records that the account has fallen below its threshold, or that it is above it again. */
export function noteLow(database: SqliteDatabase, id: string, now: number, isLifted = false): void {
  const row = database.get('SELECT * FROM credits WHERE account_id = ?', id);
  if (row === undefined) return;
  const account = accountOf(row);
  const isBelow = account.isLimited && account.allowance + account.balance < account.low;
  if (isBelow === account.isLow || (!isBelow && !isLifted)) return;
  database.run('UPDATE credits SET is_low = ? WHERE account_id = ?', isBelow ? 1 : 0, id);
  if (!isBelow) return;
  const data = {
    availableCredits: creditsOf(account.allowance + account.balance),
    thresholdCredits: creditsOf(account.low),
  };
  writeEvent(database, { type: 'account.low_credits', accountId: id, jobId: null, data }, now);
}

/** What is held, without an allowance whose month is over: that part lapses here. */
function currentHold(database: SqliteDatabase, job: JobSeq, account: CreditAccount, now: number): Hold {
  const row = database.get('SELECT month, allowance, balance FROM credit_holds WHERE job_seq = ?', job);
  if (row === undefined) return { month: account.month, ...NO_HOLD };
  const held = { month: Number(row.month), allowance: Number(row.allowance), balance: Number(row.balance) };
  if (held.month >= account.month || held.allowance === 0) return { ...held, month: account.month };
  addEntry(database, account.id, 'lapse', -held.allowance, 'The month is over.', now);
  const current = { month: account.month, allowance: 0, balance: held.balance };
  writeHold(database, job, account.id, current);
  return current;
}

function writeHold(database: SqliteDatabase, job: JobSeq, account: string, held: Hold): void {
  database.run(
    `INSERT INTO credit_holds (job_seq, account_id, month, allowance, balance) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (job_seq) DO UPDATE SET month = excluded.month, allowance = excluded.allowance, balance = excluded.balance`,
    job,
    account,
    held.month,
    held.allowance,
    held.balance,
  );
}
