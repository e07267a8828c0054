import { spawnSite } from '../test/site/remote-site.ts';
import type { Bar, BenchOptions, Part, PartResult } from './part.ts';
import {
  CONCURRENCY,
  type RenderContestant,
  renderContestants,
  type Shown,
  showIn,
} from './render/contestants.ts';
import { differences, type PageTexts } from './render/page-texts.ts';
import { figure, megabytes, spread } from './report.ts';
import { ratios, rotated, type Sample, sampleOf } from './sample.ts';

const PAGES = 200;
const ROUNDS = 5;
const QUICK = { pages: 40, rounds: 1 };

interface Runs {
  readonly name: string;
  readonly runs: Omit<Shown, 'texts'>[];
  /** Texts of the pages in the last round. */
  texts: PageTexts | null;
}

/** The same site of pages that a script makes, crawled from its first page by everybody in turn. */
export const render: Part = {
  name: 'render',
  async run(options) {
    const pages = options.isQuick ? QUICK.pages : PAGES;
    const rounds = options.isQuick ? QUICK.rounds : ROUNDS;
    const list = await renderContestants();
    const all = await takeTurns(list, pages, rounds, options);
    return resultOf(all, pages, rounds);
  },
};

async function takeTurns(
  list: readonly RenderContestant[],
  pages: number,
  rounds: number,
  { scratch, say }: BenchOptions,
): Promise<Runs[]> {
  const all = list.map(({ name }): Runs => ({ name, runs: [], texts: null }));
  const site = await spawnSite({ log: 'off', pages });
  try {
    for (let round = 0; round < rounds; round++) {
      for (const contestant of rotated(list, round)) {
        const { texts, ...shown } = await showIn(scratch, contestant, `${site.url}/js/catalogue/`);
        const own = all.find(({ name }) => name === contestant.name);
        own?.runs.push(shown);
        if (own !== undefined) own.texts = texts;
        say(
          `round ${round + 1} ${contestant.name}: ${shown.pages} pages, ${shown.errors} errors, ` +
            `${figure(shown.pages / shown.seconds)} pages/s, ${figure(megabytes(shown.peakTreeBytes))} MB`,
        );
      }
    }
  } finally {
    await site.close();
  }
  return all;
}

function resultOf(all: readonly Runs[], pages: number, rounds: number): PartResult {
  const runsOf = (name: string) => all.find((each) => each.name === name)?.runs ?? [];
  const rates = (name: string) => runsOf(name).map((run) => run.pages / run.seconds);
  const wholeRates = (name: string) => runsOf(name).map((run) => run.pages / run.wallSeconds);
  const memory = (name: string) => runsOf(name).map((run) => run.peakTreeBytes);
  const over = (name: string) => sampleOf(ratios(rates('Scrapifie'), rates(name)));
  const wholeOver = (name: string) => sampleOf(ratios(wholeRates('Scrapifie'), wholeRates(name)));
  const memoryOver = (name: string) => sampleOf(ratios(memory('Scrapifie'), memory(name)));
  const others = all.map(({ name }) => name).filter((name) => name !== 'Scrapifie');
  const different = differences(textsOf(all, 'Scrapifie'), textsOf(all, 'Crawlee'));
  const bars: Bar[] = [
    {
      ...bar('Scrapifie over Crawlee, rendered pages per second', over('Crawlee')),
      atLeast: 2.5,
    },
    {
      ...bar('Scrapifie over Crawlee, peak memory with the browser', memoryOver('Crawlee')),
      atMost: 1,
    },
    {
      claim: 'Pages whose text is not the same as in Crawlee’s browser',
      measured: different.length,
      atMost: 0,
      unit: '',
    },
    {
      claim: 'Scrapifie: rendered pages missing or failed, over all rounds',
      measured: runsOf('Scrapifie').reduce((sum, run) => sum + run.errors + Math.abs(pages - run.pages), 0),
      atMost: 0,
      unit: '',
    },
  ];
  return {
    title: `A site of ${pages} pages that a script makes`,
    about:
      `A shell of a page, a script and a style sheet that may be cached, 12 KB of JSON for 40 cards and 30 links; rounds: ${rounds}; ` +
      `${CONCURRENCY} pages at once on the same Chromium, each read when its list is there. Scrapifie and Crawlee find the pages by their links and store ` +
      'their HTML; the ceiling (a loop over warm pages of one context in one renderer process) stores nothing.',
    tables: [
      {
        columns: [
          'crawler',
          'pages/s',
          'whole process, pages/s',
          'Scrapifie over it',
          'whole process',
          'peak MB with the browser',
          'errors',
        ],
        rows: all.map(({ name, runs }) => [
          name,
          spread(sampleOf(rates(name))),
          spread(sampleOf(wholeRates(name))),
          others.includes(name) ? spread(over(name)) : '',
          others.includes(name) ? spread(wholeOver(name)) : '',
          spread(sampleOf(runs.map((run) => megabytes(run.peakTreeBytes)))),
          String(runs.reduce((sum, run) => sum + run.errors, 0)),
        ]),
      },
    ],
    bars,
    notes: [
      'Pages per second as each crawler measures itself; “whole process” also counts starting and ending its program.',
      'Memory is the proportional set size (PSS) of the program and all processes of its browser, looked at twice a second.',
      'Text is compared page by page: the words of the documents that both have stored in the last round.',
      ...(different.length === 0 ? [] : [`Different: ${different.slice(0, 5).join(', ')}`]),
    ],
    data: all.map(({ name, runs }) => ({ name, runs })),
  };
}

const textsOf = (all: readonly Runs[], name: string): PageTexts =>
  all.find((each) => each.name === name)?.texts ?? new Map();

const bar = (claim: string, sample: Sample): Bar => ({
  claim,
  measured: sample.median,
  unit: '×',
  spread: sample,
});
