/** Holds back log lines that say the same again and again. */
export interface LogFlood {
  /** Whether this line is written. */
  admits(message: string): boolean;
}

export interface LogFloodOptions {
  readonly now: () => number;
  /** Told at the end of a period what was held back in it, by message. */
  readonly onHeldBack: (heldBack: ReadonlyMap<string, number>) => void;
  readonly mostLines?: number;
  readonly periodMs?: number;
}

/** A line every two seconds says as much as a thousand, and the first ones have the details. */
const MOST_LINES = 20;
const PERIOD_MS = 10_000;
const MOST_MESSAGES = 1_000;

/** Limits how many lines with the same message are written in a period: a server that is away must not fill a disk. */
export function createLogFlood(options: LogFloodOptions): LogFlood {
  const { now, onHeldBack, mostLines = MOST_LINES, periodMs = PERIOD_MS } = options;
  const counts = new Map<string, number>();
  let endsAt = Number.NEGATIVE_INFINITY;
  let ending: NodeJS.Timeout | null = null;

  function end(): void {
    if (ending !== null) clearTimeout(ending);
    ending = null;
    const heldBack = new Map<string, number>();
    for (const [message, count] of counts) {
      if (count > mostLines) heldBack.set(message, count - mostLines);
    }
    counts.clear();
    endsAt = now() + periodMs;
    if (heldBack.size > 0) onHeldBack(heldBack);
  }

  return {
    admits(message) {
      if (now() >= endsAt || counts.size > MOST_MESSAGES) end();
      const count = (counts.get(message) ?? 0) + 1;
      counts.set(message, count);
      if (count <= mostLines) return true;
      ending ??= setTimeout(end, Math.max(0, endsAt - now())).unref();
      return false;
    },
  };
}
