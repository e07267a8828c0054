import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../../core/model/ids.ts';
import type { AccountLimits } from '../../../core/ports/account-store.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { Store } from '../../../core/ports/store.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';

/** What may be added to the work that waits: by all accounts together, and by accounts with limits. */
export interface AccountIntake {
  /**
   * Throws QUEUE_FULL when the account, or all together, would have more open URLs than they may, and STORAGE_LIMIT when
   * the account stores as much as it may; else counts the URLs in. VALIDATION_FAILED for more URLs than there may ever be.
   */
  admit(account: AccountId, added: number): Promise<void>;
  close(): void;
}

interface AccountIntakeOptions {
  readonly store: Pick<Store, 'countOpenTasks' | 'getAccount' | 'countOpenUrls' | 'accountUse'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly maxQueuedUrls: number;
  readonly now: () => number;
}

const MAX_ACCOUNTS = 10_000;
/** A changed limit is obeyed within this time. */
const LIMITS_FRESH_MS = 5_000;
const STORED_FRESH_MS = 5_000;

interface Known {
  readonly limits: AccountLimits | null;
  readonly at: number;
  readonly openUrls: IntakeLimit | null;
  stored: { readonly bytes: number; readonly at: number } | null;
}

/** Asks the store once in a few seconds for each account, and about use only for accounts with a limit of it. */
export function createAccountIntake({ store, bus, maxQueuedUrls, now }: AccountIntakeOptions): AccountIntake {
  const known = new BoundedMap<AccountId, Known>(MAX_ACCOUNTS);
  const ofAll = createIntakeLimit({ maxQueuedUrls, countOpen: () => store.countOpenTasks(), now });
  const unsubscribe = bus.subscribe('account.changed', ({ accounts }) => {
    for (const account of accounts) known.delete(account as AccountId);
  });

  async function look(account: AccountId): Promise<Known> {
    const before = known.get(account);
    if (before !== undefined && Math.abs(now() - before.at) < LIMITS_FRESH_MS) return before;
    const limits = (await store.getAccount(account))?.limits ?? null;
    const most = limits?.openUrls ?? null;
    const isSame = most !== null && before?.limits?.openUrls === most;
    const openUrls = isSame
      ? before.openUrls
      : most === null
        ? null
        : createIntakeLimit({
            maxQueuedUrls: most,
            countOpen: () => store.countOpenUrls(account),
            now,
            owner: 'the account',
          });
    const found: Known = { limits, at: now(), openUrls, stored: before?.stored ?? null };
    known.set(account, found);
    return found;
  }

  async function requireRoom(account: AccountId, found: Known, most: number): Promise<void> {
    if (found.stored === null || Math.abs(now() - found.stored.at) >= STORED_FRESH_MS) {
      found.stored = { bytes: (await store.accountUse(account)).storedBytes, at: now() };
    }
    const { bytes } = found.stored;
    if (bytes < most) return;
    throw new ScrapifieError(
      'STORAGE_LIMIT',
      `The account stores ${bytes} bytes and may store ${most}; delete jobs, or ask the operator for more.`,
      { details: { storedBytes: bytes, limit: most } },
    );
  }

  return {
    async admit(account, added) {
      const found = await look(account);
      const most = found.limits?.storedBytes ?? null;
      if (most !== null) await requireRoom(account, found, most);
      // Work that was accepted before goes on although more may have been found since.
      if (added === 0) return;
      await found.openUrls?.admit(added);
      await ofAll.admit(added);
    },
    close: unsubscribe,
  };
}

interface IntakeLimit {
  /**
   * Throws QUEUE_FULL when `added` more URLs would be too many, and VALIDATION_FAILED when they are too many by themselves;
   * else counts them in.
   */
  admit(added: number): Promise<void>;
}

interface IntakeLimitOptions {
  readonly maxQueuedUrls: number;
  readonly countOpen: () => Promise<number>;
  readonly now: () => number;
  readonly freshMs?: number;
  /** Whose limit it is, for the error; left out: that of the installation. */
  readonly owner?: string;
}

/**
 * The queue depth limit. The store is asked at most once per `freshMs`; what this process admits in between is
 * added to the last count, so a burst cannot slip through before the next one.
 */
export function createIntakeLimit(options: IntakeLimitOptions): IntakeLimit {
  const freshMs = options.freshMs ?? 1_000;
  let open = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let counting: Promise<void> | null = null;

  async function recount(): Promise<void> {
    try {
      open = await options.countOpen();
      countedAt = options.now();
    } finally {
      counting = null;
    }
  }

  return {
    async admit(added) {
      // Waiting makes no room for these.
      if (added > options.maxQueuedUrls) throw tooManyAtOnce(added, options);
      if (options.now() - countedAt >= freshMs) {
        counting ??= recount();
        await counting;
      }
      if (open + added > options.maxQueuedUrls) {
        throw new ScrapifieError(
          'QUEUE_FULL',
          `${open} URLs are waiting, ${added} more would exceed the limit of ${limitOf(options)}.`,
          { retryAfterMs: 5_000, details: { open, added, limit: options.maxQueuedUrls } },
        );
      }
      open += added;
    },
  };
}

const limitOf = ({ maxQueuedUrls: most, owner }: IntakeLimitOptions): string =>
  owner === undefined ? String(most) : `${owner}, which is ${most}`;

function tooManyAtOnce(added: number, options: IntakeLimitOptions): ScrapifieError {
  const message = `A request with ${added} URLs exceeds the limit of ${limitOf(options)}, even while none is waiting; send fewer at once.`;
  return new ScrapifieError('VALIDATION_FAILED', message, { details: [{ field: 'urls', message }] });
}
