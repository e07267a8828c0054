import { extname, resolve } from 'node:path';
import { SCRAPE_FORMATS, scrapeRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import type { ScrapeResult } from '../../capabilities/jobs/results/job-reader.ts';
import { ruleSentence } from '../../capabilities/jobs/results/outcome-words.ts';
import { attemptSentences } from '../../capabilities/jobs/results/why.ts';
import { ERRORS, EXIT } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../core/model/attempt.ts';
import type { Format } from '../../core/model/job.ts';
import { defined } from '../../lib/defined.ts';
import { describeCount, describeMs } from '../../lib/human-units.ts';
import { type FetcherFlags, withFetcher } from '../backend/fetcher.ts';
import { readActions, tellAssumedSchemes } from '../flags/command-inputs.ts';
import {
  EXTRACT_FLAG_OF,
  EXTRACT_FLAGS,
  type ExtractFlags,
  extractFieldOf,
  LLM_FLAGS,
} from '../flags/extract-flags.ts';
import { FLAGS, given, parseFlags } from '../flags/flags.ts';
import {
  ARCHIVE_FLAGS,
  type OptionFlags,
  PAGE_FLAG_OF,
  PAGE_FLAGS,
  PART_FLAG_OF,
  PART_FLAGS,
  PICTURE_FLAG_OF,
  PICTURE_FLAGS,
  pageFieldsOf,
  partFieldsOf,
  pictureFieldOf,
} from '../flags/option-flags.ts';
import { helpBelow } from '../output/help.ts';
import { printed, putIntoFiles } from '../output/output-files.ts';
import { type Screen, screenOf, writePageText } from '../output/screen.ts';
import { storyOf } from '../output/summaries.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface ScrapeFlags extends OptionFlags, ExtractFlags, Omit<FetcherFlags, 'session'> {
  readonly format?: Format[];
  readonly json?: true;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly robots: boolean;
  readonly timeout?: number;
  readonly method?: string;
  readonly body?: string;
  readonly actions?: string;
  readonly screenshot?: string;
  readonly pdf?: string;
  readonly xhr?: true;
}

/** Which flag a field of the request comes from; the first that fits counts. */
export const SCRAPE_FLAG_OF = {
  url: 'URL',
  formats: '--format',
  timeoutMs: '--timeout',
  maxAge: '--max-age',
  reuse: '--no-reuse',
  method: '--method',
  body: '--body',
  ...PICTURE_FLAG_OF,
  screenshot: '--screenshot',
  ...EXTRACT_FLAG_OF,
  ...PART_FLAG_OF,
  ...PAGE_FLAG_OF,
};

const EXAMPLES = `
Prints JSON, the same as POST /v1/scrape has under data; for a single format of html, rawHtml, text or
markdown, that text. Formats are metadata, links and text unless given. Needs no server and leaves nothing behind but the
files it is told to write, and the session that --session names, which is kept in the data folder. Pictures and PDFs without a file are in the
JSON as base64.

Examples:
  scrapifie scrape https://example.com
  scrapifie scrape https://example.com --format markdown
  scrapifie scrape https://example.com --verbose
  scrapifie scrape https://shop.example/hat --extract product
  scrapifie scrape https://shop.example/hat --rules rules.yaml --schema hat.json
  scrapifie scrape https://shop.example/hat --rules rules.yaml --llm
  scrapifie scrape https://example.com --format html,links --header 'Accept-Language: de'
  scrapifie scrape https://example.com --wait-for '#list' --screenshot page.png --full-page
  scrapifie scrape https://example.com --actions steps.yaml --pdf page.pdf`;

