import type { CrawlRecorder } from '../../capabilities/archive/crawl-recorder.ts';
import { ruleSentence } from '../../capabilities/jobs/results/outcome-words.ts';
import { whyOf } from '../../capabilities/jobs/results/why.ts';
import { guarded } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { READER_OPTIONS } from '../../core/model/derived.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Job, JobOptions } from '../../core/model/job.ts';
import type { Page } from '../../core/model/page.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import type { Store } from '../../core/ports/store.ts';
import { expectsLogin, LOGIN_WALLS } from '../../crawl/host/process/login-walls.ts';
import { describeCount } from '../../lib/human-units.ts';
import { createNotifier } from '../../lib/waits.ts';
import type { CrawlFolder } from '../folders/crawl-folder.ts';
import { folderPlace } from '../folders/data-folder.ts';
import { openPageFile, type PageFile } from '../output/page-file.ts';
import { screenOf } from '../output/screen.ts';
import { storyOf } from '../output/summaries.ts';
import { closeWithin, watchInterrupts } from '../shell/interrupt.ts';
import type { OpenPlatform, OpenStorage, Shell } from '../shell/shell.ts';
import { openRecording, type Recording, writeCrawlExports } from './crawl-exports.ts';
import { type CrawlReport, failuresOf, type ReportFacts, reportOf, writeReport } from './crawl-report.ts';
import type { Opened } from './crawl-start.ts';
import { createProgress, describeWaiting, type Progress } from './progress.ts';

interface CrawlRun {
  readonly shell: Shell;
  readonly platform: OpenPlatform;
  readonly folder: CrawlFolder;
  readonly opened: Opened;
  /** Time limit for the platform to finish the work under way. */
  readonly drainMs: number;
  readonly isQuiet: boolean;
  /** Tells of every page how it came about. */
  readonly isVerbose: boolean;
  /** Null when the crawl is not recorded. */
  readonly recording: Recording | null;
}

interface CrawlEnd {
  readonly report: CrawlReport;
  readonly isInterrupted: boolean;
}

const LOOK_EVERY_MS = 1_000;
const REPORT_EVERY_MS = 1_000;
/** Beyond the time for draining: a store that cannot be written any more must not keep the command from ending. */
const CLOSE_MS = 5_000;

