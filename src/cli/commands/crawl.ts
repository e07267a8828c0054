import { openSync, writeSync } from 'node:fs';
import { EXIT } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { LOGIN_WALLS } from '../../crawl/host/process/login-walls.ts';
import { describeBytes, describeCount, describeMs, describeSpeed } from '../../lib/human-units.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import { type ArchiveFlags, archivesOf, recordingOf, removeCrawlExports } from '../crawl/crawl-exports.ts';
import {
  argument,
  type CrawlReport,
  failedCount,
  failureLines,
  isRefusedCrawl,
  watchFolder,
} from '../crawl/crawl-report.ts';
import { type CrawlFlags, crawlCommandOf } from '../crawl/crawl-request.ts';
import { followCrawl } from '../crawl/crawl-run.ts';
import { beginCrawl, crawlAgain, type Opened, resumeCrawl } from '../crawl/crawl-start.ts';
import { crawlRemotely, type RemoteCrawlEnd, refuseRemoteFolder } from '../crawl/remote-crawl.ts';
import { readActions, readRoutes, tellAssumedSchemes } from '../flags/command-inputs.ts';
import { derivedFlags } from '../flags/derived-flags.ts';
import { EXTRACT_FLAGS, extractFieldOf, LLM_FLAGS } from '../flags/extract-flags.ts';
import { limitOf } from '../flags/flag-values.ts';
import { FLAGS, given, readSettings } from '../flags/flags.ts';
import { ARCHIVE_FLAGS, PAGE_FLAGS, PART_FLAGS, PICTURE_FLAGS } from '../flags/option-flags.ts';
import {
  type CrawlFolder,
  crawlFolder,
  findCrawl,
  type RememberedCommand,
  rememberCommand,
  rememberedCommand,
} from '../folders/crawl-folder.ts';
import { sessionPlace } from '../folders/data-folder.ts';
import { openOneOff } from '../folders/one-off.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand, OpenPlatform, Shell } from '../shell/shell.ts';

interface Flags extends CrawlFlags, BackendFlags, ArchiveFlags {
  readonly out?: string;
  readonly resume?: true;
  readonly json?: true;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly allowPrivate?: true;
}

/** The names of files, until they are read. */
interface FileFlags {
  readonly actions?: string;
  readonly routes?: string;
}

const EXAMPLES = `
Writes to the folder --out (default: crawl-HOST):
  pages.ndjson   one JSON object per page, failed ones with their error
  report.json    counts, time and status
  artifacts/     pictures, PDFs and recorded answers, when --format asks for them
  .scrapifie/    the state, which --resume goes on from: after Ctrl-C, after kill -9, or with higher limits

Without --rate each host gets what its policy says: 2 requests per second and 2 connections by default.

Examples:
  scrapifie crawl https://example.com --max-pages 500 --out ./example
  scrapifie crawl https://example.com --out ./example --resume --max-pages 2000
  scrapifie crawl https://example.com --include '/blog/*' --format metadata,text
  scrapifie crawl https://shop.example --include '/products/*' --extract product
  scrapifie crawl https://example.com --wait-for '#list' --format metadata,screenshot --full-page
  scrapifie crawl https://example.com --verbose 2> trace.txt
  scrapifie crawl https://example.com --warc example.warc.gz
  scrapifie crawl https://example.com --replay example.warc.gz --out ./again
  scrapifie crawl http://localhost:8080 --allow-private --rate unlimited --json`;

export const define: DefineCommand = (command, shell, endWith) => {
  command.argument('[urls...]', 'where to start');
  for (const flag of [
    'maxPages',
    'maxDepth',
    'include',
    'exclude',
    'concurrency',
    'rate',
    ...PAGE_FLAGS,
    'actions',
    ...PICTURE_FLAGS,
    'dataDir',
    'api',
    'apiKey',
    'allowPrivate',
    'noRobots',
    'sitemap',
    'sitemapUrl',
    'allowedDomain',
    'allowSubdomains',
    'allowExternal',
    'subdomains',
    'external',
    'ignoreQueryParameter',
    'keepFragment',
    'noObeyNofollow',
    'noObeyNoindex',
    'noFollowCanonical',
    'noAvoidQueryTraps',
    'routes',
    'ifModified',
    'maxBytes',
    'maxDuration',
    'maxBrowserTime',
    'maxProxyBytes',
    'maxCredits',
    'maxLoginWalls',
    'format',
    ...EXTRACT_FLAGS,
    ...LLM_FLAGS,
    ...PART_FLAGS,
    'timeout',
  ] as const) {
    command.addOption(FLAGS[flag]());
  }
  for (const flag of derivedFlags()) command.addOption(flag);
  for (const flag of ['warc', 'warcSize', 'replay'] as const) command.addOption(ARCHIVE_FLAGS[flag]());
  command
    .option('--out <dir>', 'folder for pages, report and state')
    .option('--resume', 'go on with the crawl in the folder')
    .option('--json', 'print the report as the last line')
    .addOption(FLAGS.quiet())
    .addOption(FLAGS.verbose())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (urls: string[], { actions: file, routes: routesFile, ...flags }: Flags & FileFlags) => {
      const actions = readActions(shell.cwd, file);
      const routes = readRoutes(shell.cwd, routesFile);
      const extractField = extractFieldOf(shell.cwd, flags);
      endWith(await crawl(shell, urls, { ...flags, ...given({ actions, routes, extractField }) }));
    });
};

