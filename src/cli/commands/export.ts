import { Option } from 'commander';
import type { PageResult } from '../../jobs/page-result.ts';
import { FLAGS } from '../flags/flags.ts';
import { jobNamed, withJobs } from '../folders/data-folder.ts';
import { CSV_HEAD, csvRow } from '../output/export-csv.ts';
import { writeOut } from '../output/output-file.ts';
import type { DefineCommand } from '../shell/shell.ts';

const FORMATS = ['ndjson', 'csv', 'json'] as const;

interface ExportFlags {
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly dataDir?: string;
}

const EXAMPLES = `
JOB is an id from "scrapifie jobs list", or "latest". Pages are written as they are read, so size does not matter.

Examples:
  scrapifie export latest --format csv --out pages.csv
  scrapifie export latest --data-dir ./crawl-example.com | jq .title`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<job>', 'id of the job, or "latest"')
    .addOption(new Option('--format <name>', 'format of the file').choices(FORMATS).default('ndjson'))
    .option('--out <file>', 'file to write (default: standard output)')
    .addOption(FLAGS.dataDir())
    .addHelpText('after', EXAMPLES)
    .action((id: string, flags: ExportFlags) =>
      withJobs(shell, flags.dataDir, async ({ jobs, account, store }) => {
        const job = await jobNamed(id, jobs, account);
        const details = { what: 'results' };
        const entry = { actor: 'command line', action: 'job.export', target: job.id, details };
        await store.audit([{ at: Date.now(), ...entry }]);
        await writeOut(shell, flags.out, WRITERS[flags.format](jobs.read.eachResult(job)));
      }),
    );
};

type Pages = AsyncIterable<PageResult>;

const WRITERS: Readonly<Record<ExportFlags['format'], (pages: Pages) => AsyncGenerator<string>>> = {
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
  async *csv(pages) {
    yield CSV_HEAD;
    for await (const page of pages) yield csvRow(page);
  },
};