/** Runs until the crawl has ended or is interrupted, keeps its files up to date, and closes the platform. */
export async function followCrawl(run: CrawlRun): Promise<CrawlEnd> {
  const { shell, platform, folder, opened } = run;
  const { id } = opened.job;
  const progress = createProgress(shell.stderr, run);
  const interrupts = watchInterrupts(() => progress.stop());
  let startedAt = performance.now();
  /** When the crawl was over; null before that. */
  let endedAt: number | null = null;
  let storage: OpenStorage | null = platform;
  let pages: PageFile | null = null;
  let recorder: CrawlRecorder | null = null;

  function report(
    job: Job,
    isInterrupted: boolean,
    found: Pick<ReportFacts, 'loginWalls' | 'failures'> = {},
  ): CrawlReport {
    // Writing the files of a finished crawl again is no work on it.
    const runMs = opened.job.finishedAt === null ? (endedAt ?? performance.now()) - startedAt : 0;
    const { version } = shell;
    const made = reportOf({ job, earlier: opened.earlier, runMs, isInterrupted, ...found, version });
    writeReport(folder.reportFile, made);
    return made;
  }

  async function close(open: OpenStorage, ms = run.drainMs + CLOSE_MS): Promise<void> {
    storage = null;
    await closeWithin(ms, open.close());
  }

  try {
    const withBodies = formatsOf(opened.job.options).includes('rawHtml');
    const { pagesFile: path, artifactsDir } = folder;
    const file = await openPageFile(platform, { path, jobId: id, artifactsDir, withBodies });
    pages = file;
    platform.watchPages((stored) => file.append(stored));
    const trace = run.isVerbose ? createTrace(shell, platform.store, opened.job) : null;
    if (trace !== null) platform.watchPages(trace.add);
    const { recording } = run;
    recorder =
      recording === null ? null : await openRecording(recording, platform, folder, opened.job, shell);
    if (opened.job.finishedAt === null || hasReaders(opened.job)) {
      await platform.start();
      // From here on it crawls; starting the program is not counted.
      startedAt = performance.now();
      const followers = { files: [pages, recorder], progress, report: (job: Job) => void report(job, false) };
      await untilOver(platform, id, followers, interrupts.signal);
      progress.stop();
      await trace?.settle();
      if (!interrupts.signal.aborted) {
        endedAt = performance.now();
        await untilRead(platform, interrupts.signal);
      }
    }
    if (interrupts.signal.aborted) {
      if (!run.isQuiet)
        shell.stderr.write('Stopping: pages under way are finished. Ctrl-C again ends at once.\n');
      await close(platform);
      endedAt ??= performance.now();
      // What the last pages brought is in the store, and belongs into the files.
      storage = await shell.openStorage(folderPlace(folder.stateDir));
    }
    const open: OpenStorage = storage;
    await pages.finish(open);
    pages = null;
    await recorder?.finish(open);
    recorder = null;
    const job = await jobOf(open, id);
    await trace?.finish(open.store, job);
    await writeCrawlExports(shell, open, job, folder);
    const isInterrupted = interrupts.signal.aborted && job.finishedAt === null;
    const isAsked = job.stopReason === LOGIN_WALLS || (expectsLogin(job) && job.counters.failed > 0);
    const walls = isAsked ? await wallsOf(open, job) : [];
    const failures = job.counters.failed === 0 ? null : await failuresOf(failedTasks(open, job));
    const made = report(job, isInterrupted, { loginWalls: walls, failures });
    await close(open);
    return { report: made, isInterrupted };
  } catch (error) {
    progress.stop();
    // Nothing is gained by waiting for pages that cannot be kept, and a second failure would hide the first.
    await pages?.abandon().catch(() => undefined);
    await recorder?.abandon().catch(() => undefined);
    if (storage !== null) await close(storage, CLOSE_MS).catch(() => undefined);
    throw error;
  } finally {
    progress.stop();
    interrupts.close();
  }
}

/** What the job leaves besides its pages is there when the command ends, unless it is interrupted. */
async function untilRead(platform: OpenPlatform, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  signal.addEventListener(
    'abort',
    guarded(() => resolve()),
    { once: true },
  );
  await Promise.race([platform.settleReaders(), aborted]);
}

/** Readers make something of the job; after a kill they may not have read all of it. */
const hasReaders = ({ options }: Job): boolean =>
  Object.values(READER_OPTIONS).some((option) => options[option] !== undefined);

interface Followers {
  /** Files that the crawl is written into; null for one that is not wanted. */
  readonly files: readonly ({ check(): void } | null)[];
  readonly progress: Progress;
  readonly report: (job: Job) => void;
}

