import { setImmediate as nextTurn } from 'node:timers/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { isScrapifieError, type ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { isJobEnd } from '../../core/model/event-types.ts';
import type { Job } from '../../core/model/job.ts';
import type { Monitor, PageState } from '../../core/model/monitor.ts';
import type { Page } from '../../core/model/page.ts';
import type { WorkMetrics } from '../../core/observe/metrics/work-metrics.ts';
import type { MonitorCheck } from '../../core/ports/monitor-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { PageComparison, WatchedPage } from '../../extract/diff/compare-pages.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import type { PageComparer } from '../compare/page-comparer.ts';
import { isComparable, type ReadPage, readPage } from '../compare/page-version.ts';
import type { EventReaderDeps } from '../readers/event-reader.ts';
import {
  checkEvents,
  type FoundChange,
  monitorChange,
  type PageTrouble,
  type ReportedChange,
} from './check-report.ts';
import { type Decision, decideChange, EMPTY_STATE, type Observation } from './decide-change.ts';
import type { DecideLane } from './decide-lane.ts';
import { linesOf } from './watched-lines.ts';

/** What the rules leave of a stored page; null when its body is not kept any more. */
export type WatchStoredPage = (page: ReadPage, rules: DiffRules) => Promise<WatchedPage | null>;

interface CheckDeps {
  readonly store: Pick<Store, 'getMonitor' | 'listMonitorPages' | 'recordCheck' | 'listPages' | 'listTasks'>;
  readonly watchPage: WatchStoredPage;
  readonly lane: Pick<DecideLane, 'run'>;
}

/** What came of a check. */
export interface EvaluatedCheck {
  readonly changes: readonly FoundChange[];
  readonly failed: readonly PageTrouble[];
  readonly recovered: readonly PageTrouble[];
  readonly pages: number;
  /** Pages that were seen for the first time, and are the baseline from now on. */
  readonly baselines: number;
  /** Pages that it is not sure of. */
  readonly unsure: readonly string[];
}

const PAGES_AT_ONCE = 50;
const STATES_AT_ONCE = 200;
const TASKS_AT_ONCE = 1_000;
/** Checks that are recorded at the same time; each begins anew with what the other has stored. */
const MOST_TRIES = 10;
/** Looks at the pages of one check, each some time after the one before. */
export const MOST_ROUNDS = 5;
/** More pages that look changed at once are looked at by the schedule. */
const MOST_RECHECKED = 200;
/** Content that is shorter says nothing about where a page went. */
const LEAST_MOVED_LINES = 4;
const GONE: ReadonlySet<number | null> = new Set([404, 410]);

/**
 * Evaluates a job of a monitor that has ended, and records what came of it, once. Null when it was recorded before, or its
 * monitor is gone.
 */
async function evaluateCheck(job: Job, deps: CheckDeps): Promise<EvaluatedCheck | null> {
  const { store } = deps;
  const id = job.options.monitorId;
  for (let tries = 0; id !== undefined && tries < MOST_TRIES; tries += 1) {
    const monitor = await store.getMonitor(job.accountId, id as Monitor['id']);
    if (monitor === null) return null;
    const { check, evaluated } = await evaluate(monitor, job, deps);
    const recorded = await store.recordCheck(check);
    if (recorded === 'repeated') return null;
    if (recorded === 'recorded') return evaluated;
  }
  return null;
}

