import { setTimeout as delay } from 'node:timers/promises';
import type { MeasuredServer } from './server.ts';

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

/** One crawl, and what it cost the server. */
export interface MeasuredCrawl {
  readonly pages: number;
  readonly pagesPerSecond: number;
  /** CPU time of the server, from the request to the end of the job. */
  readonly crawlCpuSeconds: number;
  /** The same, with everything that was done until all readers had read all events and the server was idle. */
  readonly cpuSeconds: number;
  /** The most that a reader was behind, from the request until all had read all. */
  readonly mostLagSeconds: number;
}

/** Crawls the whole site with these options, and waits until the server has nothing more to do. */
export async function crawlMeasured(
  server: MeasuredServer,
  site: string,
  asked: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<MeasuredCrawl> {
  const cpuBefore = (await figuresWhenIdle(server)).cpuSeconds;
  const request = { urls: [`${site}/big/`], concurrency: 64, maxPages: null, sitemap: 'skip', ...asked };
  const { id } = await ask<JobView>(server, '/v1/crawl', request, headers);
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

async function ask<T>(
  server: MeasuredServer,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const response = await fetch(server.origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json', ...headers },
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
