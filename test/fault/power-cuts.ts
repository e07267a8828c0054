import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { ContentHash } from '../../src/core/model/ids.ts';
import { openScraper, QUICK_POLICY } from '../integration/world.ts';
import { randomFrom } from '../site/random.ts';
import { type Site, startSite } from '../site/site.ts';
import { type CrawlProcess, startCrawl } from './crawl-process.ts';

export interface PowerCutOptions {
  readonly pages: number;
  readonly cuts: number;
  /** Decides when the power fails. */
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface PowerCutReport {
  readonly cuts: number;
  /** Pages that were done when the power failed, over all cuts. */
  readonly donePages: number;
  readonly problems: readonly string[];
}

const DISK_BYTES = 134_217_728;
const WAIT_STEP_MS = 10;
const STOP_MS = 100;
const MOST_TAKES = 5;

/**
 * A disk whose power can fail: a file system in a file. The system writes to the file what a disk would get, when a disk would
 * get it, so a copy of the file is what the disk has at that moment, without what waits in memory.
 */
interface Disk {
  /** Where the data folder is. */
  readonly dir: string;
  readonly image: string;
  unmount(): void;
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });

/** Why no disk of this kind can be had on this machine; null when it can. */
export function whyNoDisk(): string | null {
  if (process.platform !== 'linux')
    return 'a disk whose power fails is a file system that Linux mounts from a file';
  return process.getuid?.() === 0 && existsSync('/dev/loop-control')
    ? null
    : 'a disk whose power fails needs the right to mount a file';
}

async function mounted(folder: string, name: string, image: string): Promise<Disk> {
  const dir = join(folder, name);
  await mkdir(dir);
  run('mount', '-o', 'loop', image, dir);
  return { dir, image, unmount: () => void run('umount', dir) };
}

async function newDisk(folder: string): Promise<Disk> {
  const image = join(folder, 'disk-0.img');
  await writeFile(image, '');
  await truncate(image, DISK_BYTES);
  run('mkfs.ext4', '-q', image);
  return mounted(folder, 'disk-0', image);
}

/** Copies what the disk has while the process is stopped: a copy that began before the end of a write is taken again. */
async function cut(life: CrawlProcess, { image }: Disk, copy: string): Promise<void> {
  process.kill(life.pid, 'SIGSTOP');
  await after(STOP_MS);
  for (let take = 0; take < MOST_TAKES; take += 1) {
    run('cp', '--sparse=always', image, copy);
    try {
      // What the journal of the file system has is brought in by mounting it; nothing else may be wrong.
      run('cmp', image, copy);
      return;
    } catch {
      await after(STOP_MS);
    }
  }
  throw new Error('The disk is written to although the process is stopped.');
}

async function waitForRequests(site: Site, life: CrawlProcess, count: number): Promise<void> {
  let isOver = false;
  void life.ended.then(() => {
    isOver = true;
  });
  while (!isOver && site.log.length < count) await after(WAIT_STEP_MS);
}

/** Looks at what a power failure left, before anything works on it: pages that are done, and what is wrong with them. */
async function examine(dataDir: string): Promise<{ done: number; problems: string[] }> {
  if (!existsSync(join(dataDir, 'scrapifie.db'))) return { done: 0, problems: [] };
  const scraper = await openScraper({ dataDir, isStarted: false, place: null });
  try {
    const [job] = (await scraper.platform.jobs.list({ accountId: scraper.account, limit: 1 })).items;
    const pages = job === undefined ? [] : await scraper.pages(job);
    const problems: string[] = [];
    for (const { url, contentHash } of pages) {
      const isThere =
        contentHash === null || (await scraper.platform.blobs.get(contentHash as ContentHash)) !== null;
      if (!isThere) problems.push(`${url} is done and its body is gone`);
    }
    return { done: pages.length, problems };
  } finally {
    await scraper.platform.close();
  }
}

/** Crawls on a disk whose power fails again and again, and goes on each time with what the disk has kept. */
export async function cutPower({
  pages,
  cuts,
  seed,
  say = () => {},
}: PowerCutOptions): Promise<PowerCutReport> {
  const random = randomFrom(seed);
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-power-'));
  const site = await startSite({ pages, logLimit: 10 * pages + 10_000 });
  const seeds = [`${site.hostUrl(1)}/big/`];
  const problems: string[] = [];
  let donePages = 0;
  let disk = await newDisk(folder);
  try {
    for (let made = 0; made < cuts; made += 1) {
      const life = startCrawl({ dir: disk.dir, seeds, policy: QUICK_POLICY });
      const before = site.log.length;
      await waitForRequests(site, life, before + 1 + Math.floor((random() * 1.6 * pages) / cuts));
      const copy = join(folder, `disk-${made + 1}.img`);
      await cut(life, disk, copy);
      await life.kill();
      disk.unmount();
      await rm(disk.image);
      disk = await mounted(folder, `disk-${made + 1}`, copy);
      const found = await examine(disk.dir);
      donePages += found.done;
      problems.push(...found.problems.map((problem) => `cut ${made + 1}: ${problem}`));
      say(`cut ${made + 1}: ${site.log.length - before} requests, ${found.done} pages done`);
    }
    const life = startCrawl({ dir: disk.dir, seeds, policy: QUICK_POLICY });
    if ((await life.ended) !== 'finished') problems.push('the last life did not finish the crawl');
    const last = await examine(disk.dir);
    if (last.done !== pages) problems.push(`at the end ${last.done} of ${pages} pages are done`);
    return { cuts, donePages, problems: [...problems, ...last.problems] };
  } finally {
    disk.unmount();
    await site.close();
    await rm(folder, { recursive: true, force: true });
  }
}
