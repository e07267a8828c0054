import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Counts } from '../../test/site/request-log.ts';

/** Sites that are crawled together. */
export interface SiteGroup {
  readonly pages: number;
  /** The home page of each. */
  readonly seeds: readonly string[];
  /** Forgets what it was asked for. */
  reset(): Promise<void>;
  /** Requests beyond one for each page and one for each robots.txt. */
  surplus(): Promise<number>;
}

/** Groups of static sites, all of them in one process of their own. */
export interface Sites {
  readonly pid: number;
  readonly groups: readonly SiteGroup[];
  close(): Promise<void>;
}

/**
 * The pages of one site, spread over eight. A page's bytes follow from its number and the number of pages, so that no
 * two of these sites have the same page: bodies that are equal would be stored once.
 */
export function spreadOverEight(pages: number): readonly number[] {
  return [-4, -3, -2, -1, 1, 2, 3, 4].map((difference) => pages / 8 + difference);
}

export async function spawnSites(groups: readonly (readonly number[])[]): Promise<Sites> {
  const script = fileURLToPath(new URL('./sites-child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, ...groups.flat().map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [unknown];
  if (typeof line !== 'string') throw new Error(`The sites ended with code ${line} before they were ready.`);
  const origins = (JSON.parse(line) as string[]).values();
  return {
    pid: child.pid ?? 0,
    groups: groups.map((counts) => groupOf([...origins.take(counts.length)], counts)),
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function groupOf(origins: readonly string[], counts: readonly number[]): SiteGroup {
  const pages = counts.reduce((sum, count) => sum + count, 0);
  const askAll = async (path: string) =>
    Promise.all(origins.map(async (origin) => (await fetch(origin + path)).text()));
  return {
    pages,
    seeds: origins.map((origin) => `${origin}/big/`),
    async reset() {
      await askAll('/__reset');
    },
    async surplus() {
      const totals = (await askAll('/__counts')).map((text) => (JSON.parse(text) as Counts).total);
      return totals.reduce((sum, total) => sum + total, 0) - pages - origins.length;
    },
  };
}
