import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PageResult } from '../../capabilities/jobs/results/page-result.ts';
import type { JobView } from '../../capabilities/views/job-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import { createApiBackend } from '../backend/api-backend.ts';
import type { Backend } from '../backend/backend.ts';
import { refuseForServer } from '../backend/open-backend.ts';
import type { ServerClient } from '../backend/server-client.ts';
import { type CrawlFolder, crawlFolder, findCrawl } from '../folders/crawl-folder.ts';
import { writeOut } from '../output/output-files.ts';
import { failureLine, hasPage, remotePageLine } from '../output/page-line.ts';
import { cannotWrite } from '../output/screen.ts';
import { watchInterrupts } from '../shell/interrupt.ts';
import type { Shell } from '../shell/shell.ts';
import { exportsOf, removeCrawlExports, takeCrawlExports } from './crawl-exports.ts';
import {
  type CrawlReport,
  failuresOf,
  isRefusedCrawl,
  type ReportedJob,
  readEarlier,
  reportOf,
  watchFolder,
  writeReport,
} from './crawl-report.ts';
import { type CrawlFlags, crawlCommandOf, crawlInputOf, resumedOptions } from './crawl-request.ts';
import { createProgress } from './progress.ts';

interface RemoteCrawlFlags extends CrawlFlags {
  readonly out?: string;
  readonly resume?: true;
  readonly quiet?: true;
}

export interface RemoteCrawlEnd {
  readonly report: CrawlReport;
  readonly folder: CrawlFolder;
  readonly isInterrupted: boolean;
  /** The crawl was refused before its first request, and its files were removed again. */
  readonly isTakenBack: boolean;
  readonly session: string | null;
}

const LOOK_EVERY_MS = 1_000;
/** Formats whose bytes come with the page, because nothing fetches them later. */
const WITH_BYTES = ['screenshot', 'pdf', 'xhr'] as const;
const SHOWN_WALLS = 5;

/**
 * Has a server do the crawl, and writes its pages and report to a folder here, as a crawl of this machine does. Ctrl-C
 * cancels the job; --resume goes on with it.
 */
export async function crawlRemotely(
  shell: Shell,
  client: ServerClient,
  urls: readonly string[],
  flags: RemoteCrawlFlags,
): Promise<RemoteCrawlEnd> {
  refuseForServer(flags);
  const folder = crawlFolder(shell.cwd, flags.out, [...urls, ...(flags.sitemapUrl ?? [])]);
  const known = findRemoteCrawl(folder, flags.resume === true, client.origin);
  const backend = createApiBackend(client);
  const begun =
    known === null ? await begin(client, urls, flags) : await goOn(backend, known.jobId, urls, flags);
  const removeMade = watchFolder(folder);
  if (known === null) writeRemoteCrawl(folder, { api: client.origin, jobId: begun.id });
  if (!flags.quiet) {
    shell.stderr.write(`${client.origin} crawls, job ${begun.id}; Ctrl-C cancels it, --resume goes on.\n`);
  }
  const earlier = readEarlier(folder.reportFile, begun.id);
  const startedAt = performance.now();
  const isInterrupted = await follow(shell, backend, begun, flags.quiet === true);
  // Writing the files is no work of the crawl.
  const runMs = begun.finishedAt === null ? performance.now() - startedAt : 0;
  const job = await backend.jobs.get(begun.id);
  await writeOut(shell, folder.pagesFile, linesOf(backend, job, folder));
  await takeCrawlExports(shell, client, job, folder);
  const loginWalls = await wallsOf(backend, job);
  const failures = job.progress.failed === 0 ? null : await failuresOf(backend.jobs.urls(job.id, 'failed'));
  const found = { loginWalls, failures };
  const report = reportOf({
    job: reported(job),
    earlier,
    runMs,
    isInterrupted,
    ...found,
    version: shell.version,
  });
  writeReport(folder.reportFile, report);
  const isTakenBack = known === null && !isInterrupted && isRefusedCrawl(report);
  if (isTakenBack) {
    removeCrawlExports(folder, exportsOf(job));
    removeMade();
  }
  return { report, folder, isInterrupted, isTakenBack, session: job.options.page.session };
}

async function begin(client: ServerClient, urls: readonly string[], flags: CrawlFlags): Promise<JobView> {
  const { formats } = crawlCommandOf(urls, flags).request.options;
  const input = crawlInputOf(urls, flags) as { readonly options: object };
  const inline = WITH_BYTES.some((format) => formats.includes(format)) || flags.actions !== undefined;
  const request = inline ? { ...input, options: { ...input.options, inline } } : input;
  const { id } = await client.call<{ readonly id: string }>('POST', '/v1/crawl', request);
  return client.call('GET', `/v1/jobs/${id}`);
}

