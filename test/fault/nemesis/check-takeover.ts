import { byHost } from './check-politeness.ts';
import { type Evidence, isServer, joined, overlapMs, type Span, type Violation } from './evidence.ts';
import type { ActionRecord, History, UrlRecord } from './history.ts';

/** An owner that is gone is replaced within this time. */
const REPLACED_MS = 60_000;
const JUST_BEFORE_MS = 1_000;

export interface Gap extends Span {
  readonly host: string;
  /** Without the time in which a server was down that everybody needs. */
  readonly ms: number;
  /** Owners that may have been lost one after the other. */
  readonly losses: number;
}

/**
 * The stretches in which a host with open work was asked for nothing, the longest first. Jobs that were cancelled for a
 * while or had URLs retried do not say when their URLs were open, and hosts that fail are left alone on purpose.
 */
export function gapsOf({ requests, urls, actions, jobs, calls }: History): Gap[] {
  const outages = joined(actions.filter((action) => isServer(action) || action.target === 'fleet'));
  const changed = new Set(
    calls
      .filter(({ what }) => what === 'cancel' || what === 'retry' || what === 'gone')
      .map(({ job }) => job),
  );
  const steady = new Set(
    jobs
      .filter(({ name, sort }) => (sort === 'crawl' || sort === 'batch') && !changed.has(name))
      .map(({ name }) => name),
  );
  const work = openWork(
    urls.filter(({ job }) => steady.has(job)),
    requests.reduce((last, { at }) => Math.max(last, at), 0),
  );
  const asked = byHost(requests);
  const gaps: Gap[] = [];
  for (const [host, spans] of work) {
    const times = (asked.get(host) ?? []).map(({ at }) => at);
    for (const span of spans) {
      const inside = times.filter((time) => time > span.from && time < span.until);
      const edges = [span.from, ...inside, span.until];
      for (let at = 1; at < edges.length; at++) {
        const gap = { from: edges[at - 1] ?? 0, until: edges[at] ?? 0 };
        const ms = gap.until - gap.from - outages.reduce((sum, outage) => sum + overlapMs(gap, outage), 0);
        gaps.push({ host, ...gap, ms, losses: actions.filter((action) => isLoss(action, gap)).length });
      }
    }
  }
  return gaps.sort((a, b) => b.ms - a.ms);
}

/** A dead owner costs a host less than a minute; several, one after the other, cost so much each. */
export function checkTakeover(gaps: readonly Gap[], { at, near }: Evidence): Violation[] {
  return gaps
    .filter(({ ms, losses }) => ms >= REPLACED_MS * Math.max(1, losses))
    .map(({ host, from, until, ms }) => ({
      check: 'takeover',
      what:
        `${host} had open work and got no request for ${(ms / 1_000).toFixed(1)} s, ` +
        `from ${at(from)} to ${at(until)}; ${near(from)}`,
    }));
}

/** When each host had URLs that were found and not ended. */
function openWork(urls: readonly UrlRecord[], end: number): Map<string, Span[]> {
  const hosts = new Map<string, Span[]>();
  for (const { url, discoveredAt, finishedAt } of urls) {
    const { host } = new URL(url);
    const spans = hosts.get(host);
    const span = { from: discoveredAt, until: finishedAt ?? end };
    if (spans === undefined) hosts.set(host, [span]);
    else spans.push(span);
  }
  for (const [host, spans] of hosts) hosts.set(host, joined(spans));
  return hosts;
}

/** A worker was hurt that may have owned the host: since its last request, or just before. */
const isLoss = ({ target, from }: ActionRecord, gap: Span) =>
  target.startsWith('http-worker') && from >= gap.from - JUST_BEFORE_MS && from <= gap.until;
