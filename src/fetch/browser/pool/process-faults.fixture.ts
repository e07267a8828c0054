import { readFileSync } from 'node:fs';
import { treePids } from './process-tree.ts';

/** Kinds of processes of a Chromium. */
export type ChromiumPart = 'browser' | 'zygote' | 'gpu' | 'network' | 'renderer';

const MARKS: Readonly<Record<ChromiumPart, (command: string) => boolean>> = {
  browser: (command) => command !== '' && !command.includes('--type='),
  zygote: (command) => command.includes('--type=zygote'),
  gpu: (command) => command.includes('--type=gpu-process'),
  network: (command) => command.includes('NetworkService'),
  renderer: (command) => command.includes('--type=renderer'),
};

/** Sends a signal to all processes of one kind below these browsers and returns their pids. */
export async function signalPart(
  browsers: readonly number[],
  part: ChromiumPart,
  signal: 'SIGKILL' | 'SIGSTOP',
): Promise<number[]> {
  const pids = (await Promise.all(browsers.map((pid) => treePids(pid)))).flat();
  const hit = pids.filter((pid) => MARKS[part](commandOf(pid)));
  for (const pid of hit) process.kill(pid, signal);
  return hit;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
