import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option } from 'commander';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { PageResult } from '../jobs/page-result.ts';
import { cannotWrite } from './cannot-write.ts';
import { withJobs } from './data-folder.ts';
import { CSV_HEAD, csvRow } from './export-csv.ts';
import { FLAGS } from './flags.ts';
import type { DefineCommand, Shell } from './shell.ts';

const FORMATS = ['ndjson', 'csv', 'json'] as const;

interface ExportFlags {
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly dataDir?: string;
}

/** Gathered before they are written: a write per page would be a system call per page. */
const CHUNK_CHARS = 65_536;

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
      withJobs(shell, flags.dataDir, async ({ jobs, account }) => {
        const [latest] = id === 'latest' ? (await jobs.list({ accountId: account, limit: 1 })).items : [];
        if (id === 'latest' && latest === undefined)
          throw new ScrapifieError('NOT_FOUND', 'There are no jobs.');
        const job = latest ?? (await jobs.get(id, account));
        await write(shell, flags.out, inChunks(WRITERS[flags.format](jobs.read.eachResult(job))));
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

async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** A file appears under its name when it is complete, so that half an export is never taken for a whole one. */
async function write(shell: Shell, out: string | undefined, chunks: AsyncIterable<string>): Promise<void> {
  if (out === undefined || out === '-') {
    await pipeline(Readable.from(chunks), shell.stdout, { end: false });
    return;
  }
  const path = resolve(shell.cwd, out);
  const part = `${path}.part`;
  try {
    await pipeline(Readable.from(chunks), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error instanceof ScrapifieError ? error : cannotWrite(path, error);
  }
}
