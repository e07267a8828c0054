/** What a process does at the moment, as far as it is known by name. Labels come from fixed lists, such as routes. */
export interface Activity {
  /** Something with this label has begun; the function it returns says that it has ended, and may be called twice. */
  begin(label: string): () => void;
  /** Labels under way with their numbers, most first. */
  underWay(): Readonly<Record<string, number>>;
  /** The labels that began last, newest first. */
  recent(): readonly string[];
}

const RECENT = 10;

export function createActivity(): Activity {
  const counts = new Map<string, number>();
  const recent: string[] = [];
  return {
    begin(label) {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      recent.unshift(label);
      if (recent.length > RECENT) recent.pop();
      let isUnderWay = true;
      return () => {
        if (!isUnderWay) return;
        isUnderWay = false;
        const left = (counts.get(label) ?? 1) - 1;
        if (left > 0) counts.set(label, left);
        else counts.delete(label);
      };
    },
    underWay: () => Object.fromEntries([...counts].sort(([, a], [, b]) => b - a)),
    recent: () => [...recent],
  };
}

/**
 * The share of its time that the event loop has spent on work in the last second, from 0 to 1, for a caller that looks
 * again and again. One that did not look for long gets 1 for a second: what the loop did then says nothing about now.
 */
export function createLoopShare(clock: () => number = () => performance.now()): () => number {
  let before = performance.eventLoopUtilization();
  let lookedAt = clock();
  let share = 1;
  return () => {
    const sinceMs = clock() - lookedAt;
    if (sinceMs < SHARE_EVERY_MS) return share;
    const now = performance.eventLoopUtilization();
    const isStale = sinceMs >= 2 * SHARE_EVERY_MS;
    share = isStale ? 1 : performance.eventLoopUtilization(now, before).utilization;
    [before, lookedAt] = [now, clock()];
    return share;
  };
}

const SHARE_EVERY_MS = 1_000;

export interface LoopWatchOptions {
  /** Told of every look: how much later than due it came. */
  readonly onDelay: (delayMs: number) => void;
  /**
   * Told when the loop was held up for BLOCKED_MS or longer. `cpuMs` is what the main thread computed meanwhile: about
   * as much when code blocked the loop, next to nothing when the process was stopped or had no CPU.
   */
  readonly onBlocked: (delayMs: number, cpuMs: number) => void;
  readonly now?: () => number;
  readonly cpuMs?: () => number;
}

export interface LoopWatch {
  /** Looks at the clock; called by a timer as well. */
  look(): void;
  close(): void;
}

export const BLOCKED_MS = 1_000;
const EVERY_MS = 20;

/** Measures how long the event loop is held up, by a timer that should come every 20 ms. */
export function watchLoop(options: LoopWatchOptions): LoopWatch {
  const { onDelay, onBlocked, now = () => performance.now(), cpuMs = threadCpuMs } = options;
  let lookedAt = now();
  let cpuThenMs = cpuMs();
  function look(): void {
    const at = now();
    const cpuNowMs = cpuMs();
    const delayMs = Math.max(0, at - lookedAt - EVERY_MS);
    onDelay(delayMs);
    if (delayMs >= BLOCKED_MS) onBlocked(Math.round(delayMs), Math.round(cpuNowMs - cpuThenMs));
    lookedAt = at;
    cpuThenMs = cpuNowMs;
  }
  const timer = setInterval(look, EVERY_MS).unref();
  return { look, close: () => clearInterval(timer) };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
