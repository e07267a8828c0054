import type { Settings } from '../config/settings.ts';
import { createHttpEngine } from '../fetch/http/http-engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import { startRenderWorker } from '../fetch/remote/render-worker.ts';
import { userAgentFor } from '../fetch/user-agent.ts';
import type { Logger } from '../observe/logger.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Consumer, Queue } from '../ports/queue.ts';
import { VERSION } from '../version.ts';

/** The part of the platform that answers renders for the owners of hosts. */
export interface Renderer {
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
  const { allowPrivate, contact, maxConcurrency } = settings;
  const engine = createHttpEngine({ userAgent: userAgentFor(VERSION, contact ?? null), allowPrivate });
  let answering: Consumer | null = null;
  return {
    async start() {
      answering = await startRenderWorker({
        name,
        queue,
        blobs,
        engine,
        concurrency: maxConcurrency,
        logger,
      });
    },
    async stop(deadlineMs) {
      // Ending the engine ends the fetches that outlast the deadline; their callers ask another worker.
      const giveUp = setTimeout(() => void engine.close(), deadlineMs);
      await answering?.stop();
      clearTimeout(giveUp);
      await engine.close();
    },
  };
}
