import type { Settings } from '../config/settings.ts';
import { budgetBytesFor, createByteBudget } from '../fetch/byte-budget.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import { startRenderWorker } from '../fetch/remote/render-worker.ts';
import { sealCalls } from '../fetch/remote/sealed-calls.ts';
import type { Logger } from '../observe/logger.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Consumer, Queue } from '../ports/queue.ts';
import { createCallSeal } from '../sessions/call-seal.ts';
import { openBrowsers } from './open-browsers.ts';

/** The part of the platform that answers renders for the owners of hosts. */
export interface Renderer {
  /** Throws NO_BROWSER where there is nothing to render with. */
  start(): Promise<void>;
  /** Finishes what is under way, up to the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

export interface RendererParts {
  readonly name: RenderName;
  readonly settings: Settings;
  readonly queue: Queue;
  readonly blobs: Blobs;
  readonly logger: Logger;
}

export function createRenderer({ name, settings, queue, blobs, logger }: RendererParts): Renderer {
  const browsers = openBrowsers(settings, logger);
  let answering: Consumer | null = null;
  return {
    async start() {
      await browsers.require(name);
      answering = await startRenderWorker({
        name,
        queue: sealCalls(queue, createCallSeal(settings.vaultKey)),
        blobs,
        engine: browsers.engine(name),
        // Who waits for a page here could have been served elsewhere.
        concurrency: browsers.pagesAtOnce,
        budget: createByteBudget(budgetBytesFor(settings.maxBytesInFlight)),
        logger,
      });
    },
    async stop(deadlineMs) {
      // Ending the browsers ends the renders that outlast the deadline; their callers ask another worker.
      const giveUp = setTimeout(() => void browsers.close(), deadlineMs);
      await answering?.stop();
      clearTimeout(giveUp);
      await browsers.close();
    },
  };
}
