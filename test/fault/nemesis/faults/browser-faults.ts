import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { RoleProcess } from '../../../../fleet/role-process.ts';
import { treePids } from '../../../../src/fetch/browser/pool/process-tree.ts';
import type { Stage } from '../stage.ts';
import type { Fault } from './fault.ts';

/** What may happen to Chromium below a browser-worker: to the worker itself, see process-faults.ts. */
export function browserFaults({ processes }: Stage): Fault[] {
  return processes.filter(({ role }) => role === 'browser-worker').flatMap(faultsOf);
}

function faultsOf(worker: RoleProcess): Fault[] {
  const same = {
    ...{ target: worker.name, locks: [worker.name] },
    isPossible: () => worker.state === 'ready' || worker.state === 'unready',
  };
  /** Processes of its browsers whose command line has this; all of them for an empty text. */
  const find = async (mark: string) =>
    (await treePids(worker.pid)).filter((pid) => pid !== worker.pid && commandOf(pid).includes(mark));
  const killed = (kind: string, mark: string): Fault => ({
    ...{ ...same, kind, leastMs: 0, mostMs: 0 },
    async run() {
      for (const pid of await find(mark)) signal(pid, 'SIGKILL');
    },
  });
  return [
    killed('kill browser', '--user-data-dir'),
    killed('kill zygotes', '--type=zygote'),
    killed('kill renderers', '--type=renderer'),
    {
      ...{ ...same, kind: 'pause browser', leastMs: 3_000, mostMs: 20_000 },
      async run(durationMs) {
        const pids = await find('');
        for (const pid of pids) signal(pid, 'SIGSTOP');
        await delay(durationMs).finally(() => {
          for (const pid of pids) signal(pid, 'SIGCONT');
        });
      },
    },
  ];
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

function signal(pid: number, which: NodeJS.Signals): void {
  try {
    process.kill(pid, which);
  } catch {
    // The process ended before the signal.
  }
}
