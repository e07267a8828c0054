import { setTimeout as delay } from 'node:timers/promises';
import type { RemoteSite } from '../../site/remote-site.ts';
import type { Fault } from './faults/fault.ts';
import { kindOf } from './faults/faults.ts';
import type { Nemesis } from './nemesis.ts';
import { workerNamed } from './stage.ts';

/** What a script of faults has to work with. */
export interface ScriptParts {
  readonly nemesis: Nemesis;
  readonly faults: readonly Fault[];
  readonly site: RemoteSite;
  readonly longestFaultMs: number;
  readonly leastFaults: number;
}

/**
 * - `rage`: all kinds by chance, until the run is over.
 * - `stale`: one worker is stopped for longer than a lease while it has pages under way.
 * - `clock`: the clock of a worker steps an hour ahead, another one's an hour back, Redis forgets who has what, and the
 *   worker that is ahead is killed.
 * - `back`: the store goes back in time while URLs are being found.
 * - `rolling`: all processes are restarted one after the other, as for an upgrade, as often as faults are asked for.
 * - `none`: nothing.
 */
export const SCRIPTS = {
  rage: ({ nemesis }) => nemesis.rage(),
  stale: freezeAnOwner,
  clock: stepClocks,
  back: goBack,
  rolling: restartAll,
  none: async () => undefined,
} as const satisfies Record<string, (parts: ScriptParts) => Promise<void>>;
export type Script = keyof typeof SCRIPTS;

const LEAST_UNDER_WAY = 4;
/** By then a host has more work than its owner has begun. */
const LEAST_PAGES_PER_HOST = 6;
const POLL_MS = 20;
const WAIT_MS = 30_000;
const FLUSHES = 3;
const BETWEEN_FLUSHES_MS = 3_000;
const TIMES_BACK = 2;

function find(faults: readonly Fault[], kind: string, target: string | null): Fault {
  const found = faults.find(
    (fault) => kindOf(fault) === kind && (target === null || fault.target === target),
  );
  if (found === undefined) throw new Error(`There is no ${kind} of ${target ?? 'anything'}.`);
  return found;
}

/**
 * Stops a worker for so long that its hosts get other owners, at a moment when it has pages under way: when it wakes
 * up it has answers in hand for tasks that are no longer its own.
 */
async function freezeAnOwner({ site, faults, nemesis, longestFaultMs }: ScriptParts): Promise<void> {
  const owner = await busyOwner(site);
  await nemesis.doNow(find(faults, 'process: pause', owner), longestFaultMs);
}

/** One worker believes that every lease has run out, the other that none ever does. */
async function stepClocks({ site, faults, nemesis, longestFaultMs }: ScriptParts): Promise<void> {
  const owner = await busyOwner(site);
  const other = owner === 'http-worker-1' ? 'http-worker-2' : 'http-worker-1';
  const steps = [
    nemesis.doNow(find(faults, 'process: clock ahead', owner), longestFaultMs),
    nemesis.doNow(find(faults, 'process: clock behind', other), longestFaultMs),
  ];
  for (let at = 0; at < FLUSHES; at++) {
    await delay(BETWEEN_FLUSHES_MS);
    await nemesis.doNow(find(faults, 'redis: flush', null), 0);
  }
  // Its last leases were taken an hour ahead: they must not last an hour.
  await nemesis.doNow(find(faults, 'process: kill', owner), 0);
  await Promise.all(steps);
}

async function goBack({ site, faults, nemesis, longestFaultMs }: ScriptParts): Promise<void> {
  await busyOwner(site);
  for (let at = 0; at < TIMES_BACK; at++) {
    await nemesis.doNow(find(faults, 'postgres: go back in time', null), longestFaultMs);
  }
}

async function restartAll({ site, faults, nemesis, leastFaults }: ScriptParts): Promise<void> {
  await busyOwner(site);
  for (let at = 0; at < leastFaults; at++) {
    await nemesis.doNow(find(faults, 'process: rolling restart', null), 0);
  }
}

/** The worker with the most pages under way, once one has enough and the crawl has properly begun. */
async function busyOwner(site: RemoteSite): Promise<string> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline) {
    const pages = (await site.entries()).filter(({ path }) => path !== '/robots.txt');
    const hosts = new Set(pages.map(({ host }) => host)).size;
    const underWay = new Map<string, number>();
    for (const { endedAt, headers } of pages) {
      const worker = workerNamed(headers['user-agent']);
      if (endedAt === null) underWay.set(worker, (underWay.get(worker) ?? 0) + 1);
    }
    const [busiest] = [...underWay].sort(([, a], [, b]) => b - a);
    const hasBegun = pages.length >= LEAST_PAGES_PER_HOST * hosts;
    if (hasBegun && busiest !== undefined && busiest[1] >= LEAST_UNDER_WAY) return busiest[0];
    await delay(POLL_MS);
  }
  throw new Error('No worker ever had enough pages under way.');
}
