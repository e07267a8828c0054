import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSite } from '../test/site/remote-site.ts';
import type { Load, LoadAnswer } from './api/load.ts';
import { startServer } from './api/server.ts';
import { runChild } from './child-run.ts';
import type { Bar, BenchOptions, Part, PartResult } from './part.ts';
import { figure, spread } from './report.ts';
import { sampleOf } from './sample.ts';

const CLIENTS = 50;
const RATE_PER_SECOND = 500;
const PAGES = 4_000;
const FULL = { rounds: 5, measureMs: 8_000, warmUpMs: 2_000 };
const QUICK = { rounds: 1, measureMs: 2_000, warmUpMs: 1_000 };
const METRICS_EVERY_MS = 1_000;

interface Rounds {
  readonly closed: LoadAnswer[];
  readonly paced: LoadAnswer[];
  readonly bare: LoadAnswer[];
}

/** POST /v1/scrape under load: how much it takes, and what it adds to fetching the page oneself. */
export const api: Part = {
  name: 'api',
  async run(options) {
    const { rounds, ...times } = options.isQuick ? QUICK : FULL;
    const folder = join(options.scratch, 'server');
    const site = await spawnSite({ log: 'off', pages: PAGES });
    const measured: Rounds = { closed: [], paced: [], bare: [] };
    let metricsReads = 0;
    try {
      const server = await startServer(folder, new URL(site.url).host);
      const look = setInterval(() => {
        void server.metrics().then(
          () => {
            metricsReads += 1;
          },
          (error: unknown) => options.say(String(error)),
        );
      }, METRICS_EVERY_MS);
      const load = { ...times, pages: PAGES, clients: CLIENTS, ratePerSecond: RATE_PER_SECOND };
      const common = { ...load, apiOrigin: server.origin, apiKey: server.apiKey, siteOrigin: site.url };
      try {
        for (let round = 0; round < rounds; round++) {
          measured.bare.push(await put({ ...common, mode: 'paced', way: 'bare' }));
          measured.paced.push(await put({ ...common, mode: 'paced', way: 'api' }));
          measured.closed.push(await put({ ...common, mode: 'closed', way: 'api' }));
          sayRound(round, measured, options);
        }
      } finally {
        clearInterval(look);
        await server.close();
      }
    } finally {
      await site.close();
    }
    const logBytes = statSync(join(folder, 'server.log')).size;
    return resultOf(measured, { metricsReads, logBytes });
  },
};

async function put(load: Load): Promise<LoadAnswer> {
  const script = fileURLToPath(new URL('./api/load.ts', import.meta.url));
  const { answer } = await runChild(process.execPath, [script, JSON.stringify(load)]);
  return answer as unknown as LoadAnswer;
}

function sayRound(round: number, { closed, paced, bare }: Rounds, { say }: BenchOptions): void {
  const [most, at, alone] = [closed.at(-1), paced.at(-1), bare.at(-1)];
  if (most === undefined || at === undefined || alone === undefined) return;
  say(
    `round ${round + 1}: at most ${figure(most.requestsPerSecond)} requests/s; at ${RATE_PER_SECOND}/s ` +
      `${figure(at.medianMs)} ms (p99 ${figure(at.p99Ms)}), bare ${figure(alone.medianMs)} ms (p99 ${figure(alone.p99Ms)})`,
  );
}

function resultOf(
  { closed, paced, bare }: Rounds,
  watched: { readonly metricsReads: number; readonly logBytes: number },
): PartResult {
  const added = (name: 'medianMs' | 'p99Ms') =>
    sampleOf(paced.map((answer, round) => answer[name] - (bare[round]?.[name] ?? Number.NaN)));
  const saturation = sampleOf(closed.map((answer) => answer.requestsPerSecond));
  const row = (name: string, answers: readonly LoadAnswer[]) => [
    name,
    ...(['requestsPerSecond', 'medianMs', 'p99Ms'] as const).map((field) =>
      spread(sampleOf(answers.map((answer) => answer[field]))),
    ),
    figure(answers.reduce((sum, { errors }) => sum + errors, 0)),
  ];
  const bars: Bar[] = [
    {
      claim: `POST /v1/scrape with ${CLIENTS} clients`,
      measured: saturation.median,
      atLeast: 500,
      unit: 'requests/s',
      spread: saturation,
    },
    {
      claim: `Median time added to the bare fetch, at ${RATE_PER_SECOND} requests/s`,
      measured: added('medianMs').median,
      atMost: 10,
      unit: 'ms',
      spread: added('medianMs'),
    },
    {
      claim: 'POST /v1/scrape: requests that failed',
      measured: [...closed, ...paced].reduce((sum, { errors }) => sum + errors, 0),
      atMost: 0,
      unit: '',
    },
  ];
  return {
    title: 'POST /v1/scrape',
    about:
      `${CLIENTS} clients in a process of their own ask for pages of a site on the same machine, whose rate the policy file lifts. ` +
      '“At most”: every client asks again as soon as it is answered. “Paced”: 500 requests a second, whether or not earlier ones were answered; ' +
      'the bare fetch of the same pages at the same pace is what the added time is measured against.',
    tables: [
      {
        columns: ['load', 'requests/s', 'median ms', 'p99 ms', 'errors'],
        rows: [row('at most', closed), row('paced', paced), row('paced, bare fetch', bare)],
      },
    ],
    bars,
    notes: [
      `The p99 added: ${spread(added('p99Ms'))} ms.`,
      `Every answer was written to the database and to disk first. /metrics was read ${watched.metricsReads} times meanwhile, and the log at level info grew to ${figure(watched.logBytes / 1e6)} MB.`,
      'The site, the clients and the server share the cores of one machine.',
    ],
    data: { closed, paced, bare, ...watched },
  };
}
