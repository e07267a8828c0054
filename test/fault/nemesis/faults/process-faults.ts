import { rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { RoleProcess } from '../../../../fleet/role-process.ts';
import type { Stage } from '../stage.ts';
import { type Fault, until } from './fault.ts';

const UP_AGAIN_MS = 90_000;
const READY_MS = 20_000;
const HOUR_MS = 3_600_000;
const START_AGAIN_MS = 1_000;
/** Nothing else happens to any process while all of them are restarted. */
const ALL_PROCESSES = ['http-worker', 'api-1', 'api-2', 'browser-worker-1', 'scheduler-1'];

/** Everything that may happen to a process of the fleet. Durations reach past a lease of 30 s, and mostly do not. */
export function processFaults(stage: Stage): Fault[] {
  return [...stage.processes.flatMap((process) => faultsOf(process, stage)), rollingRestart(stage)];
}

const isUp = ({ state }: RoleProcess) => state === 'ready' || state === 'unready';

function faultsOf(process: RoleProcess, stage: Stage): Fault[] {
  const { name: target, role } = process;
  const isWorker = role === 'http-worker';
  // Workers fail one at a time: the others have to show that they take over.
  const same = { target, locks: [isWorker ? 'http-worker' : target], isPossible: () => isUp(process) };
  const atOnce = { ...same, leastMs: 0, mostMs: 0 };
  const { postgres, redis } = stage.linksOf(target);
  const cutOff = (kind: string, line: typeof postgres, mode: 'swallow' | 'refuse'): Fault => ({
    ...{ ...same, kind, leastMs: 4_000, mostMs: 20_000 },
    async run(durationMs) {
      line.set(mode);
      await delay(durationMs).finally(() => line.set('pass'));
    },
  });
  const faults: Fault[] = [
    {
      ...{ ...atOnce, kind: 'kill' },
      async run() {
        await process.kill();
        await upAgain(process);
      },
    },
    {
      ...{ ...same, kind: 'pause', leastMs: 1_000, mostMs: 40_000 },
      async run(durationMs) {
        process.pause();
        await delay(durationMs).finally(process.resume);
      },
    },
    { ...{ ...atOnce, kind: 'restart' }, run: () => restart(process) },
    {
      ...{ ...atOnce, kind: 'abort' },
      async run() {
        globalThis.process.kill(process.pid, 'SIGABRT');
        await endedAndUpAgain(process);
      },
    },
  ];
  if (role === 'api' || isWorker) {
    faults.push({
      ...{ ...atOnce, kind: 'heap full' },
      async run() {
        const file = stage.controlFileOf(target);
        await writeFile(file, 'heap\n');
        await until(`The end of ${target}`, UP_AGAIN_MS, () => !isUp(process)).finally(() =>
          rm(file, { force: true }),
        );
        await upAgain(process);
      },
    });
  }
  if (!isWorker) return faults;
  return [
    ...faults,
    stepClock('clock ahead', HOUR_MS),
    stepClock('clock behind', -HOUR_MS),
    cutOff('half-open to postgres', postgres, 'swallow'),
    cutOff('half-open to redis', redis, 'swallow'),
    cutOff('cut off from postgres', postgres, 'refuse'),
  ];

  function stepClock(kind: string, stepMs: number): Fault {
    return {
      ...{ ...same, kind, leastMs: 5_000, mostMs: 30_000 },
      async run(durationMs) {
        const file = stage.controlFileOf(target);
        await writeFile(file, `clock ${stepMs}\n`);
        await delay(durationMs).finally(() => rm(file, { force: true }));
      },
    };
  }
}

/** SIGTERM to one after the other, as a new version is rolled out: the next when this one is ready again. */
function rollingRestart({ processes }: Stage): Fault {
  return {
    ...{ kind: 'rolling restart', target: 'fleet', locks: ALL_PROCESSES, leastMs: 0, mostMs: 0 },
    isPossible: () => processes.every(isUp),
    async run() {
      for (const process of processes) {
        await restart(process);
        // A server that is hurt at the same time may keep it from being ready.
        await until(`Readiness of ${process.name}`, READY_MS, async () => {
          await process.look();
          return process.state === 'ready';
        }).catch(() => undefined);
      }
    },
  };
}

/**
 * Sends SIGTERM and starts the process again; without a server that it needs it ends, and its supervisor tries again.
 */
async function restart(process: RoleProcess): Promise<void> {
  await process.stop();
  await until(`The start of ${process.name}`, UP_AGAIN_MS, () =>
    process.start().then(
      () => true,
      () => delay(START_AGAIN_MS, false),
    ),
  );
}

/** The fleet starts it again by itself. */
async function upAgain(process: RoleProcess): Promise<void> {
  await until(`The start of ${process.name}`, UP_AGAIN_MS, () => isUp(process));
}

async function endedAndUpAgain(process: RoleProcess): Promise<void> {
  const { length } = process.exits;
  await until(`The end of ${process.name}`, UP_AGAIN_MS, () => process.exits.length > length);
  await upAgain(process);
}
