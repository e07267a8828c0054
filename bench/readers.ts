import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type MeasuredServer, startServer } from './api/server.ts';
import { startStaticSite } from './crawl/static-site.ts';
import type { BenchOptions, Part, PartResult } from './part.ts';
import { figure, spread } from './report.ts';
import { ratios, sampleOf } from './sample.ts';

const FULL = { pages: 4_000, rounds: 5 };
const QUICK = { pages: 400, rounds: 1 };
const ASKED = { snapshots: true, search: true, lake: true };
const LOOK_MS = 100;
/** The server has nothing more to do when it takes less CPU time than this share of a look. */
const IDLE_SHARE = 0.05;
const IDLE_LOOK_MS = 1_000;

interface JobView {
  readonly id: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly progress: { readonly pages: number };
}

/** One crawl. */
interface Run {
  readonly pages: number;
  readonly pagesPerSecond: number;
  /** Of the server, from the request to the end of the job. */
  readonly crawlCpuSeconds: number;
  /** The same, with everything that was done until all readers had read all events and the server was idle. */
  readonly cpuSeconds: number;
  /** The most that a reader was behind, from the request until all had read all. */
  readonly mostLagSeconds: number;
}

/** What the readers of events cost a crawl: one site, crawled with and without their options in turns by one server. */
export const readers: Part = {
  name: 'readers',
  async run(options) {
    const { pages, rounds } = options.isQuick ? QUICK : FULL;
    const site = await startStaticSite(pages);
    const [without, asked]: [Run[], Run[]] = [[], []];
    try {
      const server = await startServer(join(options.scratch, 'server'), new URL(site.url).host);
      try {
        // Threads that are started, and code that is compiled, by a first crawl are not what it costs.
        for (const first of [{}, ASKED]) await crawl(server, site.url, first);
        for (let round = 0; round < rounds; round += 1) {
          for (const isAsked of round % 2 === 0 ? [true, false] : [false, true]) {
            (isAsked ? asked : without).push(await crawl(server, site.url, isAsked ? ASKED : {}));
          }
          sayRound(round, without, asked, options);
        }
      } finally {
        await server.close();
      }
    } finally {
      await site.close();
    }
    return resultOf(pages, without, asked);
  },
};

async function crawl(server: MeasuredServer, site: string, asked: object): Promise<Run> {
  const cpuBefore = (await figuresWhenIdle(server)).cpuSeconds;
  const request = { urls: [`${site}/big/`], concurrency: 64, maxPages: null, sitemap: 'skip', ...asked };
  const { id } = await ask<JobView>(server, '/v1/crawl', request);
  let mostLagSeconds = 0;
  for (;;) {
    const job = await ask<JobView>(server, `/v1/jobs/${id}`);
    const { cpuSeconds, lagSeconds } = await figuresOf(server);
    mostLagSeconds = Math.max(mostLagSeconds, lagSeconds);
    if (job.finishedAt === null) {
      await delay(LOOK_MS);
      continue;
    }
    const seconds = (Date.parse(job.finishedAt) - Date.parse(job.createdAt)) / 1_000;
    const after = await figuresWhenIdle(server, (lag) => {
      mostLagSeconds = Math.max(mostLagSeconds, lag);
    });
    const { pages } = job.progress;
    return {
      pages,
      pagesPerSecond: pages / seconds,
      crawlCpuSeconds: cpuSeconds - cpuBefore,
      cpuSeconds: after.cpuSeconds - cpuBefore,
      mostLagSeconds,
    };
  }
}

async function ask<T>(server: MeasuredServer, path: string, body?: unknown): Promise<T> {
  const response = await fetch(server.origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { data: T }).data;
}

interface Figures {
  readonly cpuSeconds: number;
  readonly lagSeconds: number;
}

async function figuresOf(server: MeasuredServer): Promise<Figures> {
  const text = await server.metrics();
  const lags = [...text.matchAll(/^scrapifie_reader_lag_seconds\{[^}]*\} (\S+)/gm)].map(([, lag]) =>
    Number(lag),
  );
  return {
    cpuSeconds: Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]),
    lagSeconds: Math.max(0, ...lags),
  };
}

/** The figures of the server once its readers have read everything and it has nothing more to do. */
async function figuresWhenIdle(
  server: MeasuredServer,
  onLag: (lagSeconds: number) => void = () => undefined,
): Promise<Figures> {
  for (let before = await figuresOf(server); ; ) {
    await delay(IDLE_LOOK_MS);
    const now = await figuresOf(server);
    onLag(now.lagSeconds);
    const isIdle = now.cpuSeconds - before.cpuSeconds < (IDLE_SHARE * IDLE_LOOK_MS) / 1_000;
    if (isIdle && now.lagSeconds === 0 && before.lagSeconds === 0) return now;
    before = now;
  }
}

type Measure = 'pagesPerSecond' | 'crawlCpuSeconds' | 'cpuSeconds';

/** What crawls with the options came to, as shares of those without. */
const shares = (measure: Measure, without: readonly Run[], asked: readonly Run[]) => {
  const values = (runs: readonly Run[]) => runs.map((run) => run[measure]);
  return sampleOf(ratios(values(asked), values(without)));
};

function sayRound(round: number, without: Run[], asked: Run[], { say }: BenchOptions): void {
  const [on, off] = [asked.at(-1), without.at(-1)];
  if (on === undefined || off === undefined) return;
  say(
    `round ${round + 1}: ${figure(on.pagesPerSecond)} pages/s with the options, ${figure(off.pagesPerSecond)} without; ` +
      `${figure(on.cpuSeconds)} and ${figure(off.cpuSeconds)} s of CPU with all that followed; readers up to ${figure(on.mostLagSeconds)} s behind`,
  );
}

function resultOf(pages: number, without: Run[], asked: Run[]): PartResult {
  const rates = shares('pagesPerSecond', without, asked);
  const row = (name: string, runs: readonly Run[]) => [
    name,
    ...(['pagesPerSecond', 'crawlCpuSeconds', 'cpuSeconds', 'mostLagSeconds'] as const).map((field) =>
      spread(sampleOf(runs.map((run) => run[field]))),
    ),
  ];
  const crawlCpu = shares('crawlCpuSeconds', without, asked);
  const allCpu = shares('cpuSeconds', without, asked);
  const lag = sampleOf(asked.map(({ mostLagSeconds }) => mostLagSeconds));
  return {
    title: 'Snapshots, search and lake',
    about: `A static site of ${pages} pages is crawled by one server, with “snapshots”, “search” and “lake” and without them in turns.`,
    tables: [
      {
        columns: ['crawl', 'pages/s', 'CPU s, crawl', 'CPU s, all', 'readers behind, s'],
        rows: [row('with snapshots, search, lake', asked), row('without', without)],
      },
    ],
    bars: [
      {
        claim: 'Rate of a crawl with snapshots, search and lake, as a share of the rate without',
        measured: rates.median,
        atLeast: 0.9,
        unit: '×',
        spread: rates,
      },
      {
        claim: 'Readers behind the crawl',
        measured: Math.max(...asked.map(({ mostLagSeconds }) => mostLagSeconds)),
        atMost: 60,
        unit: 's',
        spread: lag,
      },
    ],
    notes: [
      `CPU time of the server until the job ended: ${spread(crawlCpu)} × that without; with everything that readers did afterwards: ${spread(allCpu)} ×.`,
      'Readers wait while a crawl keeps the process busy, 30 seconds at most, and then read beside it.',
    ],
    data: { without, asked },
  };
}
