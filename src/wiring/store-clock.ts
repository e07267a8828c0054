import type { Logger } from '../core/observe/logger.ts';
import type { SteadyClock } from '../lib/steady-clock.ts';

export interface StoreClock {
  /** The store's time, as far as this process knows it. */
  now(): number;
  close(): void;
}

export interface StoreClockOptions {
  /** Carries the store's time on between two answers. */
  readonly clock: Pick<SteadyClock, 'now' | 'onJump'>;
  readonly everyMs?: number;
  /** What this machine's clock says, for telling people when it is wrong. */
  readonly wallMs?: () => number;
}

/** Smaller differences are not logged. */
const NOTICED_MS = 2_000;
/** A slower answer is too imprecise to be used, unless it is the first. */
const SLOWEST_ANSWER_MS = 2_000;
/** How often the wall clock is checked for a jump, such as a suspended machine makes. */
const LOOK_MS = 1_000;

/**
 * One time for all processes that share a store, whatever their machines' clocks say: retries, budgets and politeness
 * of one are read by the others. Asked for once in a while, and at once when the machine's clock has jumped; in between
 * a clock carries it on that a step of the machine's clock does not change.
 */
export async function openStoreClock(
  store: { clock(): Promise<number> },
  logger: Logger,
  { clock, everyMs = 30_000, wallMs = Date.now }: StoreClockOptions,
): Promise<StoreClock> {
  let aheadMs: number | null = null;
  let isNoticed = false;

  async function ask(): Promise<void> {
    const askedAt = clock.now();
    const storeNow = await store.clock();
    const tookMs = clock.now() - askedAt;
    if (tookMs > SLOWEST_ANSWER_MS && aheadMs !== null) return;
    aheadMs = Math.round(storeNow - askedAt - tookMs / 2);
    const behindMs = clock.now() + aheadMs - wallMs();
    const isOff = Math.abs(behindMs) > NOTICED_MS;
    if (isOff && !isNoticed) {
      logger.warn(
        { behindMs },
        "this machine's clock differs from the store's; the store's is used, but set the machine's right",
      );
    }
    isNoticed = isOff;
  }

  // While the store is away the last difference holds.
  const askAgain = () => void ask().catch(() => undefined);
  await ask();
  const asking = setInterval(askAgain, everyMs);
  const looking = setInterval(clock.now, LOOK_MS);
  asking.unref();
  looking.unref();
  const stopHearing = clock.onJump(askAgain);
  return {
    now: () => clock.now() + (aheadMs ?? 0),
    close() {
      stopHearing();
      clearInterval(asking);
      clearInterval(looking);
    },
  };
}
