import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSite } from '../test/site/remote-site.ts';
import { type ChildRun, numberOf, runChild } from './child-run.ts';
import type { FrontierAnswer } from './growth/frontier.ts';
import { forkFrontier } from './growth/frontier-child.ts';
import type { MemorySample } from './growth/memory-crawl.ts';
import { LAUNCH_ENVIRONMENT, LAUNCH_FLAGS } from './launch.ts';
import type { Bar, BenchOptions, Part, Table } from './part.ts';
import { figure, megabytes, spread } from './report.ts';
import { quantile, ratios, type Sample, sampleOf, slopeOf } from './sample.ts';

const FULL = { urls: 1_000_000, hosts: 10_000, rounds: 15, crawlPages: 50_000 };
const QUICK = { urls: 100_000, hosts: 1_000, rounds: 3, crawlPages: 15_000 };
const SMALL = { urls: 10_000, hosts: 100 };
/** Figures of the first pages are about starting, not about growing. */
const SETTLED_AFTER_PAGES = 5_000;
const SHOWN_EVERY_PAGES = 5_000;
const MEMORY_LIMIT_MB = 350;

export const growth: Part = {
  name: 'growth',
  async run(options) {
    const size = options.isQuick ? QUICK : FULL;
    const frontier = await measureFrontier(size, options);
    const crawl = await measureCrawl(size.crawlPages, options);
    return {
      title: 'Growth',
      about:
        `A frontier of ${size.urls.toLocaleString('en')} URLs over ${size.hosts.toLocaleString('en')} hosts in the embedded store, ` +
        `beside one of ${SMALL.urls.toLocaleString('en')} over ${SMALL.hosts}, claimed from and completed in turn: ten tasks per slice, ` +
        '64 hosts at once, every completion with a stored page and 30 links, one of them new. Then the memory of one ' +
        `crawl of ${size.crawlPages.toLocaleString('en')} pages.`,
      tables: [...frontier.tables, ...crawl.tables],
      bars: [...frontier.bars, ...crawl.bars],
      notes: [
        'Claiming includes finding and acquiring hosts, completing includes releasing them.',
        'Resident memory is of the whole process, with the store’s thread and its cache of 16 MB.',
        'Growth of a crawl: the straight line through its resident memory from page 5,000 to the end, relative to its level there.',
      ],
      data: { frontier: frontier.data, crawl: crawl.data },
    };
  },
};

interface Section {
  readonly tables: readonly Table[];
  readonly bars: readonly Bar[];
  readonly data: unknown;
}

async function measureFrontier(size: typeof FULL, { scratch, say }: BenchOptions): Promise<Section> {
  const small = forkFrontier(join(scratch, 'small'), SMALL.urls, SMALL.hosts);
  const large = forkFrontier(join(scratch, 'large'), size.urls, size.hosts);
  const samples: { small: FrontierAnswer[]; large: FrontierAnswer[] } = { small: [], large: [] };
  await small.ask('fill');
  const filled = await large.ask('fill');
  say(`frontier of ${figure(filled.urls)} URLs filled in ${figure(filled.seconds)} s`);
  // The first turn of each is for the caches.
  for (let round = -1; round < size.rounds; round++) {
    const one = await small.ask('sample');
    const other = await large.ask('sample');
    if (round < 0) continue;
    samples.small.push(one);
    samples.large.push(other);
  }
  await Promise.all([small.close(), large.close()]);
  rmSync(scratch, { recursive: true, force: true });

  const rates = (name: 'claimsPerSecond' | 'completionsPerSecond') => ({
    small: samples.small.map((answer) => answer[name]),
    large: samples.large.map((answer) => answer[name]),
  });
  const claims = rates('claimsPerSecond');
  const completions = rates('completionsPerSecond');
  const rssMb = megabytes(Math.max(filled.rssBytes, ...samples.large.map(({ rssBytes }) => rssBytes)));
  const kept = (pair: typeof claims): Sample => sampleOf(ratios(pair.large, pair.small));
  say(
    `claims ${spread(kept(claims))} ×, completions ${spread(kept(completions))} ×, ${figure(rssMb)} MB resident`,
  );
  const bar = (claim: string, sample: Sample): Bar => ({
    claim,
    measured: sample.median,
    atLeast: 0.7,
    unit: '×',
    spread: sample,
  });
  const column = (values: readonly number[]) => spread(sampleOf(values));
  return {
    tables: [
      {
        columns: ['frontier', 'claims/s', 'completions/s', 'resident MB'],
        rows: [
          row(SMALL.urls, claims.small, completions.small, samples.small),
          row(size.urls, claims.large, completions.large, samples.large),
        ].map(({ name, ...cells }) => [
          name,
          column(cells.claims),
          column(cells.completions),
          column(cells.mb),
        ]),
      },
    ],
    bars: [
      {
        claim: `Resident memory with ${figure(size.urls)} URLs in the frontier`,
        measured: rssMb,
        atMost: MEMORY_LIMIT_MB,
        unit: 'MB',
      },
      bar('Claim rate of the large frontier over the small one', kept(claims)),
      bar('Completion rate of the large frontier over the small one', kept(completions)),
    ],
    data: { filled, samples },
  };
}

