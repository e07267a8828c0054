import { createExtraction } from '../../capabilities/jobs/extraction.ts';
import { readOptionsOf, reextractRequestSchema } from '../../capabilities/jobs/request/extraction-request.ts';
import { READ_FORMATS } from '../../capabilities/jobs/request/page-options.ts';
import type { PageResult } from '../../capabilities/jobs/results/page-result.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { createApiBackend } from '../backend/api-backend.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import { createProgress, type Progress } from '../crawl/progress.ts';
import { EXTRACT_FLAG_OF, EXTRACT_FLAGS, type ExtractFlags, extractFieldOf } from '../flags/extract-flags.ts';
import { FLAGS, formatFlag, given, parseFlags, readSettings } from '../flags/flags.ts';
import { type OptionFlags, PART_FLAG_OF, PART_FLAGS, partFieldsOf } from '../flags/option-flags.ts';
import { jobNamed, withJobs } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { writeOut } from '../output/output-files.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface Flags extends ExtractFlags, OptionFlags, BackendFlags {
  readonly format?: string[];
  readonly out?: string;
  readonly quiet?: true;
}

const FLAG_OF = { formats: '--format', ...EXTRACT_FLAG_OF, ...PART_FLAG_OF };

const EXAMPLES = `
JOB is an id from "scrapifie jobs list", or "latest". Reads the pages as they were stored, without a single request, and
writes one JSON object per page in the order they were stored. Nothing stored changes.

Examples:
  scrapifie reextract latest --data-dir ./crawl-example.com --rules rules.yaml --out found.ndjson
  scrapifie reextract latest --data-dir ./crawl-example.com --extract product | jq .extracted.price`;

export const define: DefineCommand = (command, shell) => {
  command.argument('<job>', 'id of the job, or "latest"');
  for (const flag of [...EXTRACT_FLAGS, ...PART_FLAGS] as const) command.addOption(FLAGS[flag]());
  command
    .addOption(formatFlag(READ_FORMATS))
    .option('--out <file>', 'file to write (default: standard output)')
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.api())
    .addOption(FLAGS.apiKey())
    .option('--quiet', 'show no progress')
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (id: string, flags: Flags) => {
      const request = given({ formats: flags.format, extract: extractFieldOf(shell.cwd, flags) });
      if (Object.keys(request).length === 0) {
        throw new ScrapifieError('INVALID_USAGE', 'Say what to read: --rules, --extract or --format.');
      }
      const input = { ...request, ...partFieldsOf(flags) };
      const wanted = readOptionsOf(parseFlags(reextractRequestSchema, input, FLAG_OF));
      const client = apiClientOf(shell, flags);
      if (client !== null) {
        const job = await createApiBackend(client).jobs.get(id);
        const pages = client.stream<PageResult>(`/v1/jobs/${job.id}/reextract`, input);
        await write(shell, flags, pages, job.progress);
        return;
      }
      await withJobs(shell, flags.dataDir, async ({ jobs, account, store, blobs }) => {
        const job = await jobNamed(id, jobs, account);
        const { extractThreads, plugins } = readSettings(shell);
        const reader = await shell.openExtractor(extractThreads, plugins);
        try {
          const pages = createExtraction({ reader, now: Date.now }).readAgain(job, wanted, { store, blobs });
          await write(shell, flags, pages, job.counters);
        } finally {
          await reader.close();
        }
      });
    });
};

interface StoredCounts {
  readonly pages: number;
  readonly failed: number;
}

async function write(shell: Shell, flags: Flags, pages: AsyncIterable<PageResult>, stored: StoredCounts) {
  const progress = createProgress(shell.stderr, { isQuiet: flags.quiet === true });
  try {
    await writeOut(shell, flags.out, lines(pages, stored, progress));
  } finally {
    progress.stop();
  }
}

async function* lines(
  pages: AsyncIterable<PageResult>,
  stored: StoredCounts,
  progress: Progress,
): AsyncGenerator<string> {
  let [done, failed] = [0, 0];
  for await (const page of pages) {
    if (page.error?.code === 'EXTRACTION_FAILED') failed += 1;
    else done += 1;
    const open = Math.max(0, stored.pages + stored.failed - done - failed);
    progress.show({ counters: { pages: done, failed, open } }, performance.now());
    yield `${JSON.stringify(page)}\n`;
  }
}
