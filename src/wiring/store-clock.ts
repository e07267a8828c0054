import type { Logger } from '../observe/logger.ts';
import type { Store } from '../ports/store.ts';

export interface StoreClock {
  /** The store's time, as far as this process knows it. */
  now(): number;
  close(): void;
}

/** Clocks that differ less need no word. */
const NOTICED_MS = 2_000;
/** An answer that took longer tells the time too badly. */
const SLOWEST_ANSWER_MS = 2_000;

/**
 * One time for all processes that share a store, whatever their machines' clocks say: leases, retries and budgets of
 * one are read by the others. Asked for once in a while; in between the machine's own clock carries it on.
 */
export async function openStoreClock(
  store: Pick<Store, 'clock'>,
  logger: Logger,
  { everyMs = 30_000, machineNow = Date.now } = {},
): Promise<StoreClock> {
  let aheadMs = 0;
  let isNoticed = false;

  async function ask(): Promise<void> {
    const askedAt = machineNow();
    const storeNow = await store.clock();
    const tookMs = machineNow() - askedAt;
    if (tookMs > SLOWEST_ANSWER_MS) return;
    aheadMs = Math.round(storeNow - askedAt - tookMs / 2);
    const isOff = Math.abs(aheadMs) > NOTICED_MS;
    if (isOff && !isNoticed) {
      logger.warn(
        { behindMs: aheadMs },
        "this machine's clock differs from the store's; the store's is used, but set the machine's right",
      );
    }
    isNoticed = isOff;
  }

  await ask();
  // While the store is away the last difference holds.
  const timer = setInterval(() => void ask().catch(() => undefined), everyMs);
  timer.unref();
  return { now: () => machineNow() + aheadMs, close: () => clearInterval(timer) };
}
