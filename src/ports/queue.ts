/**
 * Offers work to whoever is free, at least once. It never holds the truth: what it loses, a sweep of the store
 * offers again, and what it delivers twice, leases and epochs in the store make harmless.
 */
export interface Queue {
  /**
   * Offers one entry. While an entry with the same id waits, or is being worked on, a further offer of it is
   * folded into that one; one folded into an entry being worked on makes it be offered once more afterwards.
   * Lower rank goes first; equal ranks in order of arrival.
   */
  offer(name: QueueName, entry: Entry): Promise<void>;
  /**
   * Works on entries of one queue, at most `concurrency` at once. A handler that rejects is logged and its entry
   * dropped (the sweep will bring it back). Resolves to the consumer's handle.
   */
  consume(name: QueueName, concurrency: number, handler: (entry: Entry) => Promise<void>): Promise<Consumer>;
  /** Entries waiting and being worked on. */
  depth(name: QueueName): Promise<{ waiting: number; active: number }>;
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Entry {
  readonly id: string;
  readonly rank: number;
}

export interface Consumer {
  /** Takes no more entries; resolves when the running handlers are done. */
  stop(): Promise<void>;
}

/** `scrape-http` carries host slices. */
export type QueueName = 'scrape-http';
