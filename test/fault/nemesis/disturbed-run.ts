import { setTimeout as delay } from 'node:timers/promises';
import { fleetHealth } from '../../../fleet/fleet-health.ts';
import { randomFrom } from '../../site/random.ts';
import { allFaults, kindOf } from './faults/faults.ts';
import { createFleetClient } from './fleet-client.ts';
import type { History, MemoryRecord, RefusalRecord } from './history.ts';
import { endlessHosts } from './job-plans.ts';
import { leftBehind } from './leftovers.ts';
import { createNemesis, type Nemesis } from './nemesis.ts';
import { requestOf } from './records.ts';
import { SCRIPTS, type Script } from './scripts.ts';
import { type Stage, startStage } from './stage.ts';
import { openTenants } from './tenants.ts';
import { createWorkload, type Workload } from './workload.ts';

export interface DisturbedRunOptions {
  /** For the fleet. Must be empty. */
  readonly dir: string;
  /** Pages of all jobs together; the large crawls get two thirds of them. */
  readonly pages: number;
  readonly hosts: number;
  readonly sideJobs: number;
  readonly ratePerSecond: number;
  readonly script: Script;
  /** Kinds of faults to choose from, by the beginning of their names; all when empty. */
  readonly kinds: readonly string[];
  /** Kinds to leave out, likewise. */
  readonly withoutKinds: readonly string[];
  /** The run goes on until so many faults of so many kinds are over. */
  readonly leastFaults: number;
  readonly leastKinds: number;
  readonly hasBrowser: boolean;
  readonly seed: number;
  /** Between two faults, on average. */
  readonly everyMs: number;
  readonly longestFaultMs: number;
  /** How long the faults may go on; the jobs get as long again to end by themselves. */
  readonly limitMs: number;
  readonly say: (line: string) => void;
}

const WORKERS = 3;
const CONNECTIONS = 2;
const SAY_MS = 15_000;
const MEMORY_MS = 5_000;
const PATIENCE_MS = 180_000;
/** Every job gets so long to end after the last fault. */
const LEAST_TO_END_MS = 120_000;
const MAIN_CRAWLS = 4;
const MAIN_SHARE = 2 / 3;
const JOBS_TO_FILL = 24;
const TENANTS = 2;
/** Longer than the pause between two looks of the fleet's proxy at `/readyz`. */
const NOTICE_MS = 5_000;
const SCRAPERS = 4;
/** For the jobs and deliveries of accounts to end after the last fault, and for the accounts to be deleted. */
const SETTLE_MS = 90_000;