/** A job that a cancel, a budget or log-in walls have stopped goes on; one that has ended is returned as it is. */
async function goOn(
  { jobs }: Backend,
  id: string,
  urls: readonly string[],
  flags: CrawlFlags,
): Promise<JobView> {
  const job = await jobs.get(id);
  const { budgets } = resumedOptions(job, urls, flags, false);
  if (job.finishedAt === null && job.status !== 'cancelled' && job.stopReason === null) return job;
  return jobs.resume(id, budgets).catch((error: unknown) => {
    // Nothing was left out: the files are written again.
    if (error instanceof ScrapifieError && error.code === 'CONFLICT') return job;
    throw error;
  });
}

/** Until the job has ended. Returns true when Ctrl-C has cancelled it. */
async function follow(shell: Shell, { jobs }: Backend, begun: JobView, isQuiet: boolean): Promise<boolean> {
  const progress = createProgress(shell.stderr, { isQuiet });
  const interrupts = watchInterrupts(() => progress.stop());
  let isCancelled = false;
  try {
    for (let job = begun; ; job = await jobs.get(begun.id)) {
      const { pages, failed, open } = job.progress;
      progress.show({ counters: { pages, failed, open } }, performance.now());
      if (job.finishedAt !== null) return isCancelled;
      if (interrupts.signal.aborted && !isCancelled) {
        isCancelled = true;
        await jobs.cancel(begun.id);
      }
      const until = isCancelled ? undefined : { signal: interrupts.signal };
      await pause(LOOK_EVERY_MS, undefined, until).catch(() => undefined);
    }
  } finally {
    progress.stop();
    interrupts.close();
  }
}

async function* linesOf({ jobs }: Backend, job: JobView, folder: CrawlFolder): AsyncGenerator<string> {
  for await (const page of jobs.results(job.id))
    yield await remotePageLine(page as PageResult, folder.artifactsDir);
  if (job.progress.failed === 0) return;
  for await (const entry of jobs.urls(job.id, 'failed')) if (!hasPage(entry)) yield failureLine(entry);
}

async function wallsOf({ jobs }: Backend, job: JobView): Promise<readonly string[]> {
  const walls: string[] = [];
  if (job.options.page.session === null || job.progress.failed === 0) return walls;
  for await (const { code, url } of jobs.errors(job.id)) {
    if (code === 'LOGIN_REQUIRED') walls.push(url);
    if (walls.length === SHOWN_WALLS) break;
  }
  return walls;
}

const timeOf = (text: string | null) => (text === null ? null : Date.parse(text));

function reported({ id, status, stopReason, seeds, options, progress, ...times }: JobView): ReportedJob {
  return {
    id: id as JobId,
    status,
    stopReason,
    seeds,
    options,
    counters: progress,
    createdAt: timeOf(times.createdAt) ?? 0,
    startedAt: timeOf(times.startedAt),
    finishedAt: timeOf(times.finishedAt),
  };
}

/** A crawl that a server works on, and whose pages are written to a folder here. */
interface RemoteCrawl {
  readonly api: string;
  readonly jobId: string;
}

const pathOf = ({ stateDir }: CrawlFolder) => join(stateDir, 'server.json');

/**
 * The crawl of the folder; null when there is none yet. Throws INVALID_USAGE when the folder has one and is not to go on,
 * has one of this machine, or one of another server.
 */
function findRemoteCrawl(folder: CrawlFolder, wantsResume: boolean, api: string): RemoteCrawl | null {
  const path = pathOf(folder);
  if (!existsSync(path)) {
    if (findCrawl(folder, { resume: wantsResume, again: false }) === 'new') return null;
    throw new ScrapifieError(
      'INVALID_USAGE',
      `The crawl in ${folder.dir} was begun without a server. Go on without --api, or name another folder with --out.`,
    );
  }
  if (!wantsResume) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${folder.dir} already has a crawl. Go on with it by --resume, or name another folder with --out.`,
    );
  }
  const found = JSON.parse(readFileSync(path, 'utf8')) as RemoteCrawl;
  if (found.api === api) return found;
  throw new ScrapifieError(
    'INVALID_USAGE',
    `The crawl in ${folder.dir} was begun on another server, ${found.api}. Name that one with --api.`,
  );
}

/** Throws INVALID_USAGE for the folder of a crawl that a server works on: only that one can go on with it. */
export function refuseRemoteFolder(folder: CrawlFolder): void {
  const path = pathOf(folder);
  if (!existsSync(path)) return;
  const { api } = JSON.parse(readFileSync(path, 'utf8')) as RemoteCrawl;
  throw new ScrapifieError(
    'INVALID_USAGE',
    `The crawl in ${folder.dir} was begun on the server ${api}. Name it with --api, or another folder with --out.`,
  );
}

function writeRemoteCrawl(folder: CrawlFolder, crawl: RemoteCrawl): void {
  try {
    mkdirSync(folder.stateDir, { recursive: true });
    writeFileSync(pathOf(folder), `${JSON.stringify(crawl)}\n`);
  } catch (error) {
    throw cannotWrite(folder.stateDir, error);
  }
}
