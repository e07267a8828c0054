// Very many clients of POST /v1/scrape, in a process of their own. usage: node scrape-clients.ts '{"origin":…}'
import { Pool } from 'undici';
import { quantile } from '../sample.ts';

export interface ScrapeLoad {
  readonly origin: string;
  readonly apiKey: string;
  /** Origins of the hosts whose pages are asked for, in turn. */
  readonly hosts: readonly string[];
  /** The number of the first page that is asked for; the next request asks for the next one. */
  readonly firstPage: number;
  /** Every one of them asks again as soon as it is answered. */
  readonly clients: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface ScrapeAnswer {
  /** Counts of all answers, those while warming up included. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** Answers that are neither a page nor an honest 429 or 503, and requests without an answer. */
  readonly errors: number;
  readonly firstError: string;
  /** That arrived in the time measured; the times below are of requests that began in it. */
  readonly pagesPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

const TOO_MUCH = [429, 503];
/** A client that is told to come back later does so, but not after the measurement. */
const LONGEST_PAUSE_MS = 5_000;
const ANSWER_LIMIT_MS = 120_000;

const load = JSON.parse(process.argv[2] ?? '') as ScrapeLoad;
const pool = new Pool(load.origin, {
  connections: load.clients,
  headersTimeout: ANSWER_LIMIT_MS,
  bodyTimeout: ANSWER_LIMIT_MS,
});
const latencies: number[] = [];
const byStatus: Record<string, number> = {};
let arrived = 0;
let errors = 0;
let firstError = '';
let next = load.firstPage;
const measureFrom = performance.now() + load.warmUpMs;
const endAt = measureFrom + load.measureMs;

interface Outcome {
  readonly status: string;
  readonly problem: string | null;
  readonly pauseMs: number;
}

async function scrape(page: number): Promise<Outcome> {
  const host = load.hosts[page % load.hosts.length] ?? '';
  const { statusCode, headers, body } = await pool.request({
    method: 'POST',
    path: '/v1/scrape',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${load.apiKey}` },
    body: JSON.stringify({ url: `${host}/big/${page}`, formats: ['metadata', 'links'] }),
  });
  const text = await body.text();
  const status = String(statusCode);
  const retryAfter = Number(headers['retry-after']);
  if (TOO_MUCH.includes(statusCode) && retryAfter > 0) {
    return { status, problem: null, pauseMs: Math.min(LONGEST_PAUSE_MS, retryAfter * 1_000) };
  }
  const isPage = statusCode === 200 && text.includes('The Big Site');
  return { status, problem: isPage ? null : `${status} ${text.slice(0, 300)}`, pauseMs: 0 };
}

async function client(): Promise<void> {
  while (performance.now() < endAt) {
    const startedAt = performance.now();
    const outcome = await scrape(next++).catch(
      (error: unknown): Outcome => ({ status: 'none', problem: String(error), pauseMs: 0 }),
    );
    const { status, problem, pauseMs } = outcome;
    const endedAt = performance.now();
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    if (problem !== null) {
      errors += 1;
      firstError ||= problem;
    } else if (status === '200') {
      if (startedAt >= measureFrom) latencies.push(endedAt - startedAt);
      if (endedAt >= measureFrom && endedAt < endAt) arrived += 1;
    }
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

await Promise.all(Array.from({ length: load.clients }, client));
await pool.close();
const answer: ScrapeAnswer = {
  byStatus,
  errors,
  firstError,
  pagesPerSecond: (arrived * 1_000) / load.measureMs,
  medianMs: quantile(latencies, 0.5),
  p99Ms: quantile(latencies, 0.99),
  longestMs: quantile(latencies, 1),
};
process.stdout.write(`${JSON.stringify(answer)}\n`);
