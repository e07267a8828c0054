import { fileURLToPath } from 'node:url';
import { runChild } from './child-run.ts';
import type { ExtractAnswer } from './extract/turns.ts';
import type { Part } from './part.ts';
import { figure, spread } from './report.ts';
import { ratios, sampleOf } from './sample.ts';

const ROUNDS = 20;
const QUICK_ROUNDS = 4;

/** What reading a page costs, beside the least that a crawler could do with it. */
export const extract: Part = {
  name: 'extract',
  async run({ isQuick, pagesDir, say }) {
    const script = fileURLToPath(new URL('./extract/turns.ts', import.meta.url));
    const rounds = String(isQuick ? QUICK_ROUNDS : ROUNDS);
    const { answer } = await runChild(process.execPath, [
      script,
      rounds,
      ...(pagesDir === null ? [] : [pagesDir]),
    ]);
    const { sets } = answer as unknown as ExtractAnswer;
    const rows = sets.map(({ name, pages, meanBytes, own, plain }) => {
      const times = sampleOf(ratios(own, plain));
      say(`${name}: ${figure(sampleOf(own).median)} ms a page, ${spread(times)} × plain parsing`);
      const cells = [own, plain].map((values) => spread(sampleOf(values)));
      return [name, figure(pages), figure(meanBytes / 1_000), ...cells, spread(times)];
    });
    return {
      title: 'Reading a page',
      about:
        'Everything Scrapifie takes from a page in one pass (links with their texts, metadata, headings, structured data, ' +
        'text hash), beside htmlparser2 that finds href attributes and the title and keeps neither texts nor metadata. One thread, in turns.',
      tables: [
        {
          columns: ['pages', 'number', 'mean KB', 'Scrapifie, ms a page', 'htmlparser2, ms a page', 'ratio'],
          rows,
        },
      ],
      bars: [],
      notes: [],
      data: sets,
    };
  },
};
