import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { RetentionLimits } from '../../core/model/retention.ts';
import { type Account, type AccountRetention, MOST_FORMER_SECRETS } from '../../core/ports/account-store.ts';
import type { FoundKey } from '../../core/ports/key-store.ts';
import { keyFromRow, type Row } from './rows.ts';

const maybe = (value: unknown): number | null => (value === null ? null : Number(value));

export function accountOfRow(row: Row): Account {
  return {
    id: String(row.id) as AccountId,
    name: String(row.name),
    plan: String(row.plan),
    limits: {
      requestsPerMinute: maybe(row.requests_per_minute),
      concurrentPages: maybe(row.concurrent_pages),
      openUrls: maybe(row.open_urls),
      storedBytes: maybe(row.stored_bytes),
    },
    disabledAt: maybe(row.disabled_at),
    deletingSince: maybe(row.deleting_at),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

/** A key, and of its account what every request needs. */
export const FOUND_KEY = 'k.*, a.disabled_at AS account_disabled_at, a.requests_per_minute AS account_rate';

/** `until`: the end of a former secret; null for the secret that the key has now. */
export function foundKeyOf(row: Row, hash: string, until: number | null): FoundKey {
  const key = keyFromRow(row);
  const expiresAt =
    until === null ? key.expiresAt : Math.min(until, key.expiresAt ?? Number.POSITIVE_INFINITY);
  return {
    ...key,
    hash,
    expiresAt,
    account: { disabledAt: maybe(row.account_disabled_at), requestsPerMinute: maybe(row.account_rate) },
  };
}

/** `row`: the `deleting_at` of the account; undefined where there is no such account. */
export function refuseWhileDeleted(id: AccountId, row: Row | undefined): void {
  if (row === undefined || row.deleting_at === null) return;
  throw new ScrapifieError('CONFLICT', `The account ${id} is being deleted.`);
}

/** The column for what each of them says about retention. */
export const RETENTION_COLUMNS = { own: 'retention', operator: 'operator_retention' } as const;

export function accountRetentionOf(row: Row | undefined): AccountRetention {
  const limits = (text: unknown) => (text === null ? null : (JSON.parse(String(text)) as RetentionLimits));
  return { own: limits(row?.retention ?? null), operator: limits(row?.operator_retention ?? null) };
}

export const tooManySecrets = () =>
  new ScrapifieError(
    'CONFLICT',
    `${MOST_FORMER_SECRETS} earlier secrets of the key are still valid. Wait until one has ended, or rotate with overlapSeconds 0, which ends all of them.`,
  );
