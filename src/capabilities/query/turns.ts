import { guarded } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';

export interface TurnsOptions {
  /** The most queries of all accounts that run at once. */
  readonly mostRunning: number;
  /** The most queries of one account that run at once. */
  readonly mostOfAccount: number;
  /** The most queries of all accounts that wait; one account may have a tenth of them. */
  readonly mostWaiting?: number;
  readonly mostWaitMs?: number;
}

/** Lets a few queries run at a time, and of each account a share: a dear query must not keep those of others waiting. */
export interface Turns {
  /**
   * Resolves when the query may run, with what ends its turn, which may be called more than once. Of the accounts that
   * wait, the one goes first that runs the fewest queries, and of these the one whose last turn began first. Throws
   * TOO_MANY_QUERIES when too many wait already, or the turn does not come in time, and the reason of the signal.
   */
  enter(account: AccountId, signal?: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly account: AccountId;
  readonly begin: () => void;
}

const MOST_WAITING = 100;
/** How long a query waits for its turn: as long as most queries may take. */
const MOST_WAIT_MS = 10_000;
const RETRY_AFTER_MS = 5_000;

export function createTurns(options: TurnsOptions): Turns {
  const { mostRunning, mostOfAccount, mostWaiting = MOST_WAITING, mostWaitMs = MOST_WAIT_MS } = options;
  const mostWaitingOfAccount = Math.max(1, Math.floor(mostWaiting / 10));
  /** Accounts that have a query running or waiting, with how many of them run. */
  const running = new Map<AccountId, number>();
  const lastTurns = new Map<AccountId, number>();
  const waiting = new Set<Waiting>();
  let turns = 0;
  let inUse = 0;

  const runningOf = (account: AccountId) => running.get(account) ?? 0;
  const waitingOf = (account: AccountId) => [...waiting].filter((each) => each.account === account).length;

  /** The query that goes next, if one may. The set is in the order in which the queries came. */
  function next(): Waiting | undefined {
    if (inUse >= mostRunning) return undefined;
    return [...waiting]
      .filter(({ account }) => runningOf(account) < mostOfAccount)
      .sort(
        (one, other) =>
          runningOf(one.account) - runningOf(other.account) ||
          (lastTurns.get(one.account) ?? 0) - (lastTurns.get(other.account) ?? 0),
      )[0];
  }

  function beginNext(): void {
    for (let found = next(); found !== undefined; found = next()) {
      waiting.delete(found);
      turns += 1;
      inUse += 1;
      running.set(found.account, runningOf(found.account) + 1);
      lastTurns.set(found.account, turns);
      found.begin();
    }
  }

  function forgetUnused(account: AccountId): void {
    if (runningOf(account) > 0) return;
    running.delete(account);
    if (waitingOf(account) === 0) lastTurns.delete(account);
  }

  function leave(account: AccountId): void {
    inUse -= 1;
    running.set(account, runningOf(account) - 1);
    beginNext();
    forgetUnused(account);
  }

  return {
    async enter(account, signal) {
      signal?.throwIfAborted();
      const turn = Promise.withResolvers<void>();
      const entry: Waiting = { account, begin: turn.resolve };
      waiting.add(entry);
      beginNext();
      if (waiting.has(entry)) {
        if (waiting.size > mostWaiting || waitingOf(account) > mostWaitingOfAccount) turn.reject(tooMany());
        const timer = setTimeout(() => turn.reject(tooMany()), mostWaitMs);
        const abort = guarded(() => turn.reject(signal?.reason));
        signal?.addEventListener('abort', abort, { once: true });
        try {
          await turn.promise;
        } catch (error) {
          waiting.delete(entry);
          forgetUnused(account);
          throw error;
        } finally {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        }
      }
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        leave(account);
      };
    },
  };
}

const tooMany = () =>
  new ScrapifieError(
    'TOO_MANY_QUERIES',
    'As many queries as allowed are running. Try again in some seconds.',
    {
      retryAfterMs: RETRY_AFTER_MS,
    },
  );
