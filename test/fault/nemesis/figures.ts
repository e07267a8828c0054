import { byHost } from './check-politeness.ts';
import { growthOf, mebibytes } from './check-processes.ts';
import type { Recovery } from './check-recovery.ts';
import type { Gap } from './check-takeover.ts';
import { kindOf } from './faults/faults.ts';
import type { History } from './history.ts';

const ROBOTS = '/robots.txt';
const SECOND_MS = 1_000;

export interface Figures {
  readonly summary: Readonly<Record<string, number>>;
  /** One row per kind of fault. */
  readonly faults: readonly FaultRow[];
  readonly memory: readonly string[];
}

export interface FaultRow {
  readonly kind: string;
  readonly count: number;
  /** Null: no worker had to recover from it, or the work was over before one had. */
  readonly slowestMs: number | null;
}

/** What one wants to know of a run besides whether it went well. */
export function figuresOf(history: History, gaps: readonly Gap[], recoveries: readonly Recovery[]): Figures {
  const { jobs, calls, requests, results, actions, memory } = history;
  const pages = requests.filter(({ path }) => path !== ROBOTS);
  const distinct = new Set(pages.map(({ host, path }) => host + path)).size;
  const ends = jobs.flatMap(({ last }) => last?.finishedAt ?? []);
  const count = (what: string) => calls.filter((call) => call.what === what && call.status === 200).length;
  const kinds = Map.groupBy(actions, kindOf);
  const slowest = (kind: string) =>
    recoveries
      .filter(({ action }) => kindOf(action) === kind)
      .reduce<number | null>((most, { ms }) => (ms === null ? most : Math.max(most ?? 0, ms)), null);
  return {
    summary: {
      seconds: Math.round((Math.max(0, ...ends) - history.expected.startedAt) / SECOND_MS),
      jobs: jobs.length,
      pages: jobs.reduce((sum, { wanted }) => sum + Object.keys(wanted).length, 0),
      results: results.length,
      scrapes: count('scrape'),
      cancels: count('cancel'),
      resumes: count('resume'),
      retries: count('retry'),
      deletes: count('delete'),
      requests: requests.length,
      robotsRequests: requests.length - pages.length,
      refetches: pages.length - distinct,
      mostInASecond: Math.max(0, ...[...byHost(requests).values()].map(mostInASecond)),
      mostAtOnce: requests.reduce((most, { inFlight }) => Math.max(most, inFlight), 0),
      longestGapSeconds: Math.round((gaps[0]?.ms ?? 0) / SECOND_MS),
      exits: history.exits.length,
      faults: actions.length,
      kinds: kinds.size,
    },
    faults: [...kinds]
      .map(([kind, done]) => ({ kind, count: done.length, slowestMs: slowest(kind) }))
      .sort((a, b) => a.kind.localeCompare(b.kind)),
    memory: growthOf(memory).map(
      ({ process, firstBytes, lastBytes }) =>
        `${process} ${mebibytes(firstBytes)} → ${mebibytes(lastBytes)} MiB`,
    ),
  };
}

/** Kinds, how often each was done, and the slowest recovery from it. */
export function faultTable(rows: readonly FaultRow[]): string {
  const width = Math.max(4, ...rows.map(({ kind }) => kind.length));
  const line = (kind: string, count: string, slowest: string) =>
    `${kind.padEnd(width)}  ${count.padStart(5)}  ${slowest.padStart(16)}`;
  return [
    line('kind', 'count', 'slowest recovery'),
    ...rows.map(({ kind, count, slowestMs }) =>
      line(kind, String(count), slowestMs === null ? '-' : `${(slowestMs / SECOND_MS).toFixed(1)} s`),
    ),
  ].join('\n');
}

function mostInASecond(requests: readonly { readonly at: number }[]): number {
  let most = 0;
  let first = 0;
  for (const [last, { at }] of requests.entries()) {
    while (at - (requests[first]?.at ?? 0) >= SECOND_MS) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
