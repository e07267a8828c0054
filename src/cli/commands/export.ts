import { Option } from 'commander';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { PageResult } from '../../jobs/page-result.ts';
import { type BackendFlags, withBackend } from '../backend/open-backend.ts';
import { FLAGS } from '../flags/flags.ts';
import { csvHead, csvRow, extractedCells } from '../output/export-csv.ts';
import { writeOut } from '../output/output-file.ts';
import type { DefineCommand } from '../shell/shell.ts';

const FORMATS = ['ndjson', 'csv', 'json'] as const;

interface ExportFlags extends BackendFlags {
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly text?: true;
}

const EXAMPLES = `
JOB is an id from "scrapifie jobs list", or "latest". Pages are written as they are read, so size does not matter. In CSV
each extracted field has a column, extracted.NAME; for these columns the pages are read twice.

Examples:
  scrapifie export latest --format csv --out pages.csv
  scrapifie export latest --format csv --text --out texts.csv
  scrapifie export latest --data-dir ./crawl-example.com | jq .title
  scrapifie export latest --api http://127.0.0.1:3000`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<job>', 'id of the job, or "latest"')
    .addOption(new Option('--format <name>', 'format of the file').choices(FORMATS).default('ndjson'))
    .option('--text', 'csv: a column with the text of each page, where the job has kept it')
    .option('--out <file>', 'file to write (default: standard output)')
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.api())
    .addOption(FLAGS.apiKey())
    .addHelpText('after', EXAMPLES)
    .action((id: string, flags: ExportFlags) => {
      const hasText = flags.text === true;
      if (hasText && flags.format !== 'csv') {
        throw new ScrapifieError(
          'INVALID_USAGE',
          '--text is for --format csv; the others have all there is.',
        );
      }
      return withBackend(shell, flags, async ({ jobs }) => {
        // The newest job may be another one when the pages are read a second time.
        const job = await jobs.get(id);
        const { extract } = (job.options as { readonly page: { readonly extract?: unknown } }).page;
        const extracts = flags.format === 'csv' && extract != null;
        const extracted = extracts ? await namesOf(jobs.results(job.id)) : [];
        await writeOut(shell, flags.out, WRITERS[flags.format](jobs.results(job.id), { extracted, hasText }));
      });
    });
};

type Pages = AsyncIterable<PageResult>;
type Writer = (pages: Pages, options: Parameters<typeof csvHead>[0]) => AsyncGenerator<string>;

/** Pages of unlike kinds have unlike fields; a table cannot have any number of columns. */
const MOST_COLUMNS = 1_000;

async function namesOf(pages: Pages): Promise<readonly string[]> {
  const names = new Set<string>();
  for await (const page of pages) {
    for (const name of extractedCells(page).keys()) names.add(name);
    if (names.size > MOST_COLUMNS) {
      throw new ScrapifieError(
        'INVALID_USAGE',
        `More than ${MOST_COLUMNS} fields were extracted, too many for columns. Take --format ndjson.`,
      );
    }
  }
  return [...names];
}

const WRITERS: Readonly<Record<ExportFlags['format'], Writer>> = {
  async *ndjson(pages) {
    for await (const page of pages) yield `${JSON.stringify(page)}\n`;
  },
  async *json(pages) {
    let before = '[\n';
    for await (const page of pages) {
      yield `${before}${JSON.stringify(page)}`;
      before = ',\n';
    }
    yield before === ',\n' ? '\n]\n' : '[]\n';
  },
  async *csv(pages, options) {
    yield csvHead(options);
    for await (const page of pages) yield csvRow(page, options);
  },
};
