import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFleet } from '../../fleet/fleet.ts';
import { spawnSite } from '../../test/site/remote-site.ts';
import { runChild } from '../child-run.ts';
import type { BenchOptions } from '../part.ts';
import { figure, spread } from '../report.ts';
import { sampleOf } from '../sample.ts';
import { liftedSettings } from './contestants.ts';
import { createMeter, KINDS, type Usage, usedBetween } from './meter.ts';
import type { Place } from './place.ts';
import type { ScrapeAnswer, ScrapeLoad } from './scrape-clients.ts';
import type { Section } from './section.ts';

interface Used extends Usage {
  /** Answered in the same time. */
  readonly pages: number;
}

const CLIENTS = 1_000;
const HOSTS = 200;
/** More than can be asked for in a round, so that no page, and no body, comes twice. */
const PAGES_PER_ROUND = 200_000;
const FULL = { rounds: 3, warmUpMs: 10_000, measureMs: 30_000 };
const QUICK = { rounds: 1, warmUpMs: 2_000, measureMs: 5_000 };
const SIZE = { api: 2, 'http-worker': 2, scheduler: 1 } as const;
const SCRIPT = fileURLToPath(new URL('./scrape-clients.ts', import.meta.url));

/** A thousand clients that wait for a page each, through the proxy of a fleet. */
export async function measureScrapes(place: Place, options: BenchOptions): Promise<Section> {
  const { rounds, ...times } = options.isQuick ? QUICK : FULL;
  const site = await spawnSite({ log: 'off', pages: PAGES_PER_ROUND * (rounds + 1) });
  const answers: ScrapeAnswer[] = [];
  const used: Used[] = [];
  try {
    const dir = join(options.scratch, 'scrapes');
    const servers = await place.fresh();
    const settings = liftedSettings(dir);
    const fleet = await startFleet({ dir, size: SIZE, settings, servers, isKeptUp: false });
    const { processes } = fleet;
    const meter = createMeter({ place, processes, database: servers.database, sitePid: site.pid });
    try {
      for (let round = 0; round < rounds; round++) {
        const before = await meter.read();
        const answer = await askAll({
          origin: fleet.origin,
          apiKey: fleet.apiKey,
          hosts: Array.from({ length: HOSTS }, (_, at) => site.hostUrl(at)),
          firstPage: PAGES_PER_ROUND * round + 1,
          clients: CLIENTS,
          ...times,
        });
        used.push({ pages: answer.byStatus['200'] ?? 0, ...usedBetween(before, await meter.read()) });
        answers.push(answer);
        options.say(
          `round ${round + 1} ${CLIENTS} clients: ${figure(answer.pagesPerSecond)} pages/s, median ${figure(answer.medianMs)} ms, ` +
            `p99 ${figure(answer.p99Ms)} ms, ${statusesOf([answer])}${answer.firstError === '' ? '' : `; ${answer.firstError}`}`,
        );
      }
    } finally {
      await fleet.stop();
    }
  } finally {
    await site.close();
  }
  return sectionOf(answers, used);
}

async function askAll(load: ScrapeLoad): Promise<ScrapeAnswer> {
  const { answer } = await runChild(process.execPath, [SCRIPT, JSON.stringify(load)]);
  return answer as unknown as ScrapeAnswer;
}

function statusesOf(answers: readonly ScrapeAnswer[]): string {
  const total: Record<string, number> = {};
  for (const { byStatus } of answers) {
    for (const [status, count] of Object.entries(byStatus)) total[status] = (total[status] ?? 0) + count;
  }
  return Object.entries(total)
    .map(([status, count]) => `${status}: ${figure(count)}`)
    .join(', ');
}

function sectionOf(answers: readonly ScrapeAnswer[], used: readonly Used[]): Section {
  const column = (name: 'pagesPerSecond' | 'medianMs' | 'p99Ms' | 'longestMs') =>
    spread(sampleOf(answers.map((answer) => answer[name])));
  const perPage = (amount: (one: Usage) => number) =>
    figure(sampleOf(used.map((one) => amount(one) / one.pages)).median);
  return {
    tables: [
      {
        columns: ['POST /v1/scrape', 'pages/s', 'median ms', 'p99 ms', 'longest ms', 'answers by status'],
        rows: [
          [
            `${figure(CLIENTS)} clients, 2 api, 2 http-workers`,
            column('pagesPerSecond'),
            column('medianMs'),
            column('p99Ms'),
            column('longestMs'),
            statusesOf(answers),
          ],
        ],
      },
      {
        columns: [
          'a scraped page',
          'Redis commands',
          'statements',
          'S3 requests',
          ...KINDS.map((kind) => `${kind}, CPU ms`),
        ],
        rows: [
          [
            'costs',
            perPage(({ redisCommands }) => redisCommands),
            perPage(({ statements }) => statements),
            perPage(({ s3Requests }) => s3Requests),
            ...KINDS.map((kind) => perPage(({ cpuSeconds }) => cpuSeconds[kind] * 1e3)),
          ],
        ],
      },
    ],
    bars: [
      {
        claim: `Fleet: errors of ${figure(CLIENTS)} clients, honest 429 and 503 aside`,
        measured: answers.reduce((sum, { errors }) => sum + errors, 0),
        atMost: 0,
        unit: '',
      },
    ],
    notes: [
      `Each of the ${figure(CLIENTS)} clients asks again as soon as it is answered, for a page of one of ${HOSTS} hosts whose rate is lifted; every page and body is new and stored before the answer. Told to come later (429 or 503 with Retry-After), a client waits that long.`,
    ],
    data: { answers, used },
  };
}