async function crawl(shell: Shell, urls: readonly string[], flags: Flags): Promise<number> {
  const client = apiClientOf(shell, flags);
  if (!flags.quiet) tellAssumedSchemes(shell, [...urls, ...(flags.sitemapUrl ?? [])]);
  if (client !== null && flags.verbose) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      '--verbose needs the crawl on this machine. On a server, "scrapifie why URL" and "scrapifie jobs urls" tell the same.',
    );
  }
  if (client !== null) return ended(shell, await crawlRemotely(shell, client, urls, flags), flags);

  const folder = crawlFolder(shell.cwd, flags.out, [...urls, ...(flags.sitemapUrl ?? [])]);
  refuseRemoteFolder(folder);
  const found = findCrawl(folder, { resume: flags.resume === true, again: flags.ifModified === true });
  const isNew = found === 'new' || found === 'again';
  // A mistake in the command is reported before anything is made.
  const command = isNew ? crawlCommandOf(urls, flags) : null;
  const tell = (line: string): void => {
    if (!flags.quiet) shell.stderr.write(`${line}\n`);
  };
  if (found === 'new' && flags.resume) tell(`There is no crawl in ${folder.dir} yet; this begins one.`);

  const begun = isNew ? null : rememberedCommand(folder);
  const isPermitted = flags.allowPrivate === true || begun?.allowPrivate === true;
  const permitted: Flags = isPermitted ? { ...flags, allowPrivate: true } : flags;
  const remembered: RememberedCommand = { allowPrivate: isPermitted, ...archivesOf(shell.cwd, flags, begun) };
  const removeMade = watchFolder(folder);
  let platform: OpenPlatform | null = null;
  let drainMs: number;
  let opened: Opened;
  try {
    ({ platform, drainMs } = await open(shell, folder, {
      ...permitted,
      ...given({ replay: remembered.replay }),
    }));
    rememberCommand(folder, remembered);
    opened =
      command === null
        ? await resumeCrawl(platform, folder, urls, flags)
        : found === 'again'
          ? await crawlAgain(platform, folder, command)
          : await beginCrawl(platform, command);
  } catch (error) {
    await platform?.close();
    // What was refused leaves the folder to the next try.
    if (found === 'new') removeMade();
    throw error;
  }
  if (await isNewSession(platform, flags.session)) {
    tell(`There is no session "${flags.session}" yet; this begins one that has not logged in.`);
  }
  tell(opened.note ?? `Crawling into ${folder.dir}; Ctrl-C stops, --resume goes on.`);
  const { report, isInterrupted } = await followCrawl({
    shell,
    platform,
    folder,
    opened,
    drainMs,
    isQuiet: flags.quiet === true,
    isVerbose: flags.verbose === true,
    recording: recordingOf(remembered),
  });
  const { exports = [], page } = opened.job.options;
  const isTakenBack = found === 'new' && !isInterrupted && isRefusedCrawl(report);
  if (isTakenBack) {
    removeCrawlExports(folder, exports);
    removeMade();
  }
  const { session } = page;
  return ended(shell, { report, folder, isInterrupted, isTakenBack, session }, flags, remembered.warc);
}

async function isNewSession({ accounts }: OpenPlatform, name: string | undefined): Promise<boolean> {
  if (name === undefined) return false;
  return (await accounts.store.getSession(await accounts.store.defaultAccount(), name)) === null;
}

