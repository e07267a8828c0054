import { setTimeout as delay } from 'node:timers/promises';
import { addressAt } from '../site/hosts.ts';
import { NASTY, type NastyCase } from '../site/nasty.ts';
import { openScraper, QUICK_POLICY, type Scraper } from './world.ts';

/**
 * Fetches every nasty case of the test site at once, twice, and prints what became of each and how much memory was
 * in use after each round. Needs --expose-gc. Argument: the port of the test site.
 */
export interface NastyReport {
  readonly results: readonly NastyResult[];
  /** After each round, garbage collected. */
  readonly heapBytes: readonly number[];
  readonly bufferBytes: readonly number[];
  readonly warnings: readonly string[];
}

export interface NastyResult {
  readonly name: string;
  readonly round: number;
  readonly state: string | null;
  readonly code: string | null;
  readonly statusCode: number | null;
  readonly outcome: string | null;
  readonly finalPath: string | null;
  readonly title: string | null;
}

const ROUNDS = 2;
const TIME_OUT = /TIMEOUT/;
const port = Number(process.argv[2]);
const cases = NASTY.filter(({ requires }) => requires !== 'guard');

/** Every case has a host of its own: what one does to its host must not decide about another. */
const urlOf = (nasty: NastyCase, round: number): string =>
  `http://${addressAt(10 + round * cases.length + cases.indexOf(nasty))}:${port}${nasty.path}`;

const hangs = ({ expect }: NastyCase): boolean =>
  TIME_OUT.test([expect.code, ...(expect.otherCodes ?? [])].join(' '));

async function fetchAll(scraper: Scraper, round: number): Promise<NastyResult[]> {
  const recovers = (nasty: NastyCase) => nasty.requires === 'retries';
  const groups = [
    // What hangs, hangs for ever: the shortest limit there is. The rest gets time, because the machine may be busy.
    { members: cases.filter(hangs), timeoutMs: 1_000, maxAttempts: 1 },
    { members: cases.filter(recovers), timeoutMs: 20_000, maxAttempts: 6 },
    {
      members: cases.filter((nasty) => !hangs(nasty) && !recovers(nasty)),
      timeoutMs: 20_000,
      maxAttempts: 1,
    },
  ];
  const results = await Promise.all(
    groups.map(async ({ members, ...options }) => {
      const job = await scraper.batchNow({ urls: members.map((nasty) => urlOf(nasty, round)), options });
      const entries = new Map((await scraper.ledger(job)).map((entry) => [entry.url, entry]));
      const pages = new Map((await scraper.pages(job)).map((page) => [page.url, page]));
      return members.map((nasty): NastyResult => {
        const url = urlOf(nasty, round);
        const entry = entries.get(url);
        const page = pages.get(url);
        return {
          name: nasty.name,
          round,
          state: entry?.state ?? null,
          code: entry?.errorCode ?? null,
          statusCode: page?.statusCode ?? null,
          outcome: entry?.attempts.at(-1)?.outcome ?? null,
          finalPath: page === undefined ? null : new URL(page.finalUrl).pathname,
          title: page?.title ?? null,
        };
      });
    }),
  );
  return results.flat();
}

const LOOKS = 20;
const LOOK_MS = 50;

/** The least of several looks: connections end a moment after their pages, and buffers are freed in the background. */
async function collect(): Promise<{ heapBytes: number; bufferBytes: number }> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('Run this with --expose-gc.');
  const least = { heapBytes: Number.POSITIVE_INFINITY, bufferBytes: Number.POSITIVE_INFINITY };
  for (let look = 0; look < LOOKS; look++) {
    gc();
    await delay(LOOK_MS);
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    least.heapBytes = Math.min(least.heapBytes, heapUsed);
    least.bufferBytes = Math.min(least.bufferBytes, external + arrayBuffers);
  }
  return least;
}

const scraper = await openScraper({ policy: QUICK_POLICY });
const results: NastyResult[] = [];
const heapBytes: number[] = [];
const bufferBytes: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  results.push(...(await fetchAll(scraper, round)));
  const used = await collect();
  heapBytes.push(used.heapBytes);
  bufferBytes.push(used.bufferBytes);
}
await scraper.close();
const report: NastyReport = { results, heapBytes, bufferBytes, warnings: scraper.warnings };
process.stdout.write(JSON.stringify(report));
