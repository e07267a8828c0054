import { createCallSeal } from '../capabilities/sessions/vault.ts';
import type { Settings } from '../core/config/settings.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Consumer, Queue } from '../core/ports/queue.ts';
import { budgetBytesFor, createByteBudget } from '../fetch/byte-budget.ts';
import type { Engine } from '../fetch/engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import { startRenderWorker } from '../fetch/remote/render-worker.ts';
import { createParcels, sealCalls } from '../fetch/remote/sealed-calls.ts';
import type { OpenBlobs } from './open-blobs.ts';
import { type Browsers, openBrowsers } from './open-browsers.ts';

/** The part of the platform that answers renders for the owners of hosts. */
export interface Renderer {
  readonly browsers: Browsers;
  /** Throws NO_BROWSER or BROWSER_UNCONFINED where there is nothing to render with. */
  start(): Promise<void>;
  /** Finishes the renders under way, up to the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

export interface RendererParts {
  readonly name: RenderName;
  readonly settings: Settings;
  readonly queue: Queue;
  readonly blobs: OpenBlobs;
  readonly transit: Blobs;
  readonly logger: Logger;
}

export function createRenderer(parts: RendererParts): Renderer {
  const { name, settings, queue, blobs, transit, logger } = parts;
  const seal = createCallSeal(settings.vaultKey, settings.vaultOldKeys);
  const browsers = openBrowsers(settings, logger);
  let answering: Consumer | null = null;
  let changing: Promise<void> = Promise.resolve();
  let isStopped = false;

  const budget = createByteBudget(budgetBytesFor(settings.maxBytesInFlight));

  const begin = () =>
    startRenderWorker({
      name,
      queue: sealCalls(queue, seal),
      blobs,
      parcels: createParcels(transit, seal),
      storageRefusal: () => blobs.refusal(),
      engine: retriedElsewhere(browsers.engine(name)),
      // A call that waits for a page here could be served by another worker.
      concurrency: browsers.pagesAtOnce,
      budget,
      logger,
    });

  /** While no browser can be launched here, other workers get the calls; a browser that is just replaced is waited for. */
  async function follow(): Promise<void> {
    const { state, code, reason } = await browsers.health(name);
    if (isStopped) return;
    const canRender = state !== 'failing' || code === 'BROWSER_LOST';
    if (canRender && answering === null) {
      logger.info({ engine: name }, 'render worker takes calls again');
      answering = await begin();
    } else if (!canRender && answering !== null) {
      logger.warn({ engine: name, reason }, 'render worker takes no calls: it has no browser');
      const consumer = answering;
      answering = null;
      await consumer.stop();
    }
  }

  return {
    browsers,
    async start() {
      await browsers.require(name);
      answering = await begin();
      browsers.onChange(() => {
        changing = changing.then(follow).catch((error: unknown) => {
          logger.warn({ engine: name, err: error }, 'render worker could not be paused or resumed');
        });
      });
    },
    async stop(deadlineMs) {
      isStopped = true;
      // Ending the browsers ends the renders that outlast the deadline; their callers ask another worker.
      const giveUp = setTimeout(() => void browsers.close(), deadlineMs);
      await changing;
      await answering?.stop();
      clearTimeout(giveUp);
      await browsers.close();
    },
  };
}

/** A worker that has lost its browser for good is not the only one: the URL is rendered by another. */
function retriedElsewhere(engine: Engine): Engine {
  return {
    name: engine.name,
    async fetch(request) {
      try {
        return await engine.fetch(request);
      } catch (error) {
        if (!isScrapifieError(error)) throw error;
        if (error.code !== 'NO_BROWSER' && error.code !== 'BROWSER_UNCONFINED') throw error;
        throw new ScrapifieError('BROWSER_LOST', `This worker has no browser any more: ${error.message}`);
      }
    },
    close: () => engine.close(),
  };
}
