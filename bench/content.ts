import { fileURLToPath } from 'node:url';
import { runChild } from './child-run.ts';
import { STRUCTURES, tornPercent } from './content/torn.ts';
import type { ContentAnswer } from './content/turns.ts';
import type { Bar, Part } from './part.ts';
import { figure, spread } from './report.ts';
import { quantile, ratios, sampleOf } from './sample.ts';

const ROUNDS = 2;
/** In a quick run every eighth page, once. */
const QUICK_STRIDE = 8;
/** Tables and lists that are kept in part, of those that are kept at all. */
const MOST_TORN_PERCENT = 1;
const FACTORS: Readonly<Record<string, number>> = { 'defuddle + linkedom': 3, 'readability + jsdom': 5 };

/** What a whole extraction costs, beside programs that do a part of it. */
export const content: Part = {
  name: 'content',
  async run({ isQuick, pagesDir, say }) {
    const script = fileURLToPath(new URL('./content/turns.ts', import.meta.url));
    const { answer } = await runChild(process.execPath, [
      script,
      String(isQuick ? 1 : ROUNDS),
      String(isQuick && pagesDir !== null ? QUICK_STRIDE : 1),
      ...(pagesDir === null ? [] : [pagesDir]),
    ]);
    const { pages, meanBytes, contenders, torn } = answer as unknown as ContentAnswer;
    const means = contenders.map(({ ms }) => ms.map(meanOf));
    const ownMeans = means[0] ?? [];
    const bars: Bar[] = [
      {
        claim: 'Scrapifie: pages whose content could not be read',
        measured: contenders[0]?.failures ?? pages,
        atMost: 0,
        unit: '',
      },
    ];
    const rows = contenders.map(({ name, ms, failures }, index) => {
      const each = ms.flat();
      const times = sampleOf(ratios(means[index] ?? [], ownMeans));
      const atLeast = FACTORS[name];
      // What small pages made for crawling cost says little about content; the bars are about real ones.
      if (atLeast !== undefined && pagesDir !== null) {
        bars.push({
          claim: `a whole extraction beside ${name}`,
          measured: times.median,
          atLeast,
          unit: '× as fast',
          spread: times,
        });
      }
      say(`${name}: ${figure(sampleOf(means[index] ?? []).median)} ms a page, ${spread(times)} × Scrapifie`);
      return [
        name,
        spread(sampleOf(means[index] ?? [])),
        figure(quantile(each, 0.5)),
        figure(quantile(each, 0.99)),
        figure(Math.max(...each)),
        String(failures),
        spread(times),
      ];
    });
    const structures = STRUCTURES.map((name) => {
      const counts = torn[name];
      const percent = tornPercent(counts);
      say(`${name} kept in part: ${counts.torn} of ${counts.kept}`);
      if (pagesDir !== null && name !== 'definition lists') {
        bars.push({
          claim: `${name} that are kept in part`,
          measured: percent,
          atMost: MOST_TORN_PERCENT,
          unit: '%',
        });
      }
      return [name, String(counts.kept), String(counts.torn), percent.toFixed(1)];
    });
    return {
      title: 'Finding the content of a page',
      about:
        `${pages} pages of ${figure(meanBytes / 1_000)} KB on average. Scrapifie: links, metadata, structured data, main content as HTML, ` +
        'text and Markdown. The others: the main content as HTML, nothing else. One thread, page by page in turns.',
      tables: [
        {
          columns: ['', 'mean ms a page', 'median', 'p99', 'worst page', 'failed', 'time, Scrapifie = 1'],
          rows,
        },
        { columns: ['structures', 'kept', 'of them in part', '%'], rows: structures },
      ],
      bars,
      notes: [
        ...(pagesDir === null
          ? [
              'Generated pages, for which there are no bars; real ones with --pages: a folder of HTML files, or of html/ID.html.gz and ground-truth/ID.json.',
            ]
          : []),
      ],
      data: {
        pages,
        meanBytes,
        torn,
        contenders: contenders.map(({ name, ms, failures }, index) => ({
          name,
          failures,
          means: means[index],
          p99: quantile(ms.flat(), 0.99),
          worst: Math.max(...ms.flat()),
        })),
      },
    };
  },
};

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
