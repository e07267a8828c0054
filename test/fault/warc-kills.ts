import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CheckedRecord, readWarc } from '../archives/warc-check.ts';
import { readPages, startCommand } from '../integration/cli-command.ts';
import { randomFrom } from '../site/random.ts';
import { startSite } from '../site/site.ts';

export interface WarcKillOptions {
  readonly kills: number;
  readonly pages: number;
  /** Decides when the process is killed. */
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface WarcKillReport {
  readonly kills: number;
  readonly pages: number;
  readonly records: number;
  readonly files: number;
  /** Files that were read by another reader after a kill. */
  readonly read: number;
  readonly problems: readonly string[];
}

/** One kill in four comes at any time after the start of the process, within this. */
const EARLY_MS = 4_000;
/** The others come when the crawl has got on; a machine that is busy may take this long for it. */
const PATIENCE_MS = 60_000;
const PAGES_PER_SECOND = 150;
const FILE_BYTES = 300_000;

/** Kills a crawl that is recorded, again and again, and looks at its files after each kill and at the end. */
export async function killRecording(options: WarcKillOptions): Promise<WarcKillReport> {
  const { kills, pages, seed, say = () => undefined } = options;
  const random = randomFrom(seed);
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-warc-kills-'));
  const [out, archive] = [join(dir, 'crawl'), join(dir, 'archive')];
  const site = await startSite({ pages, log: 'off' });
  const problems: string[] = [];
  let read = 0;

  /** Every file that stands under its name must be readable, whatever happened to its writer. */
  async function readAll(when: string): Promise<CheckedRecord[]> {
    const records: CheckedRecord[] = [];
    for (const name of archivesIn(archive)) {
      await readWarc(join(archive, name)).then(
        (found) => {
          records.push(...found);
          read += 1;
        },
        (error: Error) => problems.push(`${when}: ${name}: ${error.message}`),
      );
    }
    const ids = new Set(records.map(({ id }) => id));
    if (ids.size !== records.length)
      problems.push(`${when}: ${records.length - ids.size} records are there twice`);
    return records;
  }

  /** Until so many more pages are stored, or the crawl has ended; then a moment more. */
  async function progress(more: number): Promise<void> {
    const until = pagesIn(out) + more;
    const patience = performance.now() + PATIENCE_MS;
    while (pagesIn(out) < Math.min(until, pages) && performance.now() < patience) await delay(5);
    await delay(random() * 100);
  }

  try {
    const args = [
      ...[
        'crawl',
        `${site.hostUrl(1)}/big/`,
        '--out',
        out,
        '--allow-private',
        '--sitemap',
        'skip',
        '--quiet',
      ],
      ...['--warc', archive, '--warc-size', String(FILE_BYTES), '--resume'],
    ];
    const rate = String(PAGES_PER_SECOND);
    for (let kill = 1; kill <= kills; kill += 1) {
      const { child, ended } = startCommand([...args, '--rate', rate]);
      if (random() < 0.25) await delay(random() * EARLY_MS);
      else await progress(Math.ceil((random() * pages) / kills / 2));
      child.kill('SIGKILL');
      await ended;
      const records = await readAll(`kill ${kill}`);
      say(`kill ${kill}: ${records.length} records in ${archivesIn(archive).length} files`);
    }
    const { exitCode, stderr } = await startCommand([...args, '--rate', rate]).ended;
    if (exitCode !== 0) problems.push(`the last run ended with ${exitCode}: ${stderr.slice(-500)}`);
    const records = await readAll('at the end');
    const recorded = records
      .filter(({ type }) => type === 'metadata')
      .map(({ payload }) => JSON.parse(String(payload)) as { url: string; isPage: boolean })
      .filter(({ isPage }) => isPage)
      .map(({ url }) => url);
    const stored = readPages(out).map(({ url }) => url);
    if (stored.length !== pages) problems.push(`the crawl has ${stored.length} pages of ${pages}`);
    const missing = stored.filter((url) => !recorded.includes(url));
    if (missing.length > 0) problems.push(`${missing.length} pages are not recorded, such as ${missing[0]}`);
    if (recorded.length > stored.length)
      problems.push(`${recorded.length} pages are recorded of ${stored.length}`);
    const hidden = readdirSync(archive).filter((name) => name.startsWith('.'));
    if (hidden.length > 0) problems.push(`left behind: ${hidden.join(' ')}`);
    const files = archivesIn(archive).length;
    return { kills, pages: stored.length, records: records.length, files, read, problems };
  } finally {
    await site.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function archivesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.warc.gz'))
      .sort();
  } catch {
    // The crawl has not made the folder yet.
    return [];
  }
}

/** By the lines that the crawl has written. */
function pagesIn(out: string): number {
  try {
    return readFileSync(join(out, 'pages.ndjson'), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}
