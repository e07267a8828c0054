import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startServer } from './api/server.ts';
import { startStaticSite } from './crawl/static-site.ts';
import type { Listen, Listened } from './events/listeners.ts';

/**
 * What listeners of live events cost a crawl: the same site is crawled with and without them in turns, through one
 * server. `node bench/events.ts --pages 10000 --listeners 1000 --rounds 3 [--plain]`
 */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '10000' },
    listeners: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    plain: { type: 'boolean', default: false },
  },
});
const [pages, listeners, rounds] = [values.pages, values.listeners, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const say = (line: string) => void process.stdout.write(`${line}\n`);
const LISTENERS = fileURLToPath(new URL('./events/listeners.ts', import.meta.url));
const LOOK_MS = 200;

interface JobView {
  readonly id: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly progress: { readonly pages: number };
}

const folder = mkdtempSync(join(tmpdir(), 'scrapifie-events-'));
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

async function listenTo(id: string): Promise<Listened> {
  const child = fork(LISTENERS, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const path = `/v1/jobs/${id}/events`;
  const port = Number(new URL(server.origin).port);
  child.send({ port, path, apiKey: server.apiKey, count: listeners, isPlain: values.plain } satisfies Listen);
  const [heard] = (await once(child, 'message')) as [Listened];
  return heard;
}

/** On a machine that is busy otherwise, this says more than the rate. */
async function cpuSeconds(): Promise<number> {
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(await server.metrics())?.[1]);
}

/** Pages a second of one crawl, from its acceptance to its end. */
async function crawl(isHeard: boolean): Promise<number> {
  const cpuBefore = await cpuSeconds();
  const body = { urls: [`${site.url}/big/`], concurrency: 64, maxPages: null, sitemap: 'skip' };
  const { id } = await ask<JobView>('/v1/crawl', body);
  const heard = isHeard ? listenTo(id) : null;
  for (;;) {
    const job = await ask<JobView>(`/v1/jobs/${id}`);
    if (job.finishedAt === null) {
      await delay(LOOK_MS);
      continue;
    }
    const rate = job.progress.pages / ((Date.parse(job.finishedAt) - Date.parse(job.createdAt)) / 1_000);
    const seen = await heard;
    const cpu = (await cpuSeconds()) - cpuBefore;
    const told =
      seen === null ? '' : `, ${seen.ended} streams ended, ${seen.pages} page events, ${seen.bytes} bytes`;
    say(
      `${isHeard ? 'with' : 'without'} listeners: ${job.progress.pages} pages, ${rate.toFixed(0)} pages/s, ${cpu.toFixed(1)} s of CPU${told}`,
    );
    const isWhole = seen === null || (seen.ended === listeners && seen.pages === job.progress.pages);
    if (!isWhole) process.exitCode = 1;
    return rate;
  }
}

const mean = (figures: readonly number[]) => figures.reduce((sum, each) => sum + each, 0) / figures.length;
try {
  await crawl(false);
  const [alone, heard]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const isHeard of round % 2 === 0 ? [true, false] : [false, true]) {
      (isHeard ? heard : alone).push(await crawl(isHeard));
    }
  }
  const cost = 1 - mean(heard) / mean(alone);
  say(`${listeners} listeners cost ${(100 * cost).toFixed(1)} % of the rate`);
} finally {
  await server.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
}
