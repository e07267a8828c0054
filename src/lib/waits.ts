/**
 * Resolves or rejects as the promise does, and rejects with the error of `onLate` when that takes longer than `limitMs`.
 * The work behind the promise goes on; its result is ignored.
 */
export async function within<T>(
  limitMs: number,
  promise: Promise<T>,
  onLate = (): Error => new Error(`no answer within ${limitMs} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // One more turn of the event loop: after a pause of this process, the answer may have arrived but not been read.
    timer = setTimeout(() => setImmediate(() => reject(onLate())), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the work, at most this long. Rejects when the work fails by then. */
export async function waitAtMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a wait early. */
export interface Notifier {
  notify(): void;
  /** Resolves when it is notified, or was since the last wait, or after that time. */
  wait(ms: number): Promise<void>;
}

export function createNotifier(): Notifier {
  let isNotified = false;
  let endWait: () => void = () => undefined;
  return {
    notify() {
      isNotified = true;
      endWait();
    },
    async wait(ms) {
      if (!isNotified) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      endWait = () => undefined;
      isNotified = false;
    },
  };
}