/** Uses a fleet that is hurt all the while, and resolves with everything that can be said about it. */
export async function disturbedRun(options: DisturbedRunOptions): Promise<History> {
  const { dir, pages, hosts, ratePerSecond, say } = options;
  const isGentle = options.script === 'rolling';
  const promise = { ratePerSecond, connections: CONNECTIONS };
  const stage = await startStage({
    ...{ dir, workers: WORKERS, hasBrowser: options.hasBrowser, ...promise, logLimit: 20 * pages + 100_000 },
    // What is under way is given back after a short time, unless processes are to finish it.
    ...(isGentle ? { drainMs: 30_000, drainNoticeMs: NOTICE_MS } : { drainMs: 8_000, drainNoticeMs: 0 }),
  });
  const closers: (() => Promise<void>)[] = [];
  const memory: MemoryRecord[] = [];
  const refusals: RefusalRecord[] = [];
  const measuring = setInterval(() => void measure(stage, memory), MEMORY_MS);
  try {
    const { fleet, site } = stage;
    const client = createFleetClient({
      ...{ origin: fleet.origin, apiKey: fleet.apiKey, patienceMs: PATIENCE_MS },
      onRefusal: (refusal) => void refusals.push(refusal),
    });
    const random = randomFrom(options.seed);
    const tenants = await openTenants({
      ...{ origin: fleet.origin, operator: client, patienceMs: PATIENCE_MS, port: site.port },
      ...{ random: randomFrom(options.seed + 2), count: options.sideJobs === 0 ? 0 : TENANTS },
    });
    closers.push(() => tenants.close());
    let hasEnough = () => true;
    const mainShare = options.sideJobs === 0 ? 1 : MAIN_SHARE;
    const workload = createWorkload({
      ...{ client, port: site.port, random: randomFrom(options.seed + 1), now: Date.now, pages },
      ...{
        mainHosts: hosts,
        mainPages: pages * mainShare,
        mainCrawls: options.sideJobs === 0 ? 1 : MAIN_CRAWLS,
      },
      scrapers: isGentle ? SCRAPERS : 1,
      sidePages: Math.max(40, Math.round((pages * (1 - MAIN_SHARE)) / JOBS_TO_FILL)),
      ...{ sideJobs: options.sideJobs, hasBrowser: options.hasBrowser, hasMore: () => !hasEnough() },
      beside: tenants.run,
    });
    const beginsWith = (names: readonly string[], kind: string) =>
      names.some((name) => kind.startsWith(name));
    const faults = (await allFaults({ stage, random, live: workload.live })).filter((fault) => {
      const kind = kindOf(fault);
      const isChosen = options.kinds.length === 0 || beginsWith(options.kinds, kind);
      return isChosen && !beginsWith(options.withoutKinds, kind);
    });
    const nemesis = createNemesis({
      ...{ faults, random, now: Date.now, say },
      ...{ everyMs: options.everyMs, longestMs: options.longestFaultMs },
    });
    const { leastFaults, leastKinds } = options;
    hasEnough = () =>
      nemesis.actions.length >= leastFaults && new Set(nemesis.actions.map(kindOf)).size >= leastKinds;
    await measure(stage, memory);
    const startedAt = Date.now();
    say(`${pages} pages on ${hosts} hosts, ${ratePerSecond} requests per second and host`);
    const script = () =>
      SCRIPTS[options.script]({ nemesis, faults, site, leastFaults, longestFaultMs: options.longestFaultMs });
    const troubles = await untilEnded(workload, nemesis, script, options);
    await tenants.settle(SETTLE_MS);
    const accounts = await tenants.record();
    say('reading what the jobs left');
    const harvests = await workload.harvestAll();
    const requests = (await site.entries()).map(requestOf);
    await measure(stage, memory);
    const stored = await workload.deleteAll();
    await tenants.remove(SETTLE_MS);
    say(`${stored.length} jobs deleted; looking for leftovers`);
    const leftovers = await leftBehind(stage);
    await stage.stopFleet();
    return {
      expected: {
        ...promise,
        endlessHosts: endlessHosts(site.port),
        startedAt,
        leastFaults,
        leastKinds,
        isGentle,
        troubles,
      },
      jobs: harvests.map(({ job }) => job),
      urls: harvests.flatMap(({ urls }) => urls),
      results: harvests.flatMap(({ results }) => results),
      calls: workload.calls,
      stored,
      ...{ requests, actions: nemesis.actions, memory, leftovers, refusals },
      ...{ tenants: accounts, received: tenants.received },
      exits: stage.processes.flatMap(({ name, exits }) => exits.map((exit) => ({ process: name, ...exit }))),
    };
  } finally {
    clearInterval(measuring);
    await stage.stop();
    for (const close of closers) await close();
  }
}

async function measure({ fleet }: Stage, memory: MemoryRecord[]): Promise<void> {
  const at = Date.now();
  const rows = await fleetHealth(fleet).catch(() => []);
  for (const { name, rssBytes } of rows) {
    const isOurs = fleet.processes.some((process) => process.name === name);
    if (isOurs && rssBytes !== null) memory.push({ process: name, at, rssBytes });
  }
}

/** Faults go on until the clients have nothing more to do or the time is over; then every job has to end. Resolves with
 * what went wrong with the run itself. */
async function untilEnded(
  workload: Workload,
  nemesis: Nemesis,
  script: () => Promise<void>,
  { limitMs, say }: DisturbedRunOptions,
): Promise<string[]> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  const troubles: string[] = [];
  const trouble = (error: unknown) => {
    troubles.push(String(error));
    say(String(error));
  };
  let isDone = false;
  const hurting = script().catch(trouble);
  const working = workload
    .run()
    .catch(trouble)
    .finally(() => {
      isDone = true;
    });
  const telling = setInterval(() => {
    const settled = workload.lives.filter((life) => life.isSettled).length;
    const faults = `${nemesis.actions.length} faults over`;
    say(
      `${workload.pagesAsked} pages asked for, ${settled} of ${workload.lives.length} jobs ended, ${faults}`,
    );
  }, SAY_MS);
  try {
    while (!isDone && elapsedMs() < limitMs && troubles.length === 0) await delay(200);
    say('no more faults: the jobs have to end now');
    workload.acceptNoMore();
    const late = setTimeout(() => workload.giveUp(), Math.max(LEAST_TO_END_MS, limitMs));
    await nemesis.stop().catch(trouble);
    await hurting;
    await working;
    await workload.settleAll().catch(trouble);
    clearTimeout(late);
    const open = workload.lives.filter((life) => !life.isSettled).map(({ name }) => name);
    if (open.length > 0) say(`jobs that have not ended: ${open.join(', ')}`);
  } finally {
    clearInterval(telling);
  }
  return [...new Set(troubles)];
}