/** Looks at the job again and again. */
async function untilOver(
  platform: OpenPlatform,
  id: JobId,
  { files, progress, report }: Followers,
  signal: AbortSignal,
): Promise<void> {
  const notifier = createNotifier();
  const unsubscribe = platform.bus.subscribe('job.changed', ({ finished }) => {
    if (finished.includes(id)) notifier.notify();
  });
  const onAbort = guarded(notifier.notify);
  signal.addEventListener('abort', onAbort);
  let reportedAt = Number.NEGATIVE_INFINITY;
  /** Pages that were done at the last look: a crawl that gets on needs no explanation. */
  let doneBefore = 0;
  try {
    for (;;) {
      const job = await jobOf(platform, id);
      const now = performance.now();
      const done = job.counters.done + job.counters.failed;
      const isStill = done === doneBefore && job.finishedAt === null;
      progress.show(job, now, isStill ? describeWaiting(await platform.jobs.waitingFor(job)) : null);
      doneBefore = done;
      if (job.finishedAt !== null || signal.aborted) return;
      if (now - reportedAt >= REPORT_EVERY_MS) {
        report(job);
        reportedAt = now;
      }
      for (const file of files) file?.check();
      await notifier.wait(LOOK_EVERY_MS);
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', onAbort);
  }
}

const SHOWN_WALLS = 5;
const LEDGER_STEP = 1_000;

async function* failedTasks({ store }: OpenStorage, { id }: Job): AsyncGenerator<LedgerEntry> {
  let cursor: string | undefined;
  do {
    const step = await store.listTasks({ jobId: id, state: 'failed', cursor, limit: LEDGER_STEP });
    yield* step.items;
    cursor = step.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** The first pages that asked to log in: they have failed where the crawl has a session. */
async function wallsOf({ store }: OpenStorage, { id, options }: Job): Promise<readonly string[]> {
  const state = options.page.session === null ? 'done' : 'failed';
  const walls: string[] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await store.listTasks({ jobId: id, state, cursor, limit: LEDGER_STEP });
    for (const { url, rule, errorCode } of items) {
      if (errorCode === 'LOGIN_REQUIRED' || rule === 'outcome.login-wall') walls.push(url);
    }
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined && walls.length < SHOWN_WALLS);
  return walls.slice(0, SHOWN_WALLS);
}

async function jobOf({ store }: OpenStorage, id: JobId): Promise<Job> {
  const job = await store.getJob(id);
  if (job === null) throw new ScrapifieError('NOT_FOUND', `The crawl ${id} was deleted.`);
  return job;
}

/** Formats of the job and of its routes. */
const formatsOf = ({ page, routes = [] }: JobOptions) =>
  [page, ...routes.map((route) => route.page)].flatMap(({ formats = [] }) => formats);

/** Tells of every page of a crawl how it came about, as `why` does, and of other URLs why they were not fetched. */
interface CrawlTrace {
  add(pages: readonly Page[]): void;
  /** Resolves when everything that was added is written. */
  settle(): Promise<void>;
  /** Writes what became of the URLs that have no page, by the rule that decided. */
  finish(store: Store, job: Job): Promise<void>;
}

function createTrace(shell: Shell, store: Store, job: Job): CrawlTrace {
  const screen = screenOf(shell, 'stderr');
  const write = (heading: string, sentences: readonly string[]): void =>
    void shell.stderr.write(storyOf(screen, [heading], sentences));
  let writing = Promise.resolve();

  async function tell(pages: readonly Page[]): Promise<void> {
    for (const { url } of pages) {
      const { state, sentences } = await whyOf(store, job, url);
      write(`${url}: ${state}`, sentences);
    }
  }
  return {
    add(pages) {
      // A store that closes while pages are under way ends the trace; the pages themselves are in the files.
      writing = writing.then(() => tell(pages)).catch(() => undefined);
    },
    settle: () => writing,
    async finish(last, ended) {
      const groups = await unfetched(last, ended);
      if (groups.length === 0) return;
      write(
        'URLs that were not fetched:',
        groups.map(({ count, state, first }) => {
          const why = ruleSentence(first.rule, first, ended) ?? '';
          const named =
            count === 1
              ? `${first.url} was ${state}.`
              : `${describeCount(count, 'URL')} were ${state}, such as ${first.url}.`;
          return `${named} ${why} [${first.rule ?? state}]`;
        }),
      );
    },
  };
}

interface Unfetched {
  readonly state: LedgerEntry['state'];
  readonly first: LedgerEntry;
  count: number;
}

/** URLs without a page, together where the same kind of rule decided, the most frequent first. */
async function unfetched(store: Store, { id }: Job): Promise<readonly Unfetched[]> {
  const groups = new Map<string, Unfetched>();
  for (const state of ['denied', 'skipped'] as const) {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listTasks({ jobId: id, state, cursor, limit: LEDGER_STEP });
      for (const entry of items) {
        const kind = `${state} ${entry.rule?.split(':', 1)[0] ?? ''}`;
        const group = groups.get(kind);
        if (group === undefined) groups.set(kind, { state, first: entry, count: 1 });
        else group.count += 1;
      }
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