export const define: DefineCommand = (command, shell, endWith) => {
  command.argument('<url>', 'the page');
  for (const flag of [
    'format',
    ...PART_FLAGS,
    ...EXTRACT_FLAGS,
    ...LLM_FLAGS,
    'json',
    'quiet',
    'verbose',
    ...PAGE_FLAGS,
    'actions',
  ] as const) {
    command.addOption(FLAGS[flag]());
  }
  command
    .option('--screenshot <file>', 'write a picture of the page, png or jpeg by the name of the file')
    .option('--pdf <file>', 'write the page as PDF')
    .option('--xhr', 'record what the page’s scripts ask for; the same as --format xhr');
  for (const flag of [
    ...PICTURE_FLAGS,
    'allowPrivate',
    'noRobots',
    'timeout',
    'maxAge',
    'noReuse',
    'method',
    'body',
    'dataDir',
    'api',
    'apiKey',
  ] as const) {
    command.addOption(FLAGS[flag]());
  }
  command.addOption(ARCHIVE_FLAGS.replay());
  command.addHelpText('afterAll', helpBelow(EXAMPLES)).action(async (url: string, flags: ScrapeFlags) => {
    const input = requestOf(url, flags, shell.cwd);
    const request = parseFlags(scrapeRequestSchema, input, SCRAPE_FLAG_OF);
    if (!flags.quiet) tellAssumedSchemes(shell, [url]);
    const result = await withFetcher(shell, flags, (fetcher) => fetcher.scrape(input)).catch(
      (error: unknown) => {
        if (flags.verbose) shell.stderr.write(failedTraceOf(screenOf(shell, 'stderr'), error));
        throw error;
      },
    );
    if (result === null) {
      endWith(EXIT.interrupted);
      return;
    }
    const files = await putIntoFiles(result, {
      screenshot: flags.screenshot === undefined ? null : resolve(shell.cwd, flags.screenshot),
      pdf: flags.pdf === undefined ? null : resolve(shell.cwd, flags.pdf),
    });
    const output = {
      formats: flags.format ?? SCRAPE_FORMATS,
      isJson: flags.json === true,
      hasMore: request.extract !== null,
    };
    if (flags.verbose) shell.stderr.write(traceOf(screenOf(shell, 'stderr'), result));
    writePageText(shell.stdout, printed(files.page, output));
    for (const { message } of result.warnings ?? []) shell.stderr.write(`warning: ${message}\n`);
    for (const missing of files.missing) shell.stderr.write(`There is no ${missing} of the page.\n`);
    if (result.error === undefined) return;
    shell.stderr.write(`error ${result.error.code}: ${result.error.message}\n`);
    endWith(ERRORS[result.error.code].exitCode);
  });
};

/** How the page came about. */
function traceOf(screen: Screen, { url, trace: { attempts, rule, credits, timings } }: ScrapeResult): string {
  const why = ruleSentence(rule, { url, depth: 0, foundOn: null }, null);
  const fetching = `${Math.round(timings.fetchMs)} ms of it for requests`;
  return storyOf(
    screen,
    [url],
    [
      ...attemptSentences({ url, attempts }),
      ...(why === null ? [] : [`${why} [${rule}]`]),
      `It took ${describeMs(timings.totalMs)}, ${fetching}, and cost ${describeCount(credits, 'credit')}.`,
    ],
  );
}

/** The attempts at a page that was given up; empty where the error names none. */
function failedTraceOf(screen: Screen, error: unknown): string {
  const details = isScrapifieError(error) ? error.details : null;
  const { url, attempts } = (details ?? {}) as {
    readonly url?: string;
    readonly attempts?: readonly Attempt[];
  };
  if (url == null || attempts === undefined || attempts.length === 0) return '';
  return storyOf(screen, [url], attemptSentences({ url, attempts }));
}

function requestOf(url: string, flags: ScrapeFlags, cwd: string): object {
  const formats: Format[] = [...(flags.format ?? SCRAPE_FORMATS)];
  if (flags.pdf !== undefined) formats.push('pdf');
  if (flags.xhr === true) formats.push('xhr');
  const format = flags.screenshot === undefined ? undefined : pictureFormatOf(flags.screenshot);
  const picture = pictureFieldOf({ ...defined({ screenshotFormat: format }), ...flags });
  return given({
    url,
    ...pageFieldsOf(flags),
    ...partFieldsOf(flags),
    formats: [...new Set(formats)],
    extract: extractFieldOf(cwd, flags),
    actions: readActions(cwd, flags.actions),
    screenshot: flags.screenshot === undefined ? picture : { ...picture },
    timeoutMs: flags.timeout,
    maxAge: flags.maxAge,
    reuse: flags.reuse,
    method: flags.method,
    body: flags.body,
    obeyRobots: flags.robots,
    // The place the addresses would lead to is gone when the command ends.
    inline: true,
  });
}

/** By the name of the file; a name without an ending is a PNG. */
function pictureFormatOf(file: string): 'jpeg' | undefined {
  const ending = extname(file).toLowerCase();
  if (ending === '.jpg' || ending === '.jpeg') return 'jpeg';
  if (ending === '.png' || ending === '') return undefined;
  throw new ScrapifieError(
    'INVALID_USAGE',
    `--screenshot: pictures are PNG or JPEG, so ${file} would not be what its name says. End it in .png or .jpg.`,
  );
}
