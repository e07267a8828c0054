import { type Evidence, isServer, joined, overlapMs, type Violation } from './evidence.ts';
import type { ActionRecord, History } from './history.ts';

/** A worker works again so soon after a fault is over. */
const MOST_MS = 60_000;
/** Towards the end there is less work than there are workers. */
const BUSY_SHARE = 0.9;

/** How long the slowest of those concerned took to ask a host for something after a fault was over. */
export interface Recovery {
  readonly action: ActionRecord;
  readonly worker: string;
  /** Without the time in which other faults held it up. Null: the work was over before that could be seen. */
  readonly ms: number | null;
  /** Whether it did not come back while there was work. */
  readonly isMissing: boolean;
}

/** One per fault that keeps workers from their work; the others, to an API for instance, have none. */
export function recoveriesOf({ actions, requests }: Pick<History, 'actions' | 'requests'>): Recovery[] {
  const busy = requests.filter(({ worker }) => worker.startsWith('http-worker'));
  const busyUntil = busy[Math.floor(busy.length * BUSY_SHARE)]?.at ?? 0;
  const times = new Map<string, number[]>();
  for (const { worker, at } of requests) {
    const known = times.get(worker);
    if (known === undefined) times.set(worker, [at]);
    else known.push(at);
  }
  const workers = [...times.keys()].filter((worker) => worker.startsWith('http-worker'));
  return actions.flatMap((action) => {
    const concerned =
      isServer(action) || action.target === 'fleet'
        ? workers
        : workers.filter((one) => one === action.target);
    const found = concerned.map((worker) =>
      recoveryOf(action, worker, times.get(worker) ?? [], actions, busyUntil),
    );
    return found
      .sort((a, b) => Number(b.isMissing) - Number(a.isMissing) || (b.ms ?? 0) - (a.ms ?? 0))
      .slice(0, 1);
  });
}

function recoveryOf(
  action: ActionRecord,
  worker: string,
  times: readonly number[],
  actions: readonly ActionRecord[],
  busyUntil: number,
): Recovery {
  const { until } = action;
  const first = times.find((time) => time >= until) ?? Number.POSITIVE_INFINITY;
  const others = actions.filter(
    (other) => other !== action && (isServer(other) || other.target === 'fleet' || other.target === worker),
  );
  const netMs = (end: number) =>
    end - until - joined(others).reduce((sum, span) => sum + overlapMs(span, { from: until, until: end }), 0);
  if (first <= busyUntil) return { action, worker, ms: Math.max(0, netMs(first)), isMissing: false };
  return { action, worker, ms: null, isMissing: busyUntil > until && netMs(busyUntil) > MOST_MS };
}

export function checkRecovery(recoveries: readonly Recovery[], { at }: Evidence): Violation[] {
  return recoveries
    .filter(({ ms, isMissing }) => isMissing || (ms ?? 0) > MOST_MS)
    .map(({ action, worker, ms }) => {
      const when = ms === null ? 'never came back' : `came back after ${(ms / 1_000).toFixed(1)} s`;
      const what = `${worker} ${when} after ${action.kind} ${action.target}, which was over at ${at(action.until)}`;
      return { check: 'recovery', what };
    });
}
