import { byHost } from './check-politeness.ts';
import type { Gap } from './check-takeover.ts';
import type { History } from './history.ts';

const ROBOTS = '/robots.txt';
const SECOND_MS = 1_000;

export type Figures = ReturnType<typeof figuresOf>;

/** What one wants to know of a run besides whether it went well. */
export function figuresOf({ job, requests, results, actions, expected }: History, gaps: readonly Gap[]) {
  const pages = requests.filter(({ path }) => path !== ROBOTS);
  const distinct = new Set(pages.map(({ host, path }) => host + path)).size;
  const [longest] = gaps;
  const withOneLoss = gaps.find(({ losses }) => losses <= 1);
  return {
    pages: Object.keys(expected.pages).length,
    results: results.length,
    seconds: job.finishedAt === null ? null : Math.round((job.finishedAt - job.createdAt) / SECOND_MS),
    requests: requests.length,
    robotsRequests: requests.length - pages.length,
    refetches: pages.length - distinct,
    mostInASecond: Math.max(0, ...[...byHost(requests).values()].map(mostInASecond)),
    mostAtOnce: requests.reduce((most, { inFlight }) => Math.max(most, inFlight), 0),
    actions: actions.length,
    actionsByKind: countBy(actions.map(({ kind, target }) => `${kind} ${target.replace(/-\d+$/, '')}`)),
    longestGapSeconds: Math.round((longest?.ms ?? 0) / SECOND_MS),
    longestGapOfOneLossSeconds: Math.round((withOneLoss?.ms ?? 0) / SECOND_MS),
  };
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

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
