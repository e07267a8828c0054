import type { FastifyInstance } from 'fastify';
import type { ApiSetup, OpenPlatform } from '../cli/shell/shell.ts';
import { createApi } from '../http/api.ts';
import { addFirecrawlRoutes } from '../http/compat/firecrawl/firecrawl-api.ts';
import { isWatchPath } from '../http/compat/firecrawl/watch-job.ts';
import { browserPart, createReadiness } from '../http/health/readiness.ts';
import { defined } from '../lib/defined.ts';

/** The API over an open platform: all of it, or only health and metrics where the role of the process is no API. */
export function createPlatformApi(
  platform: OpenPlatform,
  { version, logger, metrics, activity, system, isStopping = () => false }: ApiSetup,
): Promise<FastifyInstance> {
  const { capabilities, store, queue, blobs, exportFiles, bus, jobs, policies, limits, now, duties } =
    platform;
  const { browserHealth } = platform;
  return createApi({
    ...capabilities,
    blobs,
    exportFiles,
    store,
    bus,
    limits,
    settings: platform.settings,
    logger,
    metrics,
    ...defined({ activity }),
    readiness: createReadiness({
      parts: {
        store: {
          check: () => store.check(),
          isEssential: true,
          degradation: () => platform.storeDegradation(),
        },
        // Without Redis an API still takes work in, which waits in the store; the others get none.
        queue: {
          check: () => queue.check(),
          isEssential: !duties.api,
          degradation: () => queue.degradation(),
        },
        blobs: {
          async check() {
            await blobs.check();
            // While new work is refused for want of room, this process is not ready for it.
            jobs.requireRoom();
          },
          isEssential: true,
          degradation: () => blobs.degradation(),
        },
        bus: { check: () => bus.check(), isEssential: false },
        ...(duties.api ? { limits: { check: () => limits.check(), isEssential: false } } : {}),
        // A process that renders is of no use without a browser; one with every role goes on with plain HTTP.
        ...(browserHealth === null ? {} : { browser: browserPart(browserHealth, duties.render !== null) }),
      },
      now,
    }),
    policies: {
      policyFor: (host) => policies().policyFor(host),
      denied: (host) => policies().denied(host),
    },
    proxyFigures: platform.proxyFigures,
    system: {
      ...system,
      processes: platform.processes,
      queueDepth: () => queue.depth('scrape-http'),
      waiting: platform.waiting,
      load: () => platform.load(),
    },
    version,
    isStopping,
    now,
    onlyOperations: !duties.api,
    addOtherRoutes: addFirecrawlRoutes,
    upgrades: isWatchPath,
  });
}
