import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingSource } from '../../core/config/setting-list.ts';
import type { LogRing } from '../../core/observe/log-sink.ts';
import type { WaitingWork } from '../../core/observe/metrics/sources.ts';
import type { KnownProcess } from '../../core/ports/bus.ts';

/** What a check of the machine has found. */
export interface DoctorFinding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** What is known of the process and its installation, beside what the API uses itself. */
export interface SystemParts {
  /** Left out: this process keeps no log lines. */
  readonly log?: LogRing;
  /** Where settings were given; those that are missing have their default. */
  readonly sources?: ReadonlyMap<string, SettingSource>;
  /** Looks at this machine, without what readiness looks at. */
  readonly doctor?: () => Promise<readonly DoctorFinding[]>;
  readonly processes?: () => readonly KnownProcess[];
  /** Hosts with work, by whether they are worked on. */
  readonly queueDepth?: () => Promise<{ readonly waiting: number; readonly active: number }>;
  /** Work that waits for a worker, in the whole installation. */
  readonly waiting?: () => Promise<readonly WaitingWork[]>;
  readonly load?: () => { readonly activeSlices: number; readonly inFlightFetches: number };
}

/** Files that are counted; the size of a folder with more is that of the first ones. */
const MOST_FILES = 20_000;

export interface FolderSize {
  readonly name: string;
  readonly bytes: number;
}

/** What lies in a folder, each entry with the size of all files below it; the largest first. Empty when it is not there. */
export async function folderSizes(folder: string): Promise<readonly FolderSize[]> {
  let left = MOST_FILES;
  async function sizeOf(path: string): Promise<number> {
    if (left <= 0) return 0;
    left -= 1;
    const found = await stat(path).catch(() => null);
    if (found === null) return 0;
    if (!found.isDirectory()) return found.size;
    let bytes = 0;
    for (const name of await readdir(path).catch(() => [])) bytes += await sizeOf(join(path, name));
    return bytes;
  }
  const sizes: FolderSize[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    sizes.push({ name, bytes: await sizeOf(join(folder, name)) });
  }
  return sizes.sort((a, b) => b.bytes - a.bytes);
}
