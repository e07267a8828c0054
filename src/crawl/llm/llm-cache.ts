/**
 * Answers of models by what was asked. A cache may forget at any time. Keys are hashes and values are text that only this
 * layer reads. What `get` or `put` throws is passed over: the model is asked, and the answer given.
 */
export interface LlmCache {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
}

export interface MemoryCacheOptions {
  readonly maxEntries?: number;
  readonly maxChars?: number;
}

/** Keeps answers in this process; those not asked for the longest go first. */
export function createMemoryCache({
  maxEntries = 2_000,
  maxChars = 8_000_000,
}: MemoryCacheOptions = {}): LlmCache {
  const entries = new Map<string, string>();
  let chars = 0;
  const drop = (key: string): void => {
    chars -= entries.get(key)?.length ?? 0;
    entries.delete(key);
  };
  return {
    async get(key) {
      const value = entries.get(key);
      if (value === undefined) return null;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    async put(key, value) {
      drop(key);
      if (value.length > maxChars) return;
      entries.set(key, value);
      chars += value.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && chars <= maxChars) break;
        drop(oldest);
      }
    },
  };
}
