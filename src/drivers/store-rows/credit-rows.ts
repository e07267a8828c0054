import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { creditsOf, startOfMonth } from '../../core/model/credits.ts';
import type { CreditEntry, CreditEntryKind, Credits, UsageSum } from '../../core/ports/credit-store.ts';
import type { Row } from './rows.ts';

export function creditsExhausted(free: number, reserve: number): ScrapifieError {
  const [available, required] = [creditsOf(Math.max(0, free)), creditsOf(reserve)];
  return new ScrapifieError(
    'CREDITS_EXHAUSTED',
    `The account has ${available} credits left, and a page of this request may cost ${required}. Ask the operator for credits, wait for the next month, or name a cheaper engine or proxy.`,
    { details: { availableCredits: available, requiredCredits: required } },
  );
}

/** Throws CONFLICT when the grant would take more than the balance has. What is held for jobs is not part of the balance. */
export function requireBalance(balance: number, granted: number): void {
  if (granted >= 0 || balance + granted >= 0) return;
  const available = creditsOf(Math.max(0, balance));
  throw new ScrapifieError(
    'CONFLICT',
    `The account has a balance of ${available} credits, and ${creditsOf(-granted)} were to be taken away. Take at most its balance.`,
    { details: { balanceCredits: available } },
  );
}

/** Claims that are paid for in advance at most, and the part of what is free that may be held in advance. */
export const SPARE = { claims: 32, part: 64 };

/**
 * How much is held in advance, so that the next claims of the job need not touch the row of the account, which all its
 * jobs share. Little where little is left: what one job holds, no other can use.
 */
export const spareFor = (left: number, reserve: number): number =>
  Math.max(0, Math.min(SPARE.claims * reserve, Math.floor(left / SPARE.part)));

export const COUNTERS = [
  'pages',
  'attempts',
  'bytes',
  'browser_ms',
  'proxy_bytes',
  'tokens',
  'microcredits',
] as const;

export const creditsFromRow = (row: Row, held: number): Credits => ({
  monthlyMicrocredits: Number(row.monthly),
  lowMicrocredits: Number(row.low),
  allowanceMicrocredits: Number(row.allowance),
  balanceMicrocredits: Number(row.balance),
  heldMicrocredits: held,
  renewsAt: startOfMonth(Number(row.month) + 1),
});

export const creditEntryOf = (row: Row): CreditEntry => ({
  id: String(row.id),
  kind: String(row.kind) as CreditEntryKind,
  microcredits: Number(row.microcredits),
  reason: String(row.reason),
  at: Number(row.at),
});

export const usageSumOf = (row: Row): UsageSum => ({
  value: String(row.value),
  pages: Number(row.pages),
  attempts: Number(row.attempts),
  bytes: Number(row.bytes),
  browserMs: Number(row.browser_ms),
  proxyBytes: Number(row.proxy_bytes),
  tokens: Number(row.tokens),
  microcredits: Number(row.microcredits),
});

/** The value behind which a page of usage begins; null: at the first. */
export function usageCursorOf(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const value = Buffer.from(cursor.slice(1), 'base64url').toString('utf8');
  if (usageCursorAt(value) === cursor) return value;
  throw new ScrapifieError('VALIDATION_FAILED', 'The cursor is not one this server gave out.', {
    details: [{ field: 'cursor', message: 'unknown cursor' }],
  });
}

const usageCursorAt = (value: string) => `u${Buffer.from(value, 'utf8').toString('base64url')}`;

/** A page of sums out of one more than it holds. */
export function usagePageOf(rows: readonly Row[], limit: number) {
  const items = rows.slice(0, limit).map(usageSumOf);
  const last = items.at(-1);
  return {
    items,
    nextCursor: rows.length > limit && last !== undefined ? usageCursorAt(last.value) : null,
  };
}
