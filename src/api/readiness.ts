/** How one part answered when it was tried. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly error?: string;
}

export interface ReadinessOptions {
  /** Each really uses its part and throws when that does not work. */
  readonly parts: Readonly<Record<string, () => Promise<void>>>;
  readonly limitMs?: number;
  /** Answers are shared for this long: a probe writes, and anybody may ask. */
  readonly freshMs?: number;
  readonly now: () => number;
}

/** Tries all parts at once, each with its own time limit. */
export function createReadiness(options: ReadinessOptions): () => Promise<readonly Check[]> {
  const limitMs = options.limitMs ?? 2_000;
  const freshMs = options.freshMs ?? 500;
  const { now } = options;
  let latest: Promise<readonly Check[]> | null = null;
  let latestAt = Number.NEGATIVE_INFINITY;

  async function tryPart(name: string, check: () => Promise<void>): Promise<Check> {
    const startedAt = now();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
    });
    try {
      await Promise.race([check(), limit]);
      return { name, ok: true, ms: now() - startedAt };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { name, ok: false, ms: now() - startedAt, error: message };
    } finally {
      clearTimeout(timer);
    }
  }

  return () => {
    if (latest === null || now() - latestAt >= freshMs) {
      latestAt = now();
      latest = Promise.all(Object.entries(options.parts).map(([name, check]) => tryPart(name, check)));
    }
    return latest;
  };
}
