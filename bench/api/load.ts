// The clients, in a process of their own. usage: node load.ts '{"mode":…}'
import { Pool } from 'undici';
import { quantile } from '../sample.ts';

export interface Load {
  /** closed: every client asks again as soon as it is answered. paced: so many requests a second, come what may. */
  readonly mode: 'closed' | 'paced';
  /** api: through POST /v1/scrape. bare: the page itself. */
  readonly way: 'api' | 'bare';
  readonly apiOrigin: string;
  readonly apiKey: string;
  readonly siteOrigin: string;
  readonly pages: number;
  readonly clients: number;
  readonly ratePerSecond: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface LoadAnswer {
  readonly requests: number;
  readonly errors: number;
  readonly requestsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const load = JSON.parse(process.argv[2] ?? '') as Load;
const pool = new Pool(load.way === 'api' ? load.apiOrigin : load.siteOrigin, { connections: load.clients });
const latencies: number[] = [];
let errors = 0;
let firstError = '';
let sent = 0;
const beganAt = performance.now();
const measureFrom = beganAt + load.warmUpMs;
const endAt = measureFrom + load.measureMs;

async function ask(): Promise<void> {
  const page = sent % load.pages;
  sent += 1;
  const startedAt = performance.now();
  let problem: string | null = null;
  try {
    problem = load.way === 'api' ? await scrape(page) : await fetchPage(page);
  } catch (error) {
    problem = String(error);
  }
  const endedAt = performance.now();
  if (startedAt < measureFrom || startedAt >= endAt) return;
  if (problem === null) latencies.push(endedAt - startedAt);
  else {
    errors += 1;
    firstError ||= problem;
  }
}

const pathOf = (page: number) => (page === 0 ? '/big/' : `/big/${page}`);

async function scrape(page: number): Promise<string | null> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/v1/scrape',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${load.apiKey}` },
    body: JSON.stringify({ url: load.siteOrigin + pathOf(page), formats: ['metadata', 'links'] }),
  });
  const text = await body.text();
  return statusCode === 200 && text.includes('The Big Site') ? null : `${statusCode} ${text.slice(0, 300)}`;
}

async function fetchPage(page: number): Promise<string | null> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: pathOf(page) });
  const text = await body.text();
  return statusCode === 200 && text.includes('The Big Site') ? null : `${statusCode} ${text.slice(0, 300)}`;
}

async function client(): Promise<void> {
  while (performance.now() < endAt) await ask();
}

/** Sends what is due whenever the timer fires, without waiting for earlier answers. */
function paced(): Promise<void> {
  return new Promise((resolve) => {
    let underWay = 0;
    let started = 0;
    const timer = setInterval(() => {
      const now = performance.now();
      const due = Math.floor(((Math.min(now, endAt) - beganAt) * load.ratePerSecond) / 1_000);
      for (; started < due; started++) {
        underWay += 1;
        void ask().then(() => {
          underWay -= 1;
        });
      }
      if (now < endAt || underWay > 0) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
}

if (load.mode === 'paced') await paced();
else await Promise.all(Array.from({ length: load.clients }, client));
await pool.close();
if (firstError !== '') process.stderr.write(`${firstError}\n`);
const answer: LoadAnswer = {
  requests: latencies.length + errors,
  errors,
  requestsPerSecond: (latencies.length * 1_000) / load.measureMs,
  medianMs: quantile(latencies, 0.5),
  p99Ms: quantile(latencies, 0.99),
};
process.stdout.write(`${JSON.stringify(answer)}\n`);
