import { readFileSync } from 'node:fs';
import { treePids } from '../../src/fetch/browser/pool/process-tree.ts';

export type Prey = 'renderer' | 'browser';

/** Kills processes of the browsers it is told of, and of no others, and remembers all that it has seen of them. */
export class ProcessHunt {
  readonly kills: Record<Prey, number> = { renderer: 0, browser: 0 };
  private readonly browsers: () => readonly number[];
  private readonly random: () => number;
  /** Pid to the moment it was started, because pids come back. As many as the run has processes. */
  private readonly seen = new Map<number, string>();
  private readonly profiles = new Set<string>();

  constructor(browsers: () => readonly number[], random: () => number) {
    this.browsers = browsers;
    this.random = random;
  }

  /** Profile folders of the browsers seen. */
  get folders(): readonly string[] {
    return [...this.profiles];
  }

  async kill(prey: Prey): Promise<void> {
    const pids = await this.look();
    const found = prey === 'browser' ? [...this.browsers()] : pids.filter(isRenderer);
    const pid = found[Math.floor(this.random() * found.length)];
    if (pid === undefined) return;
    try {
      process.kill(pid, 'SIGKILL');
      this.kills[prey] += 1;
    } catch {
      // The process ended while we looked.
    }
  }

  /** Every process of every browser, now. */
  async look(): Promise<number[]> {
    const trees = await Promise.all(this.browsers().map((pid) => treePids(pid)));
    const pids = trees.flat();
    for (const pid of pids) {
      const startedAt = startOf(pid);
      if (startedAt === null) continue;
      this.seen.set(pid, startedAt);
      const folder = /--user-data-dir=([^\0]+)/.exec(commandOf(pid))?.[1];
      if (folder !== undefined) this.profiles.add(folder);
    }
    return pids;
  }

  /** Processes that still exist in any form, such as a zombie that its parent has not waited for. */
  left(): string[] {
    return [...this.seen]
      .filter(([pid, startedAt]) => startOf(pid) === startedAt)
      .map(([pid]) => `${pid} (${commandOf(pid).slice(0, 60) || 'zombie'})`);
  }
}

export const isRenderer = (pid: number): boolean => commandOf(pid).includes('--type=renderer');

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** When a process was started, in the kernel's own count; null when there is none. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
