import { setTimeout as delay } from 'node:timers/promises';
import type { RoleProcess } from '../../../fleet/role-process.ts';
import type { ActionKind } from './history.ts';
import type { Stage } from './stage.ts';

/** Something that can be done to one part of the fleet. It resolves when that part is as before. */
export interface Fault {
  readonly kind: ActionKind;
  readonly target: string;
  /** Whether it can be done now: a process that is starting cannot be hurt in an interesting way. */
  isPossible(): boolean;
  run(durationMs: number): Promise<void>;
  readonly leastMs: number;
  readonly mostMs: number;
  /** How often it is chosen, beside the others. */
  readonly weight: number;
}

const UP_AGAIN_MS = 60_000;
const POLL_MS = 50;

/** Everything that may happen to the fleet. Durations reach past a lease of 30 s, and mostly do not. */
export function faultsOf({ fleet, processes }: Stage): readonly Fault[] {
  const { postgres, redis, s3 } = fleet.servers;
  const always = { isPossible: () => true };
  return [
    ...processes.flatMap(processFaults),
    {
      ...{ kind: 'flush', target: 'redis', leastMs: 0, mostMs: 0, weight: 2, ...always },
      run: () => redis.flushAll(),
    },
    {
      ...{ kind: 'restart', target: 'redis', leastMs: 0, mostMs: 10_000, weight: 2, ...always },
      async run(durationMs) {
        await redis.stop();
        await delay(durationMs);
        await redis.restart();
      },
    },
    {
      ...{ kind: 'restart', target: 'postgres', leastMs: 0, mostMs: 5_000, weight: 2, ...always },
      async run(durationMs) {
        await postgres.stop();
        await delay(durationMs);
        await postgres.restart();
      },
    },
    {
      ...{ kind: 'crash', target: 'postgres', leastMs: 0, mostMs: 3_000, weight: 2, ...always },
      async run(durationMs) {
        await postgres.kill();
        await delay(durationMs);
        await postgres.restart();
      },
    },
    {
      ...{ kind: 'drop connections', target: 'postgres', leastMs: 0, mostMs: 0, weight: 2, ...always },
      async run() {
        await postgres.dropConnections();
      },
    },
    {
      ...{ kind: 'down', target: 's3', leastMs: 5_000, mostMs: 30_000, weight: 2, ...always },
      async run(durationMs) {
        await s3.stop();
        await delay(durationMs);
        await s3.restart();
      },
    },
  ];
}

function processFaults(process: RoleProcess): Fault[] {
  const isWorker = process.role === 'http-worker';
  const isPossible = () => process.state === 'ready' || process.state === 'unready';
  return [
    {
      ...{ kind: 'kill', target: process.name, leastMs: 0, mostMs: 0, weight: isWorker ? 2 : 1, isPossible },
      async run() {
        await process.kill();
        await upAgain(process);
      },
    },
    {
      ...{ kind: 'pause', target: process.name, leastMs: 1_000, mostMs: 40_000, isPossible },
      weight: isWorker ? 2 : 1,
      async run(durationMs) {
        process.pause();
        try {
          await delay(durationMs);
        } finally {
          process.resume();
        }
      },
    },
  ];
}

/** The fleet starts it again by itself. */
async function upAgain(process: RoleProcess): Promise<void> {
  const deadline = performance.now() + UP_AGAIN_MS;
  while (process.state !== 'ready' && process.state !== 'unready') {
    if (performance.now() > deadline) throw new Error(`${process.name} did not start again.`);
    await delay(POLL_MS);
  }
}
