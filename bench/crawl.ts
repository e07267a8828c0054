import { CONCURRENCY, type Contestant, type Crawled, contestants, crawlIn } from './crawl/contestants.ts';
import { startStaticSite } from './crawl/static-site.ts';
import type { Bar, BenchOptions, Part, PartResult } from './part.ts';
import { figure, megabytes, spread } from './report.ts';
import { ratios, rotated, type Sample, sampleOf } from './sample.ts';

const PAGES = 4_000;
const ROUNDS = 5;
/**
 * A contestant that is quick has as many turns in a round, of which the middle one counts: a single turn of a second
 * and a half says little.
 */
const TURNS = 3;
const LONG_SECONDS = 5;
const QUICK = { pages: 500, rounds: 1 };

interface Runs {
  readonly name: string;
  readonly runs: Crawled[];
  /** Requests that the site received beyond one per page and one for robots.txt, in all rounds. */
  surplus: number;
}

/** The same site, crawled from its home page by everybody in turn. */
export const crawl: Part = {
  name: 'crawl',
  async run(options) {
    const pages = options.isQuick ? QUICK.pages : PAGES;
    const rounds = options.isQuick ? QUICK.rounds : ROUNDS;
    const { list, missing } = contestants();
    for (const line of missing) options.say(line);
    // Once for the caches: compiled sources, the files of each program.
    if (!options.isQuick) await takeTurns(list, QUICK.pages, 1, { ...options, say: () => {} });
    const all = await takeTurns(list, pages, rounds, options);
    return resultOf(all, pages, rounds, missing);
  },
};

async function takeTurns(
  list: readonly Contestant[],
  pages: number,
  rounds: number,
  { scratch, say }: BenchOptions,
): Promise<Runs[]> {
  const all = list.map(({ name }): Runs => ({ name, runs: [], surplus: 0 }));
  const site = await startStaticSite(pages);
  try {
    for (let round = 0; round < rounds; round++) {
      const turns = all.map((): Crawled[] => []);
      for (let turn = 0; turn < TURNS; turn++) {
        for (const contestant of rotated(list, round)) {
          const at = list.indexOf(contestant);
          const own = turns[at] as Crawled[];
          if ((own[0]?.wallSeconds ?? 0) > LONG_SECONDS) continue;
          await site.reset();
          const crawled = await crawlIn(scratch, contestant, `${site.url}/big/`);
          own.push(crawled);
          (all[at] as Runs).surplus += Math.max(0, (await site.requests()) - pages - 1);
          say(
            `round ${round + 1} ${contestant.name}: ${crawled.pages} pages, ${crawled.errors} errors, ` +
              `${figure(crawled.pages / crawled.seconds)} pages/s`,
          );
        }
      }
      for (const [at, { runs }] of all.entries()) runs.push(middleOf(turns[at] as Crawled[]));
    }
  } finally {
    await site.close();
  }
  return all;
}

/** The run of middle speed, with the errors of all of them. */
function middleOf(runs: readonly Crawled[]): Crawled {
  const errors = runs.reduce((sum, run) => sum + run.errors, 0);
  const fewest = Math.min(...runs.map((run) => run.pages));
  const middle = runs.toSorted((a, b) => a.seconds - b.seconds)[runs.length >> 1] as Crawled;
  return { ...middle, errors, pages: fewest };
}

function resultOf(
  all: readonly Runs[],
  pages: number,
  rounds: number,
  missing: readonly string[],
): PartResult {
  const rates = new Map(all.map(({ name, runs }) => [name, runs.map((run) => run.pages / run.seconds)]));
  const wholeRates = new Map(
    all.map(({ name, runs }) => [name, runs.map((run) => run.pages / run.wallSeconds)]),
  );
  const own = rates.get('Scrapifie') ?? [];
  const over = (name: string, of = rates) => sampleOf(ratios(of.get('Scrapifie') ?? [], of.get(name) ?? []));
  const bars: Bar[] = [
    ...(rates.has('Crawlee') ? [bar('Scrapifie over Crawlee, pages per second', over('Crawlee'), 8)] : []),
    bar('Scrapifie over the bare ceiling, pages per second', over('bare ceiling'), 0.9),
    {
      claim: 'Scrapifie: pages missing, failed or fetched twice, over all rounds',
      measured: faults(
        all.find(({ name }) => name === 'Scrapifie'),
        pages,
      ),
      atMost: 0,
      unit: '',
    },
  ];
  return {
    title: `A static site of ${pages.toLocaleString('en')} pages`,
    about:
      `21 KB and 30 links per page, served from the memory of a process of its own on the same machine; rounds: ${rounds}; ` +
      `up to ${CONCURRENCY} requests at once (Crawlee finds its own number, up to 200). Scrapifie, Crawlee and Scrapy store what they find; the ceiling ` +
      '(undici and htmlparser2 in one thread) stores nothing.',
    tables: [
      {
        columns: [
          'crawler',
          'pages/s',
          'whole process, pages/s',
          'Scrapifie over it',
          'whole process',
          'CPU s',
          'peak MB',
          'errors',
        ],
        rows: all.map(({ name, runs }) => [
          name,
          spread(sampleOf(rates.get(name) ?? own)),
          spread(sampleOf(wholeRates.get(name) ?? own)),
          name === 'Scrapifie' ? '' : spread(over(name)),
          name === 'Scrapifie' ? '' : spread(over(name, wholeRates)),
          spread(sampleOf(runs.map((run) => run.cpuSeconds))),
          spread(sampleOf(runs.map((run) => megabytes(run.peakRssBytes)))),
          String(runs.reduce((sum, run) => sum + run.errors, 0)),
        ]),
      },
    ],
    bars,
    notes: [
      'Pages per second as each crawler measures itself; “whole process” also counts starting and ending its program.',
      'CPU seconds are user and system time of all threads.',
      ...missing,
    ],
    data: all,
  };
}

const bar = (claim: string, sample: Sample, atLeast: number): Bar => ({
  claim,
  measured: sample.median,
  atLeast,
  unit: '×',
  spread: sample,
});

function faults(own: Runs | undefined, pages: number): number {
  if (own === undefined) return Number.NaN;
  return own.runs.reduce((sum, run) => sum + run.errors + Math.abs(pages - run.pages), own.surplus);
}
