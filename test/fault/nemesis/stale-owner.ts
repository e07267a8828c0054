import { setTimeout as delay } from 'node:timers/promises';
import type { RemoteSite } from '../../site/remote-site.ts';
import type { Fault } from './faults.ts';
import type { Nemesis } from './nemesis.ts';
import { workerNamed } from './stage.ts';

const LEAST_UNDER_WAY = 4;
/** By then a host has more work than its owner has begun. */
const LEAST_PAGES_PER_HOST = 6;
const POLL_MS = 20;
const WAIT_MS = 30_000;

/**
 * Stops a worker for so long that its hosts get other owners, at a moment when it has pages under way: when it wakes
 * up it has answers in hand for tasks that are no longer its own.
 */
export async function freezeAnOwner(
  site: RemoteSite,
  faults: readonly Fault[],
  nemesis: Nemesis,
  frozenMs: number,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline) {
    const busy = await busiestOf(site);
    const pause = faults.find(({ kind, target }) => kind === 'pause' && target === busy);
    if (pause?.isPossible()) return nemesis.doNow(pause, frozenMs);
    await delay(POLL_MS);
  }
  throw new Error('No worker ever had enough pages under way.');
}

/** The worker with the most pages under way; null for as long as nobody has enough, or the crawl has just begun. */
async function busiestOf(site: RemoteSite): Promise<string | null> {
  const pages = (await site.entries()).filter(({ path }) => path !== '/robots.txt');
  const hosts = new Set(pages.map(({ host }) => host)).size;
  if (pages.length < LEAST_PAGES_PER_HOST * hosts) return null;
  const underWay = new Map<string, number>();
  for (const { endedAt, headers } of pages) {
    const worker = workerNamed(headers['user-agent']);
    if (endedAt === null) underWay.set(worker, (underWay.get(worker) ?? 0) + 1);
  }
  const [busiest] = [...underWay].sort(([, a], [, b]) => b - a);
  return busiest !== undefined && busiest[1] >= LEAST_UNDER_WAY ? busiest[0] : null;
}
