import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createLogger } from '../../core/observe/logger.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { CallStart, Consumer, Queue } from '../../core/ports/queue.ts';
import { createBlobsFs } from '../../drivers/blobs-fs/blobs-fs.ts';
import { createQueueLocal } from '../../drivers/queue-local/queue-local.ts';
import type { Engine } from '../engine.ts';
import { createRemoteEngine, type RemoteEngine } from './remote-engine.ts';
import { startRenderWorker } from './render-worker.ts';
import { type CallQueue, type CallSeal, createParcels, sealCalls } from './sealed-calls.ts';

/** A host's owner and a worker that renders with the given engine, which end with their test. */
export interface RemotePair {
  readonly remote: RemoteEngine;
  readonly queue: Queue;
  readonly blobs: Blobs;
  readonly transit: Blobs;
  /** Each call's request and, when there was one, its answer, as JSON. */
  readonly messages: readonly string[];
  /** Faults and warnings on the side of the worker. */
  readonly troubles: readonly string[];
  startWorker(engine: Engine): Promise<Consumer>;
}

/** What each side closes its messages with. */
export interface Seals {
  readonly owner: CallSeal | null;
  readonly worker: CallSeal | null;
}

const NO_SEALS: Seals = { owner: null, worker: null };

export async function openRemotePair(
  engine: Engine | null,
  concurrency = 64,
  seals: Seals = NO_SEALS,
  /** What the queue says about the start of each call, instead of what is so: a call that another worker had before. */
  start: Partial<CallStart> = {},
): Promise<RemotePair> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-remote-'));
  const blobs = await createBlobsFs({ dir: join(dir, 'blobs') });
  const transit = await createBlobsFs({ dir: join(dir, 'transit') });
  const messages: string[] = [];
  const troubles: string[] = [];
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void troubles.push(line) } });
  const queue = createQueueLocal({ onHandlerError: (error) => void troubles.push(String(error)) });
  const newCookies: CallQueue = {
    ...queue,
    answer: (name, most, handler) =>
      queue.answer(name, most, (request, signal, ask, real) =>
        handler(request, signal, ask, { ...real, ...start }),
      ),
  };
  const received: CallQueue = {
    countAnswerers: (name) => queue.countAnswerers(name),
    answer: (name, most, handler) => queue.answer(name, most, handler),
    async call(name, request, how) {
      messages.push(JSON.stringify(request));
      const answer = await queue.call(name, request, how);
      messages.push(JSON.stringify(answer));
      return answer;
    },
  };
  const remote = createRemoteEngine({
    name: 'browser',
    blobs,
    parcels: createParcels(transit, seals.owner),
    queue: sealCalls(received, seals.owner),
  });
  onTestFinished(async () => {
    await remote.close();
    await queue.close();
    await blobs.close();
    await transit.close();
    await rm(dir, { recursive: true, force: true });
  });
  const startWorker = (using: Engine) =>
    startRenderWorker({
      name: 'browser',
      queue: sealCalls(newCookies, seals.worker),
      blobs,
      parcels: createParcels(transit, seals.worker),
      engine: using,
      concurrency,
      logger,
    });
  if (engine !== null) await startWorker(engine);
  return { remote, queue, blobs, transit, messages, troubles, startWorker };
}
