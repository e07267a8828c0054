import type { Attempt } from './run.ts';

export interface TimingBar {
  readonly label: string;
  readonly kind: 'waiting' | 'fetching' | 'acting' | 'reading';
  readonly startMs: number;
  readonly ms: number;
}

interface ActionTime {
  readonly type: string;
  readonly ms: number;
}

type TimedAttempt = Pick<Attempt, 'engine' | 'at' | 'ms' | 'waitedMs' | 'outcome'>;

/**
 * The work on a URL as bars on one axis. An attempt states when it ended and how long it took; the actions of the last
 * attempt ran at its end, one after the other. What remains of the total is the reading of the page.
 */
export function timingBars(
  attempts: readonly TimedAttempt[],
  actions: readonly ActionTime[],
  totalMs: number | null,
): { readonly bars: readonly TimingBar[]; readonly totalMs: number } {
  const first = attempts[0];
  if (first === undefined) return { bars: [], totalMs: 1 };
  const beginAt = Date.parse(first.at) - first.ms - (first.waitedMs ?? 0);
  const bars: TimingBar[] = [];
  let endMs = 0;
  attempts.forEach((attempt, index) => {
    const startMs = Math.max(0, Date.parse(attempt.at) - attempt.ms - beginAt);
    const waitedMs = attempt.waitedMs ?? 0;
    const number = attempts.length === 1 ? '' : ` ${index + 1}`;
    if (waitedMs > 0) {
      const label = `Wait before attempt${number || ' 1'}: robots.txt, rate of the host, free place`;
      bars.push({ label, kind: 'waiting', startMs: Math.max(0, startMs - waitedMs), ms: waitedMs });
    }
    bars.push({
      label: `Attempt${number}: ${attempt.engine}, ${attempt.outcome}`,
      kind: 'fetching',
      startMs,
      ms: attempt.ms,
    });
    endMs = Math.max(endMs, startMs + attempt.ms);
  });
  let startMs = Math.max(0, endMs - actions.reduce((sum, { ms }) => sum + ms, 0));
  actions.forEach(({ type, ms }, index) => {
    bars.push({ label: `Action ${index + 1}: ${type}`, kind: 'acting', startMs, ms });
    startMs += ms;
  });
  const restMs = (totalMs ?? 0) - endMs;
  if (restMs > 0) bars.push({ label: 'Reading and storing', kind: 'reading', startMs: endMs, ms: restMs });
  return { bars, totalMs: Math.max(1, endMs, totalMs ?? 0) };
}
