import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServer } from './api/server.ts';
import { startStaticSite } from './crawl/static-site.ts';

/**
 * What the readers of events cost a crawl: the same site is crawled with and without the options that ask for them, in
 * turns, through one server. `node bench/readers.ts --pages 4000 --rounds 3 --options snapshots,search,lake`
 */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
    options: { type: 'string', default: 'snapshots' },
  },
});
const [pages, rounds] = [values.pages, values.rounds].map(Number) as [number, number];
const asked = Object.fromEntries(values.options.split(',').map((name) => [name, true]));
const say = (line: string) => void process.stdout.write(`${line}\n`);
const LOOK_MS = 100;
/** Readers are done when the process takes less than this of a look. */
const IDLE_SHARE = 0.1;
const IDLE_LOOK_MS = 1_000;

interface JobView {
  readonly id: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly progress: { readonly pages: number };
}

interface Run {
  readonly rate: number;
  readonly cpuSeconds: number;
}

const folder = mkdtempSync(join(tmpdir(), 'scrapifie-readers-'));
const site = await startStaticSite(pages);
const server = await startServer(folder, new URL(site.url).host);

async function ask<T>(path: string, body?: unknown): Promise<T> {
  const response = await fetch(server.origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { data: T }).data;
}

async function cpuSeconds(): Promise<number> {
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(await server.metrics())?.[1]);
}

/** All CPU time of the server until it has nothing more to do. */
async function cpuUntilIdle(): Promise<number> {
  for (let before = await cpuSeconds(); ; ) {
    await delay(IDLE_LOOK_MS);
    const now = await cpuSeconds();
    if (now - before < (IDLE_SHARE * IDLE_LOOK_MS) / 1_000) return now;
    before = now;
  }
}

async function crawl(isAsked: boolean): Promise<Run> {
  const cpuBefore = await cpuUntilIdle();
  const request = { urls: [`${site.url}/big/`], concurrency: 64, maxPages: null, sitemap: 'skip' };
  const { id } = await ask<JobView>('/v1/crawl', isAsked ? { ...request, ...asked } : request);
  for (;;) {
    const job = await ask<JobView>(`/v1/jobs/${id}`);
    if (job.finishedAt === null) {
      await delay(LOOK_MS);
      continue;
    }
    const seconds = (Date.parse(job.finishedAt) - Date.parse(job.createdAt)) / 1_000;
    const rate = job.progress.pages / seconds;
    const cpu = (await cpuUntilIdle()) - cpuBefore;
    const how = isAsked ? `with ${values.options}` : 'without';
    say(`${how}: ${job.progress.pages} pages, ${rate.toFixed(0)} pages/s, ${cpu.toFixed(2)} s of CPU`);
    return { rate, cpuSeconds: cpu };
  }
}

const middle = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;

try {
  await crawl(false);
  const [plain, read]: [Run[], Run[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const isAsked of round % 2 === 0 ? [true, false] : [false, true]) {
      (isAsked ? read : plain).push(await crawl(isAsked));
    }
  }
  const rates = [read, plain].map((runs) => middle(runs.map(({ rate }) => rate))) as [number, number];
  const cpus = [read, plain].map((runs) => middle(runs.map((run) => run.cpuSeconds))) as [number, number];
  say(
    `${values.options} cost ${(100 * (1 - rates[0] / rates[1])).toFixed(1)} % of the rate (middle of ${rounds})`,
  );
  say(
    `and ${(100 * (cpus[0] / cpus[1] - 1)).toFixed(1)} % more CPU, with everything that readers did afterwards`,
  );
} finally {
  await server.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
}
