import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** User and system time of all threads, and of children that have ended. */
  readonly cpuSeconds: number;
}

/** Linux counts in hundredths of a second towards programs, whatever its own clock. */
const TICKS_PER_SECOND = 100;

/** Every process there is; empty where the system keeps no `/proc`. */
export function processTimes(): readonly ProcessTimes[] {
  let entries: string[];
  try {
    entries = readdirSync('/proc');
  } catch {
    return [];
  }
  return entries.flatMap((entry) => (/^\d+$/.test(entry) ? timesOf(entry) : []));
}

function timesOf(pid: string): ProcessTimes[] {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return [];
  }
  // The name is in brackets and may itself have spaces and brackets.
  const [open, close] = [stat.indexOf('('), stat.lastIndexOf(')')];
  const fields = stat.slice(close + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return [
    {
      pid: Number(pid),
      parent: Number(fields[1]),
      name: stat.slice(open + 1, close),
      cpuSeconds: ticks / TICKS_PER_SECOND,
    },
  ];
}

/** What a process and those it has started have used; not a number where that is not known. */
export function treeSeconds(all: readonly ProcessTimes[], root: number): number {
  const own = all.find(({ pid }) => pid === root);
  if (own === undefined) return Number.NaN;
  return all
    .filter(({ parent }) => parent === root)
    .reduce((sum, { pid }) => sum + treeSeconds(all, pid), own.cpuSeconds);
}
