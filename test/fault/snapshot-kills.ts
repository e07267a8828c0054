import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { DATABASE_FILE, STATE_DIR } from '../../src/cli/folders/crawl-folder.ts';
import { startCommand } from '../integration/cli-command.ts';
import { randomFrom } from '../site/random.ts';
import { startSite } from '../site/site.ts';

export interface SnapshotKillOptions {
  readonly kills: number;
  readonly pages: number;
  /** Decides when the process is killed. */
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface SnapshotKillReport {
  readonly kills: number;
  readonly pages: number;
  readonly snapshots: number;
  readonly sightings: number;
  readonly problems: readonly string[];
}

const PATIENCE_MS = 60_000;
const PAGES_PER_SECOND = 150;

/** Kills a crawl with snapshots, again and again, and looks at the history of its pages in the end. */
export async function killSnapshots(options: SnapshotKillOptions): Promise<SnapshotKillReport> {
  const { kills, pages, seed, say = () => undefined } = options;
  const random = randomFrom(seed);
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-snapshot-kills-'));
  const out = join(dir, 'crawl');
  const site = await startSite({ pages, log: 'off' });
  const problems: string[] = [];

  /** Until so many more pages are stored, or the crawl has ended; then a moment more, in which they may be read. */
  async function progress(more: number): Promise<void> {
    const until = pagesIn(out) + more;
    const patience = performance.now() + PATIENCE_MS;
    while (pagesIn(out) < Math.min(until, pages) && performance.now() < patience) await delay(5);
    await delay(random() * 1_000);
  }

  try {
    const args = [
      ...['crawl', `${site.hostUrl(1)}/big/`, '--out', out, '--allow-private', '--sitemap', 'skip'],
      ...['--quiet', '--snapshots', '--resume', '--rate', String(PAGES_PER_SECOND)],
    ];
    for (let kill = 1; kill <= kills; kill += 1) {
      const { child, ended } = startCommand(args);
      await progress(Math.ceil((random() * pages) / kills));
      child.kill('SIGKILL');
      await ended;
      say(`kill ${kill}: ${pagesIn(out)} pages`);
    }
    const { exitCode, stderr } = await startCommand(args).ended;
    if (exitCode !== 0) problems.push(`the last run ended with ${exitCode}: ${stderr.slice(-500)}`);
    const found = figuresIn(join(out, STATE_DIR, DATABASE_FILE));
    if (found.pages !== pages) problems.push(`the crawl has ${found.pages} pages of ${pages}`);
    if (found.sightings !== found.pages) {
      problems.push(`${found.sightings} sightings of ${found.pages} pages`);
    }
    if (found.seenPages !== found.pages)
      problems.push(`${found.seenPages} of ${found.pages} pages were seen`);
    if (found.timesSeen !== found.sightings) {
      problems.push(`snapshots were seen ${found.timesSeen} times by ${found.sightings} sightings`);
    }
    if (found.awake > 0) problems.push('the reader of snapshots has not come to rest');
    const { snapshots, sightings } = found;
    return { kills, pages: found.pages, snapshots, sightings, problems };
  } finally {
    await site.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function figuresIn(path: string) {
  const database = new DatabaseSync(path, { readOnly: true });
  const count = (sql: string) => Number(database.prepare(`SELECT (${sql}) AS n`).get()?.n);
  try {
    return {
      pages: count('SELECT count(*) FROM pages WHERE error_code IS NULL'),
      snapshots: count('SELECT count(*) FROM snapshots'),
      sightings: count('SELECT count(*) FROM page_sightings'),
      seenPages: count('SELECT count(DISTINCT task_id) FROM page_sightings'),
      timesSeen: count('SELECT sum(times_seen) FROM snapshots'),
      awake: count(`SELECT count(*) FROM readers WHERE name = 'snapshots' AND era IS NOT NULL`),
    };
  } finally {
    database.close();
  }
}

/** By the lines that the crawl has written. */
function pagesIn(out: string): number {
  try {
    return readFileSync(join(out, 'pages.ndjson'), 'utf8').split('\n').length - 1;
  } catch {
    // The crawl has not made the file yet.
    return 0;
  }
}
