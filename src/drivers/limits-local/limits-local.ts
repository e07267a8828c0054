import { LIMIT_WINDOW_MS, type Limits, takenOf } from '../../core/ports/limits.ts';

export interface LimitsLocalOptions {
  /** Keys whose window is remembered; beyond it the one not seen for longest is forgotten, and begins anew. */
  readonly maxKeys?: number;
}

interface Window {
  readonly endsAt: number;
  count: number;
}

/** Limits within one process. */
export function createLimitsLocal({ maxKeys = 10_000 }: LimitsLocalOptions = {}): Limits {
  /** The windows of keys, in the order of their last use. */
  const windows = new Map<string, Window>();

  function windowOf(key: string, now: number): Window {
    const found = windows.get(key);
    windows.delete(key);
    // A window that ends later than a fresh one would was begun before the clock was put back, and counts as over.
    const isOver = found === undefined || found.endsAt <= now || found.endsAt > now + LIMIT_WINDOW_MS;
    const window = isOver ? { endsAt: now + LIMIT_WINDOW_MS, count: 0 } : found;
    windows.set(key, window);
    if (windows.size > maxKeys) {
      const [oldest] = windows.keys();
      if (oldest !== undefined) windows.delete(oldest);
    }
    return window;
  }

  return {
    async take(key, perMinute, now) {
      const window = windowOf(key, now);
      window.count += 1;
      return takenOf(window.count, perMinute, window.endsAt - now);
    },
    // Nothing outside of this process is needed.
    check: async () => {},
    async close() {
      windows.clear();
    },
  };
}
