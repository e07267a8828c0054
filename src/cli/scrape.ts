import { ERRORS, EXIT } from '../errors/registry.ts';
import type { ScrapeResult } from '../jobs/job-reader.ts';
import { scrapeRequestSchema } from '../jobs/job-request.ts';
import type { Format } from '../model/job.ts';
import { FLAGS, given, parseFlags } from './flags.ts';
import { explainWait, inTemporaryFolder, OPERATOR } from './one-off.ts';
import type { DefineCommand } from './shell.ts';

interface ScrapeFlags {
  readonly format?: Format[];
  readonly json?: true;
  readonly engine?: string;
  readonly allowPrivate?: true;
  readonly robots: boolean;
  readonly timeout?: number;
  readonly header?: Record<string, string>;
}

const FLAG_OF = {
  url: 'URL',
  formats: '--format',
  engine: '--engine',
  timeoutMs: '--timeout',
  headers: '--header',
};
/** Formats that are one text: asked for alone, they are printed as they are. */
const TEXTS: readonly Format[] = ['html', 'rawHtml', 'text'];

const EXAMPLES = `
Prints JSON, the same as POST /v1/scrape has under data; for a single format of html, rawHtml or text, that text.
Formats are metadata, links and text unless given. Needs no server and leaves nothing behind.

Examples:
  scrapifie scrape https://example.com
  scrapifie scrape https://example.com --format text
  scrapifie scrape https://example.com --format html,links --header 'Accept-Language: de'`;

export const define: DefineCommand = (command, shell, endWith) => {
  command
    .argument('<url>', 'the page')
    .addOption(FLAGS.format())
    .addOption(FLAGS.json())
    .addOption(FLAGS.engine())
    .addOption(FLAGS.allowPrivate())
    .addOption(FLAGS.noRobots())
    .addOption(FLAGS.timeout())
    .addOption(FLAGS.header())
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, flags: ScrapeFlags) => {
      const request = parseFlags(
        scrapeRequestSchema,
        given({
          url,
          formats: flags.format,
          engine: flags.engine,
          timeoutMs: flags.timeout,
          headers: flags.header,
          obeyRobots: flags.robots,
        }),
        FLAG_OF,
      );
      const overrides = { allowPrivate: flags.allowPrivate };
      const result = await inTemporaryFolder(shell, overrides, async ({ jobs, store }, signal) => {
        const account = await store.defaultAccount();
        return jobs.scrapeNow(request, account, { operator: OPERATOR, signal }).catch((error: unknown) => {
          if (signal.aborted) return null;
          throw explainWait(error, request.timeoutMs);
        });
      });
      if (result === null) {
        endWith(EXIT.interrupted);
        return;
      }
      shell.stdout.write(shown(result, request.formats, flags.json === true));
      if (result.error === undefined) return;
      shell.stderr.write(`error ${result.error.code}: ${result.error.message}\n`);
      endWith(ERRORS[result.error.code].exitCode);
    });
};

function shown(result: ScrapeResult, formats: readonly Format[], asJson: boolean): string {
  const [only, ...others] = formats;
  if (asJson || only === undefined || others.length > 0 || !TEXTS.includes(only)) {
    return `${JSON.stringify(result, null, 2)}\n`;
  }
  const text = result[only as 'html' | 'rawHtml' | 'text'] ?? '';
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