/** Prints how the crawl ended; returns the exit code. */
function ended(
  shell: Shell,
  { report, folder, isInterrupted, isTakenBack, session }: RemoteCrawlEnd,
  flags: Flags,
  warc?: string,
): number {
  const tell = (line: string): void => {
    if (!flags.quiet) shell.stderr.write(`${line}\n`);
  };
  shell.stdout.write(
    flags.json
      ? `${JSON.stringify(report)}\n`
      : summaryOf(
          isInterrupted ? { ...report, status: 'interrupted' } : report,
          isTakenBack ? null : folder,
          warc,
        ),
  );
  if (isInterrupted) {
    tell(`Interrupted; nothing is lost. The same command with --resume goes on.`);
    return EXIT.interrupted;
  }
  if (report.loginWalls !== undefined) for (const line of wallLines(report, session)) tell(line);
  else if (report.stopMessage !== null) tell(`${report.stopMessage} [${report.stopReason}]`);
  const { failures, loginWalls, status, jobId } = report;
  const isTold = loginWalls !== undefined && failures?.first.code === 'LOGIN_REQUIRED';
  // --quiet keeps notes back, and not why the whole crawl has failed.
  if (failures !== undefined && !isTold && (!flags.quiet || status === 'failed')) {
    const server = flags.api === undefined ? '' : ` --api ${argument(flags.api)}`;
    const isRemote = apiClientOf(shell, flags) !== null;
    const place = isRemote ? `--job ${jobId}${server}` : `--data-dir ${argument(folder.dir)}`;
    for (const line of failureLines(failures, isTakenBack ? null : place)) shell.stderr.write(`${line}\n`);
  }
  if (isTakenBack)
    tell(`Nothing was asked for, and nothing is left in ${folder.dir}: the next try can use it.`);
  return exitCodeOf(report);
}

/** Which pages asked to log in, and what to do about it. */
function wallLines(
  { loginWalls = [], seeds, stopReason }: CrawlReport,
  session: string | null,
): readonly string[] {
  const [seed = 'URL'] = seeds;
  const how =
    session === null
      ? 'Log in with "scrapifie login", then crawl with --session into another folder.'
      : `Log in again, "scrapifie login ${seed} --session ${session}", then go on with --resume.`;
  return [
    stopReason === LOGIN_WALLS
      ? 'Stopped (login-walls): the site asks to log in, page after page. The first of these pages:'
      : 'The site asks to log in on these pages:',
    ...loginWalls.map((url) => `  ${url}`),
    how,
  ];
}

async function open(
  shell: Shell,
  folder: CrawlFolder,
  flags: Flags,
): Promise<{ platform: OpenPlatform; drainMs: number }> {
  const accountsIn = await sessionPlace(shell, folder, flags);
  const overrides = { dataDir: folder.stateDir, allowPrivate: flags.allowPrivate, replay: flags.replay };
  const settings = readSettings(shell, overrides);
  const wanted = Math.max(settings.maxConcurrency, limitOf(flags.concurrency) ?? 0);
  // A file, because the terminal shows the progress bar. It has the warnings and errors that --json and the report leave out.
  const log = createLogFile(folder.logFile);
  const options = { destination: log, accountsIn };
  const platform = await openOneOff(shell, { ...settings, maxConcurrency: wanted }, 'error', options);
  return { platform, drainMs: settings.drainMs };
}

function exitCodeOf({ status, jobId }: CrawlReport): number {
  if (status === 'completed') return EXIT.ok;
  if (status === 'partially_completed') return EXIT.partial;
  if (status === 'cancelled') throw new ScrapifieError('CANCELLED', `The crawl ${jobId} was cancelled.`);
  return EXIT.failed;
}

/** The report, with a word for a crawl that goes on another time. */
type Summarized = Omit<CrawlReport, 'status'> & { readonly status: CrawlReport['status'] | 'interrupted' };

function summaryOf(report: Summarized, folder: CrawlFolder | null, warc?: string): string {
  const { pages, failed, failures, skipped, denied, bytes, durationMs, pagesPerSecond, status } = report;
  return [
    `${status.replaceAll('_', ' ')}: ${describeCount(pages, 'page')}, ${failedCount(failed, failures)}, ${skipped} skipped, ${denied} denied`,
    `${describeBytes(bytes)} in ${describeMs(durationMs)}, ${describeSpeed(pagesPerSecond)} pages/s`,
    ...(folder === null ? [] : [folder.pagesFile, folder.reportFile]),
    ...(warc === undefined ? [] : [warc]),
    '',
  ].join('\n');
}

/**
 * A file for log lines, opened with the first of them. Written line by line, because only warnings and errors come
 * here. A line that cannot be written is dropped: a full disk must not end the crawl, and
 * pino's own file destination tries for ever to write the rest when the process exits.
 */
function createLogFile(path: string): { write(line: string): void } {
  let file: number | null = null;
  return {
    write(line) {
      try {
        file ??= openSync(path, 'a');
        writeSync(file, line);
      } catch {
        // There is nowhere to report it; the command itself fails when it cannot write its files.
      }
    },
  };
}
