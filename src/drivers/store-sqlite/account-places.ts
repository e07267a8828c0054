import type { HostId, JobSeq } from '../../core/model/ids.ts';
import type { SqliteDatabase } from './database.ts';

/**
 * Hosts whose tasks wait for a place of their account are offered again after a time that grows with the number of such
 * hosts, so that the account is asked for about twenty places a second, however many hosts it has.
 */
export const HELD_HOSTS = { shortestMs: 1_000, longestMs: 60_000, eachMs: 50, mostCounted: 1_200 };

/** While hosts of an account wait, each of its hosts gets no place for one of so many steps of time. */
export const REST = { stepMs: 4_000, steps: 4 };

/** For how long a host is not offered for the tasks of an account without places, while `waiting` others wait. */
const heldMs = (host: number, waiting: number): number => {
  const { shortestMs, longestMs, eachMs } = HELD_HOSTS;
  const ms = Math.min(longestMs, Math.max(shortestMs, waiting * eachMs));
  return Math.floor((ms * (8 + (host % 8))) / 8);
};

const isResting = (host: number, now: number): boolean =>
  (Math.floor(now / REST.stepMs) + host) % REST.steps === 0;

/** Places of accounts within one claim: how many more pages each may have under way. */
export interface AccountPlaces {
  /** False when the account has none left for this host. */
  has(account: string): boolean;
  take(account: string): void;
  /** Whether the number of places of the account is limited. */
  isBounded(account: string): boolean;
  /** The jobs of the account that have not ended. */
  jobsOf(account: string): readonly JobSeq[];
  /** Writes for which account tasks of the host were held back. */
  note(): void;
}

const UNBOUNDED: AccountPlaces = {
  has: () => true,
  take: () => undefined,
  isBounded: () => false,
  jobsOf: () => [],
  note: () => undefined,
};

/** See HostStore.claimTasks. Where no account has a limit, this is one look at an empty index. */
export function placesOf(database: SqliteDatabase, host: HostId, now: number): AccountPlaces {
  const bounded = database.get(
    'SELECT 1 FROM accounts WHERE concurrent_pages IS NOT NULL OR disabled_at IS NOT NULL LIMIT 1',
  );
  if (bounded === undefined) return UNBOUNDED;
  const left = new Map<string, number>();
  let heldFor: string | null = null;

  const waitingFor = (account: string): number =>
    Number(
      database.get(
        `SELECT count(*) AS n FROM (
           SELECT 1 FROM hosts WHERE held_for = ? AND held_until > ? AND id <> ? LIMIT ?
         )`,
        account,
        now,
        host,
        HELD_HOSTS.mostCounted,
      )?.n,
    );

  function placesLeft(account: string): number {
    const row = database.get('SELECT concurrent_pages, disabled_at FROM accounts WHERE id = ?', account);
    const most = row?.disabled_at == null ? row?.concurrent_pages : 0;
    if (most === null || most === undefined) return Number.POSITIVE_INFINITY;
    const claimed = database.get(
      'SELECT coalesce(sum(claimed), 0) AS n FROM jobs WHERE account_id = ? AND finished_at IS NULL',
      account,
    );
    const places = Number(most) - Number(claimed?.n);
    if (waitingFor(account) === 0) return places;
    // While other hosts wait for a place, none takes more than one at once, and each rests now and then.
    return isResting(host, now) ? 0 : Math.min(places, 1);
  }

  function leftOf(account: string): number {
    const known = left.get(account);
    if (known !== undefined) return known;
    const places = placesLeft(account);
    left.set(account, places);
    return places;
  }

  return {
    has(account) {
      if (leftOf(account) > 0) return true;
      heldFor = account;
      return false;
    },
    take: (account) => void left.set(account, leftOf(account) - 1),
    isBounded: (account) => leftOf(account) !== Number.POSITIVE_INFINITY,
    jobsOf: (account) =>
      database
        .all('SELECT seq FROM jobs WHERE account_id = ? AND finished_at IS NULL', account)
        .map((row) => Number(row.seq) as JobSeq),
    note() {
      const until = heldFor === null ? null : now + heldMs(host, waitingFor(heldFor));
      database.run(
        'UPDATE hosts SET held_for = ?, held_until = ? WHERE id = ? AND (held_for IS NOT NULL OR ? IS NOT NULL)',
        heldFor,
        until,
        host,
        heldFor,
      );
    },
  };
}
