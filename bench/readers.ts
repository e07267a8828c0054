import { join } from 'node:path';
import { crawlMeasured, type MeasuredCrawl } from './api/measured-crawl.ts';
import { startServer } from './api/server.ts';
import { startStaticSite } from './crawl/static-site.ts';
import type { BenchOptions, Part, PartResult } from './part.ts';
import { figure, spread } from './report.ts';
import { ratios, sampleOf } from './sample.ts';

const FULL = { pages: 4_000, rounds: 5 };
const QUICK = { pages: 400, rounds: 1 };
const ASKED = { snapshots: true, search: true, lake: true };
/** What the readers of events cost a crawl: one site, crawled with and without their options in turns by one server. */
export const readers: Part = {
  name: 'readers',
  async run(options) {
    const { pages, rounds } = options.isQuick ? QUICK : FULL;
    const site = await startStaticSite(pages);
    const [without, asked]: [MeasuredCrawl[], MeasuredCrawl[]] = [[], []];
    try {
      const server = await startServer(join(options.scratch, 'server'), new URL(site.url).host);
      try {
        // Threads that are started, and code that is compiled, by a first crawl are not what it costs.
        for (const first of [{}, ASKED]) await crawlMeasured(server, site.url, first);
        for (let round = 0; round < rounds; round += 1) {
          for (const isAsked of round % 2 === 0 ? [true, false] : [false, true]) {
            (isAsked ? asked : without).push(await crawlMeasured(server, site.url, isAsked ? ASKED : {}));
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

type Measure = 'pagesPerSecond' | 'crawlCpuSeconds' | 'cpuSeconds';

/** What crawls with the options came to, as shares of those without. */
const shares = (measure: Measure, without: readonly MeasuredCrawl[], asked: readonly MeasuredCrawl[]) => {
  const values = (runs: readonly MeasuredCrawl[]) => runs.map((run) => run[measure]);
  return sampleOf(ratios(values(asked), values(without)));
};

function sayRound(
  round: number,
  without: MeasuredCrawl[],
  asked: MeasuredCrawl[],
  { say }: BenchOptions,
): void {
  const [on, off] = [asked.at(-1), without.at(-1)];
  if (on === undefined || off === undefined) return;
  say(
    `round ${round + 1}: ${figure(on.pagesPerSecond)} pages/s with the options, ${figure(off.pagesPerSecond)} without; ` +
      `${figure(on.cpuSeconds)} and ${figure(off.cpuSeconds)} s of CPU with all that followed; readers up to ${figure(on.mostLagSeconds)} s behind`,
  );
}

function resultOf(pages: number, without: MeasuredCrawl[], asked: MeasuredCrawl[]): PartResult {
  const rates = shares('pagesPerSecond', without, asked);
  const row = (name: string, runs: readonly MeasuredCrawl[]) => [
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
