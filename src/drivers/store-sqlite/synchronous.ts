/** A port without promises: how it looks inside the thread that owns the connection. */
export type Synchronous<T> = {
  [K in keyof T]: T[K] extends (...values: infer Values) => Promise<infer Result>
    ? (...values: Values) => Result
    : T[K];
};

/**
 * So many commits may go unsynced in a row; the next one is synced. The check of the log relies on it: it tells damage
 * from what a power failure leaves by the number of commits that follow. A small number costs little, since the ledger
 * syncs more often than that while a crawl is at work.
 */
export const MOST_UNSYNCED_COMMITS = 4;