async function evaluate(
  monitor: Monitor,
  job: Job,
  { store, watchPage, lane }: CheckDeps,
): Promise<{ readonly check: MonitorCheck; readonly evaluated: EvaluatedCheck }> {
  const { settings } = monitor;
  const rules = settings.diff as DiffRules;
  const isSite = settings.target !== 'urls';
  const round = job.options.monitorRound ?? 0;
  const hadBaseline = monitor.lastCheck?.hasBaseline ?? false;
  const states = new Map<string, PageState | null>();
  const changes: FoundChange[] = [];
  const [failed, recovered]: [PageTrouble[], PageTrouble[]] = [[], []];
  const unsure: string[] = [];
  const seen = new Set<string>();
  let [pages, baselines] = [0, 0];
  let hasDoubtfulFailure = false;

  function take(url: string, before: PageState, decision: Decision): void {
    if (decision.state !== before) states.set(url, decision.state);
    if (decision.change !== null) changes.push({ url, fromUrl: null, ...decision.change });
    if (decision.reason === 'baseline') baselines += 1;
    if (decision.needsRecheck) unsure.push(url);
    const trouble = decision.state?.trouble ?? before.trouble;
    const told = { url, reason: trouble?.reason ?? '', since: trouble?.since ?? 0 };
    if (decision.trouble === 'failed') failed.push(told);
    if (decision.trouble === 'recovered') recovered.push(told);
  }

  async function decide(url: string, state: PageState | null, observation: Observation): Promise<void> {
    // A site is known by the pages that were seen; one that never was is none of it.
    if (state === null && observation.kind !== 'content' && isSite) return;
    const before = state ?? { ...EMPTY_STATE, isNew: isSite && hadBaseline };
    take(url, before, await decided(before, observation));
  }

  async function decided(state: PageState, observation: Observation): Promise<Decision> {
    if (observation.kind === 'failed') return decideChange(state, observation, settings.rules);
    try {
      return await lane.run('decide', { state, observation, rules: settings.rules, diff: rules });
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      const at = observation.kind === 'content' ? observation.content.at : observation.at;
      return decideChange(state, { kind: 'failed', at, reason: error.code }, settings.rules);
    }
  }

  async function statesOf(urls: readonly string[]): Promise<(url: string) => PageState | null> {
    const { accountId, id: monitorId } = monitor;
    const found = await store.listMonitorPages({ accountId, monitorId, urls, limit: urls.length });
    const packed = new Map(found.map(({ url, state }) => [url, state]));
    return (url) => {
      const state = packed.get(url);
      return state === undefined ? null : unpackPageState(state);
    };
  }

  for await (const some of eachPages(store, job)) {
    const stateOf = await statesOf(some.map(({ url }) => url));
    for (const page of some) {
      await nextTurn();
      if (seen.has(page.url)) continue;
      seen.add(page.url);
      pages += 1;
      const read = readPage(page);
      const state = stateOf(page.url);
      if (page.errorCode !== null && !GONE.has(page.statusCode)) hasDoubtfulFailure = true;
      if (isUnchanged(state, page)) continue;
      const observation = await observe(read, job, () => watchPage(read, rules));
      if (observation !== null) await decide(page.url, state, observation);
    }
  }
  for await (const some of eachLostTasks(store, job)) {
    const left = some.filter(({ url }) => !seen.has(url));
    if (left.length === 0) continue;
    const stateOf = await statesOf(left.map(({ url }) => url));
    for (const { url, errorCode, rule, state: end } of left) {
      await nextTurn();
      seen.add(url);
      if (end === 'failed') hasDoubtfulFailure = true;
      const at = job.finishedAt ?? job.createdAt;
      await decide(url, stateOf(url), { kind: 'failed', at, reason: errorCode ?? rule ?? end });
    }
  }
  const isCovered = isSite && round === 0 && isWhole(job) && !hasDoubtfulFailure && pages > 0;
  if (isCovered && hadBaseline) {
    for await (const { url, state } of eachState(store, monitor)) {
      if (seen.has(url)) continue;
      await decide(url, state, { kind: 'missing', at: job.finishedAt ?? job.createdAt });
    }
  }
  await joinMoved(monitor, { store, lane }, changes, states);
  const nextRound = round + 1;
  const { recheckMs } = settings;
  const isRechecked = nextRound < MOST_ROUNDS + 1 && unsure.length > 0 && unsure.length <= MOST_RECHECKED;
  const stored: ReportedChange[] = [];
  for (const change of changes) stored.push(monitorChange(change, await comparisonOf(change, rules, lane)));
  const packed: MonitorCheck['pages'][number][] = [];
  for (const [url, state] of states) {
    await nextTurn();
    packed.push({ url, state: state === null ? null : packPageState(state) });
  }
  const check: MonitorCheck = {
    accountId: monitor.accountId,
    monitorId: monitor.id,
    jobId: job.id,
    checks: monitor.checks,
    revision: monitor.revision,
    summary: {
      pages,
      changes: changes.length,
      failed: failed.length,
      isCovered,
      hasBaseline: hadBaseline || isCovered || !isSite,
    },
    pages: packed,
    changes: stored.map(({ row }) => row),
    recheck: isRechecked && recheckMs !== null ? { inMs: recheckMs, round: nextRound, urls: unsure } : null,
    events: checkEvents({ monitor, job, changes: stored, failed, recovered }),
  };
  return { check, evaluated: { changes, failed, recovered, pages, baselines, unsure } };
}

/** Null when the check says nothing about the page, because its body is gone. */
async function observe(
  read: ReadPage,
  job: Job,
  watch: () => Promise<WatchedPage | null>,
): Promise<Observation | null> {
  const { page, outcome } = read;
  const at = page.fetchedAt;
  if (GONE.has(page.statusCode) || outcome === 'soft-404') return { kind: 'gone', at };
  if (!isComparable(read)) return { kind: 'failed', at, reason: page.errorCode ?? outcome ?? 'error' };
  try {
    const watched = await watch();
    if (watched === null) return null;
    return {
      kind: 'content',
      content: { at, lines: linesOf(watched) },
      title: page.title,
      source: { jobId: job.id, taskId: page.taskId, contentHash: page.contentHash },
    };
  } catch (error) {
    // A page that rules cannot be applied to must not keep the other pages from being looked at.
    if (isTooMuch(error)) {
      return { kind: 'failed', at, reason: error.code };
    }
    throw error;
  }
}

/** The page takes more time or memory than a page may. */
const isTooMuch = (error: unknown): error is ScrapifieError =>
  isScrapifieError(error) && error.code === 'EXTRACTION_FAILED';

