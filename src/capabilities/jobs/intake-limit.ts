import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

export interface IntakeLimit {
  /** Throws QUEUE_FULL when `added` more URLs would be too many; else counts them in. */
  admit(added: number): Promise<void>;
}

export interface IntakeLimitOptions {
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
      if (options.now() - countedAt >= freshMs) {
        counting ??= recount();
        await counting;
      }
      if (open + added > options.maxQueuedUrls) {
        const { maxQueuedUrls: most, owner } = options;
        const limitOf = owner === undefined ? most : `${owner}, which is ${most}`;
        throw new ScrapifieError(
          'QUEUE_FULL',
          `${open} URLs are waiting, ${added} more would exceed the limit of ${limitOf}.`,
          { retryAfterMs: 5_000, details: { open, added, limit: options.maxQueuedUrls } },
        );
      }
      open += added;
    },
  };
}
