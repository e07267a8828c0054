/**
 * Wake-ups and live events between parts and processes. A message may be lost or doubled: listeners must
 * be able to find out the same from the store. Nothing waits for a listener, and a listener that throws harms
 * no other.
 */
export interface Bus {
  publish<T extends Topic>(topic: T, message: Messages[T]): void;
  /** Returns the function that ends the subscription. */
  subscribe<T extends Topic>(topic: T, listener: (message: Messages[T]) => void): () => void;
  /** Sends a message to itself as `publish` does, and throws when it does not arrive. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Messages {
  /** New tasks are ready on these hosts. */
  'host.ready': { readonly hosts: readonly string[] };
  /**
   * Jobs whose counters or status changed, or whose tasks went back because their host is held; `finished` ones have
   * ended, and of `cancelled` ones, which may also have been stopped by a spent budget, no further task is to begin.
   */
  'job.changed': {
    readonly jobs: readonly string[];
    readonly finished: readonly string[];
    readonly cancelled?: readonly string[] | undefined;
  };
  /** The do-not-crawl list or the opt-outs changed. */
  'policy.changed': Record<string, never>;
  /** Accounts and keys that were changed: what is remembered of them is out of date. */
  'account.changed': { readonly accounts: readonly string[]; readonly keys: readonly string[] };
  /** An export waits to be written. */
  'export.created': Record<string, never>;
  /** What the proxies of a process have done so far, as JSON. A later message of the same process takes its place. */
  'proxy.figures': { readonly process: string; readonly figures: string };
  /** A process is alive; it says so every ten seconds. */
  'process.alive': {
    readonly process: string;
    readonly role: string;
    readonly version: string;
    readonly startedAt: number;
  };
}
export type Topic = keyof Messages;

/** A process of this installation that is alive, as far as this process knows. */
export type KnownProcess = Messages['process.alive'] & {
  /** When its last message arrived. */
  readonly heardAt: number;
};
