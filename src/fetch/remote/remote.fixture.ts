import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createBlobsFs } from '../../drivers/blobs-fs/blobs-fs.ts';
import { createQueueLocal } from '../../drivers/queue-local/queue-local.ts';
import { createLogger } from '../../observe/logger.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { Consumer, Queue } from '../../ports/queue.ts';
import type { Engine } from '../engine.ts';
import { createRemoteEngine, type RemoteEngine } from './remote-engine.ts';
import { startRenderWorker } from './render-worker.ts';

/** A host's owner and a worker that renders with the given engine, which end with their test. */
export interface RemotePair {
  readonly remote: RemoteEngine;
  readonly queue: Queue;
  readonly blobs: Blobs;
  /** Each call's request and, when there was one, its answer, as JSON. */
  readonly messages: readonly string[];
  /** Faults and warnings on the side of the worker. */
  readonly troubles: readonly string[];
  startWorker(engine: Engine): Promise<Consumer>;
}

export async function openRemotePair(engine: Engine | null, concurrency = 64): Promise<RemotePair> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-remote-'));
  const blobs = await createBlobsFs({ dir });
  const messages: string[] = [];
  const troubles: string[] = [];
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void troubles.push(line) } });
  const queue = createQueueLocal({ onHandlerError: (error) => void troubles.push(String(error)) });
  const remote = createRemoteEngine({
    name: 'browser',
    blobs,
    queue: {
      countAnswerers: (name) => queue.countAnswerers(name),
      async call(name, request, how) {
        messages.push(JSON.stringify(request));
        const answer = await queue.call(name, request, how);
        messages.push(JSON.stringify(answer));
        return answer;
      },
    },
  });
  onTestFinished(async () => {
    await remote.close();
    await queue.close();
    await blobs.close();
    await rm(dir, { recursive: true, force: true });
  });
  const startWorker = (using: Engine) =>
    startRenderWorker({ name: 'browser', queue, blobs, engine: using, concurrency, logger });
  if (engine !== null) await startWorker(engine);
  return { remote, queue, blobs, messages, troubles, startWorker };
}
