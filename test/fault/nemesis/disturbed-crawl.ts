import { setTimeout as delay } from 'node:timers/promises';
import { type NetSize, netUrl } from '../../site/pages/net.ts';
import { randomFrom } from '../../site/random.ts';
import { faultsOf } from './faults.ts';
import { createFleetClient, type FleetClient } from './fleet-client.ts';
import type { History } from './history.ts';
import { createNemesis, type Nemesis } from './nemesis.ts';
import { expectedOf, type JobView, jobOf, requestOf, resultOf, urlOf } from './records.ts';
import { startStage } from './stage.ts';
import { freezeAnOwner } from './stale-owner.ts';

/**
 * random: faults chosen by chance until the job has ended. each: every kind of fault once, in random order.
 * stale: one worker is stopped for longer than a lease while it has pages under way.
 */
export const SCRIPTS = ['random', 'each', 'stale'] as const;
export type Script = (typeof SCRIPTS)[number];

export interface DisturbedCrawlOptions {
  /** For the fleet. Must be empty. */
  readonly dir: string;
  readonly size: NetSize;
  readonly ratePerSecond: number;
  readonly script: Script;
  readonly seed: number;
  /** Between two faults, on average. */
  readonly everyMs: number;
  readonly longestFaultMs: number;
  /** How long the faults may go on; the job gets as long again to end by itself. */
  readonly limitMs: number;
  readonly say: (line: string) => void;
}

const WORKERS = 3;
const CONNECTIONS = 2;
const LOOK_MS = 1_000;
const SAY_MS = 15_000;
const PATIENCE_MS = 120_000;
/** A job that has had nothing open for so many looks and has not ended never will. */
const MOST_IDLE_LOOKS = 5;

/** Crawls a web with a fleet that is hurt all the while, and resolves with everything that can be said about it. */
export async function disturbedCrawl(options: DisturbedCrawlOptions): Promise<History> {
  const { dir, size, ratePerSecond, say } = options;
  const pages = size.hosts * size.pagesPerHost;
  const promise = { ratePerSecond, connections: CONNECTIONS };
  const stage = await startStage({ dir, workers: WORKERS, ...promise, logLimit: 20 * pages + 100_000 });
  const { site, fleet } = stage;
  try {
    const client = createFleetClient({
      ...{ origin: fleet.origin, apiKey: fleet.apiKey, patienceMs: PATIENCE_MS },
    });
    const faults = faultsOf(stage);
    const nemesis = createNemesis({
      ...{ faults, random: randomFrom(options.seed), now: Date.now, say },
      ...{ everyMs: options.everyMs, longestMs: options.longestFaultMs },
    });
    const scripts: Record<Script, () => Promise<void>> = {
      random: nemesis.rage,
      each: nemesis.doEachOnce,
      stale: () => freezeAnOwner(site, faults, nemesis, options.longestFaultMs),
    };
    const id = await beginJob(client, size, site.port);
    say(`${pages} pages on ${size.hosts} hosts, ${ratePerSecond} requests per second and host`);
    const view = await untilEnded(client, id, nemesis, scripts[options.script], options);
    say(`the job is ${view.status}; reading what it left`);
    return {
      expected: expectedOf(size, site.port, promise),
      job: jobOf(view),
      actions: nemesis.actions,
      urls: await client.lines(`/v1/jobs/${id}/urls`, urlOf),
      results: await client.lines(`/v1/jobs/${id}/results`, resultOf),
      requests: (await site.entries()).map(requestOf),
    };
  } finally {
    await stage.stop();
  }
}

async function beginJob(client: FleetClient, size: NetSize, port: number): Promise<string> {
  const urls = Array.from({ length: size.hosts }, (_, host) => netUrl(size, { host, page: 0 }, port));
  const request = { urls, maxPages: null, sitemap: 'skip', options: { formats: ['rawHtml'] } };
  return ((await client.post('/v1/crawl', request, `nemesis-${port}`)) as JobView).id;
}

/** Reads the job now and then; only its own end, or the time limit, ends it. */
async function untilEnded(
  client: FleetClient,
  id: string,
  nemesis: Nemesis,
  script: () => Promise<void>,
  { limitMs, say }: DisturbedCrawlOptions,
): Promise<JobView> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  const look = async () => (await client.get(`/v1/jobs/${id}`)) as JobView;
  const troubles: unknown[] = [];
  const hurting = script().catch((error: unknown) => void troubles.push(error));
  let isCalm = false;
  let saidMs = 0;
  let idleLooks = 0;
  for (;;) {
    await delay(LOOK_MS);
    const view = await look();
    if (elapsedMs() - saidMs > SAY_MS) {
      saidMs = elapsedMs();
      say(`${Math.round(saidMs / 1_000)} s: ${view.progress.pages} pages, ${view.progress.open} open`);
    }
    idleLooks = view.progress.open > 0 ? 0 : idleLooks + 1;
    if (view.finishedAt !== null || idleLooks > MOST_IDLE_LOOKS || elapsedMs() > 2 * limitMs) break;
    if (isCalm || elapsedMs() < limitMs) continue;
    isCalm = true;
    say('no more faults: the job has to end now');
    void nemesis.stop().catch(() => undefined);
  }
  await nemesis.stop();
  await hurting;
  if (troubles.length > 0) throw troubles[0];
  // What the faults held up has come by now, and must have changed nothing.
  return look();
}