const row = (
  urls: number,
  claims: readonly number[],
  completions: readonly number[],
  answers: readonly FrontierAnswer[],
) => ({
  name: `${urls.toLocaleString('en')} URLs`,
  claims,
  completions,
  mb: answers.map(({ rssBytes }) => megabytes(rssBytes)),
});

async function measureCrawl(pages: number, { scratch, say }: BenchOptions): Promise<Section> {
  const folder = join(scratch, 'crawl');
  mkdirSync(folder, { recursive: true });
  const site = await spawnSite({ log: 'off', pages });
  let run: ChildRun;
  try {
    const script = fileURLToPath(new URL('./growth/memory-crawl.ts', import.meta.url));
    run = await runChild(process.execPath, [...LAUNCH_FLAGS, script, `${site.url}/big/`, folder], {
      limitMs: 3_600_000,
      env: LAUNCH_ENVIRONMENT,
    });
  } finally {
    await site.close();
  }
  const samples = run.answer.samples as readonly MemorySample[];
  const settled = samples.filter((sample) => sample.pages >= SETTLED_AFTER_PAGES);
  const first = settled.filter((sample) => sample.pages < SETTLED_AFTER_PAGES * 2);
  const level = (of: readonly MemorySample[], name: 'rssBytes' | 'heapUsedBytes') =>
    megabytes(
      quantile(
        of.map((sample) => sample[name]),
        0.5,
      ),
    );
  const slope = slopeOf(settled.map((sample) => ({ x: sample.pages, y: sample.rssBytes })));
  const growthShare = (slope * (pages - SETTLED_AFTER_PAGES)) / (level(first, 'rssBytes') * 1e6);
  const crawled = numberOf(run.answer, 'pages');
  say(
    `crawl of ${figure(crawled)} pages: memory grows by ${figure(growthShare * 100)} % after the first 5,000`,
  );
  const windows = Array.from({ length: Math.ceil(pages / SHOWN_EVERY_PAGES) }, (_, at) => {
    const fromPage = at * SHOWN_EVERY_PAGES;
    const toPage = fromPage + SHOWN_EVERY_PAGES;
    const within = samples.filter((sample) => sample.pages >= fromPage && sample.pages < toPage);
    return {
      fromPage,
      toPage,
      rssMb: level(within, 'rssBytes'),
      heapUsedMb: level(within, 'heapUsedBytes'),
    };
  });
  return {
    tables: [
      {
        columns: ['pages done', 'resident MB', 'heap of the main thread, MB'],
        rows: windows.map(({ fromPage, toPage, rssMb, heapUsedMb }) => [
          `${figure(fromPage)}–${figure(toPage)}`,
          figure(rssMb),
          figure(heapUsedMb),
        ]),
      },
    ],
    bars: [
      {
        claim: `Growth of resident memory from page 5,000 to ${figure(pages)} of a crawl`,
        measured: growthShare * 100,
        atMost: 10,
        unit: '%',
      },
      {
        claim: `Pages missing or failed in the crawl of ${figure(pages)}`,
        measured: Math.abs(pages - crawled) + numberOf(run.answer, 'errors'),
        atMost: 0,
        unit: '',
      },
    ],
    data: {
      slopeBytesPerPage: slope,
      peakRssBytes: run.peakRssBytes,
      cpuSeconds: run.cpuSeconds,
      seconds: numberOf(run.answer, 'seconds'),
      windows,
    },
  };
}