/** Null of pages that are new, gone or elsewhere, and where comparing takes too long. */
async function comparisonOf(
  { kind, before, after }: FoundChange,
  diff: DiffRules,
  lane: CheckDeps['lane'],
): Promise<PageComparison | null> {
  if (kind !== 'MODIFIED' && kind !== 'REVERTED') return null;
  try {
    return await lane.run('compare', { before, after, diff });
  } catch (error) {
    if (isTooMuch(error)) return null;
    throw error;
  }
}

/** The page has the bytes of the last time, and is one that there is nothing to find out about. */
const isUnchanged = (state: PageState | null, page: Page): boolean =>
  state !== null &&
  page.errorCode === null &&
  page.contentHash !== null &&
  state.source?.contentHash === page.contentHash &&
  state.isSettled &&
  state.slots.length === 0;

/** The crawl got to its end within its scope. */
const isWhole = ({ status, stopReason }: Job): boolean =>
  stopReason === null && (status === 'completed' || status === 'partially_completed');

/** A page that is new and has the content of one that is missing has moved. */
async function joinMoved(
  monitor: Monitor,
  { store, lane }: Pick<CheckDeps, 'store' | 'lane'>,
  changes: FoundChange[],
  states: Map<string, PageState | null>,
): Promise<void> {
  const added = changes.filter(({ kind, after }) => kind === 'ADDED' && after.length >= LEAST_MOVED_LINES);
  if (added.length === 0) return;
  const fingerprint = ({ baseline, slots }: PageState) => lane.run('fingerprint', { baseline, slots });
  const gone = new Map<string, string>();
  for await (const { url, state: stored } of eachState(store, monitor)) {
    const state = states.has(url) ? states.get(url) : stored;
    const isAway = state?.doubt?.kind === 'gone' || state?.doubt?.kind === 'missing';
    if (state != null && isAway) gone.set(await fingerprint(state), url);
  }
  for (const [at, change] of changes.entries()) {
    const state = states.get(change.url);
    if (!added.includes(change) || state == null) continue;
    const key = await fingerprint(state);
    const fromUrl = gone.get(key);
    if (fromUrl === undefined) continue;
    gone.delete(key);
    changes[at] = { ...change, kind: 'MOVED', fromUrl };
    states.set(fromUrl, null);
  }
}

async function* eachPages(store: CheckDeps['store'], { id: jobId }: Job): AsyncGenerator<readonly Page[]> {
  let cursor: string | undefined;
  do {
    const pages = await store.listPages({ jobId, cursor, limit: PAGES_AT_ONCE });
    yield pages.items;
    cursor = pages.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** URLs that no answer came from, or that must not be fetched. */
async function* eachLostTasks(store: CheckDeps['store'], { id: jobId }: Job) {
  for (const state of ['failed', 'denied'] as const) {
    let cursor: string | undefined;
    do {
      const tasks = await store.listTasks({ jobId, state, cursor, limit: TASKS_AT_ONCE });
      yield tasks.items.filter(({ kind }) => kind === 'page');
      cursor = tasks.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}

async function* eachState(store: CheckDeps['store'], { accountId, id: monitorId }: Monitor) {
  for (let after: string | undefined; ; ) {
    const some = await store.listMonitorPages({ accountId, monitorId, after, limit: STATES_AT_ONCE });
    for (const { url, state } of some) {
      await nextTurn();
      yield { url, state: unpackPageState(state) };
    }
    after = some.at(-1)?.url;
    if (some.length < STATES_AT_ONCE) return;
  }
}

/** What a monitor remembers of a page, as it is stored: JSON in a zstd frame. */
const MOST_BYTES = 67_108_864;

const packPageState = (state: PageState): Uint8Array =>
  new Uint8Array(zstdCompressSync(Buffer.from(JSON.stringify(state))));

/** States of earlier versions get what they lack. */
const unpackPageState = (packed: Uint8Array): PageState => ({
  ...EMPTY_STATE,
  ...(JSON.parse(zstdDecompressSync(packed, { maxOutputLength: MOST_BYTES }).toString('utf8')) as PageState),
});

export interface MonitorReaderDeps {
  readonly store: CheckDeps['store'] & Pick<Store, 'getJob' | 'advanceReader'>;
  readonly comparer: Pick<PageComparer, 'watched'>;
  readonly lane: CheckDeps['lane'];
  readonly metrics: Pick<WorkMetrics, 'monitorChecked'>;
}

/**
 * Evaluates the jobs of monitors that have ended; it has to follow the reader that makes their snapshots. A check is recorded once, so that events
 * that are read again after a crash change nothing.
 */
export function createMonitorReader(deps: MonitorReaderDeps): EventReaderDeps['apply'] {
  const { store, comparer, lane, metrics } = deps;
  const watchPage: CheckDeps['watchPage'] = ({ version }, rules) => comparer.watched(version, rules);
  return async (events, range) => {
    for (const { type, jobId } of events) {
      const job = jobId !== null && isJobEnd(type) ? await store.getJob(jobId) : null;
      const evaluated = job === null ? null : await evaluateCheck(job, { store, watchPage, lane });
      if (evaluated !== null) metrics.monitorChecked(evaluated.changes.length);
    }
    return store.advanceReader('monitors', range);
  };
}
