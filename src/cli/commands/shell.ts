import { createInterface } from 'node:readline';
import { createExtraction } from '../../capabilities/jobs/extraction.ts';
import type { ScrapeResult } from '../../capabilities/jobs/job-reader.ts';
import { scrapeRequestSchema } from '../../capabilities/jobs/job-request.ts';
import { listen } from '../../core/errors/guarded.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { runsScripts } from '../../core/model/engine-traits.ts';
import { type Fetcher, type FetcherFlags, withFetcher } from '../backend/fetcher.ts';
import { FLAGS, given, parseFlags, readSettings } from '../flags/flags.ts';
import { type OptionFlags, PAGE_FLAG_OF, PAGE_FLAGS, pageFieldsOf } from '../flags/option-flags.ts';
import { tellAssumedSchemes } from '../output/assumed-scheme.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';
import { createPageTrial, describePage, type OpenPage, TRIAL_HELP } from '../trial/page-trial.ts';

interface ShellFlags extends OptionFlags, FetcherFlags {
  readonly robots: boolean;
  readonly timeout?: number;
  readonly header?: Record<string, string>;
}

const FLAG_OF = { url: 'URL', timeoutMs: '--timeout', ...PAGE_FLAG_OF };

const EXAMPLES = `
Fetches the page once, then reads commands, a line each; nothing more is fetched but what "open" names. Lines may be piped
in: then a line that is wrong makes the command end with 2.

${TRIAL_HELP}
Examples:
  scrapifie shell https://example.com
  echo 'css h1' | scrapifie shell https://example.com
  scrapifie shell https://example.com --engine browser --wait-for '#list'`;

export const define: DefineCommand = (command, shell, endWith) => {
  command.argument('<url>', 'the page');
  for (const flag of [
    ...PAGE_FLAGS,
    'allowPrivate',
    'noRobots',
    'timeout',
    'dataDir',
    'api',
    'apiKey',
  ] as const) {
    command.addOption(FLAGS[flag]());
  }
  command.addHelpText('afterAll', helpBelow(EXAMPLES)).action(async (url: string, flags: ShellFlags) => {
    tellAssumedSchemes(shell, [url]);
    const exitCode = await withFetcher(shell, flags, (fetcher) => tryOut(shell, fetcher, url, flags));
    endWith(exitCode ?? EXIT.interrupted);
  });
};

async function tryOut(shell: Shell, fetcher: Fetcher, url: string, flags: ShellFlags): Promise<number> {
  const open = async (target: string): Promise<OpenPage> => {
    const request = given({
      url: target,
      ...pageFieldsOf(flags),
      formats: ['rawHtml', 'html'],
      session: flags.session,
      timeoutMs: flags.timeout,
      headers: flags.header,
      obeyRobots: flags.robots,
    });
    parseFlags(scrapeRequestSchema, request, FLAG_OF);
    return pageOf(await fetcher.scrape(request));
  };
  const page = await open(url);
  const reader = await shell.openExtractor(1, readSettings(shell).plugins);
  const isTyped = shell.stdin.isTTY === true;
  const lines = createInterface({
    input: shell.stdin,
    ...(isTyped ? { output: shell.stdout, prompt: '> ', terminal: true } : {}),
  });
  // Without a listener the terminal would only be paused.
  listen(lines, 'SIGINT', () => lines.close());
  let exitCode: number = EXIT.ok;
  try {
    const extraction = createExtraction({ reader, now: Date.now });
    const trial = createPageTrial(page, { extraction, open, cwd: shell.cwd });
    shell.stderr.write(describePage(page));
    if (isTyped) lines.prompt();
    for await (const line of lines) {
      try {
        const printed = await trial.run(line);
        if (printed === null) break;
        shell.stdout.write(printed);
      } catch (error) {
        if (!isScrapifieError(error)) throw error;
        shell.stderr.write(`error ${error.code}: ${error.message}\n`);
        // A person sees what was wrong; a script sees the exit code.
        if (!isTyped) exitCode = error.spec.exitCode;
      }
      if (isTyped) lines.prompt();
    }
    return exitCode;
  } finally {
    lines.close();
    await reader.close();
  }
}

/** A rendered document for a page that a browser has rendered; else the one that was sent. */
function pageOf({ finalUrl, statusCode, contentType, title, html, rawHtml, trace }: ScrapeResult): OpenPage {
  const isRendered = runsScripts(trace.attempts.at(-1)?.engine ?? 'http');
  const body = Buffer.from((isRendered ? html : rawHtml) ?? '');
  const type = `${(contentType ?? 'text/html').split(';', 1)[0]}; charset=utf-8`;
  return { url: finalUrl, statusCode, contentType: type, title, body };
}
