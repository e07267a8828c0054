import { statfs } from 'node:fs/promises';
import type { Settings } from '../core/config/settings.ts';
import type { MetricSources, WaitingWork } from '../core/observe/metrics/sources.ts';
import type { KnownProcess } from '../core/ports/bus.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { Store } from '../core/ports/store.ts';
import type { PoolFigures } from '../crawl/plan/proxies/fleet-figures.ts';
import { VERSION } from '../version.ts';
import type { Crawler } from './crawler.ts';
import type { Browsers } from './open-browsers.ts';
import type { Links } from './open-links.ts';
import type { Readers } from './open-readers.ts';
import type { Duties } from './roles.ts';

export interface MetricSourceParts {
  readonly settings: Settings;
  readonly duties: Duties;
  readonly store: Pick<Store, 'workload' | 'deliveryBacklog'>;
  readonly queue: Pick<Queue, 'depth' | 'oldestCallMs'>;
  readonly links: Pick<Links, 'operations'>;
  readonly crawler: Pick<Crawler, 'activeSlices' | 'inFlight'> | null;
  readonly browsers: Browsers | null;
  readonly proxies: () => PoolFigures | null;
  readonly readers: Pick<Readers, 'lags'> | null;
  readonly processes: () => readonly KnownProcess[];
}

/** How long an answer about the whole installation is given again: several metrics and readers ask for it at once. */
const FRESH_MS = 500;

/** Where the metrics of this process look, and what waits in the whole installation. */
export function metricSourcesOf(parts: MetricSourceParts): {
  readonly sources: MetricSources;
  readonly waiting: () => Promise<readonly WaitingWork[]>;
} {
  const { settings, duties, store, crawler, browsers, readers, links, processes } = parts;
  const workload = kept(async () => {
    const [found, deliveries] = await Promise.all([store.workload(), store.deliveryBacklog()]);
    return { ...found, deliveries };
  });
  const renders = kept(() => waitingRenders(parts));
  const waiting = async () => {
    const { dueHosts, oldestDueMs } = await workload();
    // Without the queue it is still known which hosts wait.
    const calls = await renders().catch(() => []);
    return [{ queue: 'http' as const, waiting: dueHosts, oldestMs: oldestDueMs }, ...calls];
  };
  return {
    waiting,
    sources: {
      info: { version: VERSION, role: settings.role },
      crawl:
        crawler === null
          ? null
          : {
              activeSlices: crawler.activeSlices,
              hostSlots: settings.maxHosts,
              inFlightFetches: crawler.inFlight,
              fetchSlots: settings.maxConcurrency,
            },
      installation:
        duties.api || duties.schedule
          ? { figures: workload, waiting, processes: () => byRole(processes()) }
          : null,
      browsers:
        browsers === null
          ? null
          : {
              figures: () => browsers.figures(),
              pageSlots: browsers.pagesAtOnce,
              solvers: () => browsers.solverFigures(),
            },
      proxies: parts.proxies,
      readerLags: readers === null ? null : readers.lags,
      redisCommands: settings.redisUrl === undefined ? null : links.operations,
      disk: settings.databaseUrl === undefined ? () => diskOf(settings.dataDir) : null,
    },
  };
}

/** A process with every role has browsers of its own; others ask through the queue, which all of them share. */
async function waitingRenders({ settings, browsers, queue }: MetricSourceParts): Promise<WaitingWork[]> {
  const names = ['browser', 'stealth'] as const;
  if (settings.role === 'all') {
    return names.map((name) => ({
      queue: name,
      ...(browsers?.renders.waiting(name) ?? { waiting: 0, oldestMs: 0 }),
    }));
  }
  return Promise.all(
    names.map(async (name) => {
      const call = `scrape-${name}` as const;
      const [{ waiting }, oldestMs] = await Promise.all([queue.depth(call), queue.oldestCallMs(call)]);
      return { queue: name, waiting, oldestMs };
    }),
  );
}

function byRole(processes: readonly KnownProcess[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { role } of processes) counts[role] = (counts[role] ?? 0) + 1;
  return counts;
}

async function diskOf(folder: string): Promise<{ freeBytes: number; sizeBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

/** Asks once for all callers of the next moments. A failure is not kept. */
function kept<T>(look: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly found: Promise<T> } | null = null;
  return () => {
    if (last !== null && performance.now() - last.at < FRESH_MS) return last.found;
    const asked = { at: performance.now(), found: look() };
    last = asked;
    asked.found.catch(() => {
      if (last === asked) last = null;
    });
    return asked.found;
  };
}
