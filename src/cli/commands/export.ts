import { Option } from 'commander';
import type { ExportSpec } from '../../core/model/export.ts';
import {
  EXPORT_FORMATS,
  EXPORT_TYPES,
  type ExportFormat,
  type ExportType,
  exportTypeSpec,
  PAGE_FORMATS,
  PAGE_TYPE,
} from '../../core/model/export-registry.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { ExportProgress } from '../../core/ports/export-store.ts';
import { defined } from '../../lib/defined.ts';
import { type BackendFlags, withBackend } from '../backend/open-backend.ts';
import { FLAGS } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { writeOut } from '../output/output-files.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface ExportFlags extends BackendFlags {
  readonly type?: ExportType;
  readonly format: ExportFormat;
  readonly against?: string;
  readonly excel?: true;
  readonly out?: string;
  readonly text?: true;
}

const EXAMPLES = `
JOB is an id from "scrapifie jobs list", or "latest". Pages come in the order of their URLs and are written as they are read,
so size does not matter. A file appears when it is complete.

Types:
${EXPORT_TYPES.map((type) => `  ${type.padEnd(8)} ${exportTypeSpec(type).help}`).join('\n')}

Examples:
  scrapifie export latest --type full --format csv --out full.csv
  scrapifie export latest --type seo --format xlsx --out seo.xlsx
  scrapifie export latest --format markdown --out site.zip
  scrapifie export latest --data-dir ./crawl-example.com | jq .title
  scrapifie export latest --api http://127.0.0.1:3000 --type full --format parquet --out full.parquet`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<job>', 'id of the job, or "latest"')
    .addOption(
      new Option(
        '--type <name>',
        'what is exported (default: results; of formats of whole pages, raw)',
      ).choices(EXPORT_TYPES),
    )
    .addOption(new Option('--format <name>', 'format of the file').choices(EXPORT_FORMATS).default('ndjson'))
    .option('--against <job>', 'diff: the earlier job to compare with')
    .option('--excel', 'csv: begin with a byte order mark, so that Excel reads UTF-8')
    .option('--text', 'results in a table: a column with the text of each page, where the job has kept it')
    .option('--out <file>', 'file to write; "-": standard output (the default)')
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.api())
    .addOption(FLAGS.apiKey())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action((id: string, flags: ExportFlags) =>
      withBackend(shell, flags, async ({ exports }) => {
        const progress = showProgress(shell);
        await writeOut(shell, flags.out, exports.bytes(id, specOf(flags), progress.show));
        progress.end(flags.out);
      }),
    );
};

function specOf({ type, format, against, excel, text }: ExportFlags): ExportSpec {
  return {
    type: type ?? (PAGE_FORMATS.includes(format) ? PAGE_TYPE : 'results'),
    format,
    ...(against === undefined ? {} : { against: against as JobId }),
    ...defined({ excel, text }),
  };
}

const SHOW_EVERY_MS = 500;

/** The progress on a terminal is one line that is overwritten; elsewhere only the last one is printed. */
function showProgress({ stderr }: Shell) {
  let shownAt = performance.now();
  let last: ExportProgress = { rows: 0, sizeBytes: 0 };
  const text = () => `${last.rows} rows, ${last.sizeBytes} bytes`;
  return {
    show(progress: ExportProgress): void {
      last = progress;
      if (stderr.isTTY !== true || performance.now() - shownAt < SHOW_EVERY_MS) return;
      shownAt = performance.now();
      stderr.write(`\r${text()} … `);
    },
    end(out: string | undefined): void {
      if (stderr.isTTY !== true) return;
      stderr.write(`\r${out === undefined || out === '-' ? '' : `${out}: `}${text()}\n`);
    },
  };
}
