import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../core/model/attempt.ts';
import { isOurs, type PriceTable, priceOf } from '../../core/model/credits.ts';
import type { TaskId } from '../../core/model/ids.ts';
import { type NewPage, WITHOUT_CONTENT } from '../../core/model/page.ts';
import { PROVISIONAL_REASONS } from '../../core/model/reasons.ts';
import type { NewTask } from '../../core/model/task.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Metrics } from '../../core/observe/metrics.ts';
import { PUT_TO_COMMIT_MS } from '../../core/ports/blobs.ts';
import type { Completion, LedgerStore, Receipt } from '../../core/ports/ledger-store.ts';
import { outsideSpans } from '../../core/tracing/tracing.ts';
import type { KnownUrls } from '../frontier/known-urls.ts';

/**
 * The batch writer between the crawl and the store: one transaction for all that ended meanwhile. While a commit is
 * under way the next batch collects, and waits `batchDelayMs` for more completions, so a busy crawl writes a hundred pages at once.
 *
 * A store that is full, away or refuses the login is asked again until it answers; nothing handed in is dropped. Pages
 * that are too old by then, because their bodies may be gone, are given back to be fetched again. A batch whose content
 * the store refuses is halved until the bad completion is alone: that task ends with UNSTORABLE, and the others are
 * committed.
 */
export interface Ledger {
  /**
   * Resolves once the completion is committed: true, or false when the lease was lost and it changed nothing.
   * An awaited completion is not delayed to fill a batch.
   *
   * Rejects with UNSTORABLE when the task was ended with that code, because the store refuses the completion's content.
   */
  write(completion: Completion, isAwaited: boolean): Promise<boolean>;
  /** Completions handed in and not yet committed. */
  readonly backlog: number;
  /** Resolves when everything handed in so far is committed. */
  flush(): Promise<void>;
  /** Gives up on completions that a failing store has not taken; their tasks stay claimed and are done again. */
  close(): void;
}

export interface LedgerOptions {
  readonly store: LedgerStore;
  /** The current time by the store's clock. */
  readonly now: () => number;
  /** URLs that need not be written again. */
  readonly known: KnownUrls;
  /** Called with the committed completions, before their writers are notified. */
  readonly onCommit: (receipt: Receipt, kept: readonly Completion[]) => void;
  /** What attempts cost; missing: nothing. */
  readonly prices?: PriceTable;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly maxBatch?: number;
  /** Bytes of the pages' records in one transaction; one page alone may have more. */
  readonly maxBatchBytes?: number;
  readonly batchDelayMs?: number;
}

/** The store's decision about the URL is final: it need not be sent again. */
const isSettled = ({ rule }: NewTask) => rule === null || !PROVISIONAL_REASONS.has(rule);

function givenBack({ used: _used, microcredits: _microcredits, ...completion }: Completion): Completion {
  return { ...completion, end: { state: 'ready' }, bytes: 0, page: null, discovered: [] };
}

const RETRY_MS = 1_000;
/** A statement is one message to the store, and the text of its bytes is twice as long. */
const MOST_BATCH_BYTES = 64 * 1_024 * 1_024;

interface Pending {
  readonly completion: Completion;
  readonly resolve: (isKept: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export function createLedger(options: LedgerOptions): Ledger {
  const { store, known, now, onCommit, logger, metrics, maxBatch = 256, batchDelayMs = 15 } = options;
  const { maxBatchBytes = MOST_BATCH_BYTES, prices } = options;
  const priced = (completion: Completion) =>
    prices === undefined ? completion : pricedCompletion(completion, prices);
  let pending: Pending[] = [];
  /** Completions in the transaction under way. */
  let committing = 0;
  /** A transaction is under way or about to begin. */
  let isBusy = false;
  let timer: NodeJS.Timeout | null = null;
  /** A caller awaits one of the pending completions. */
  let isUrgent = false;
  let isClosed = false;
  let waiters: (() => void)[] = [];

  /** Schedules the commit of pending completions: at once when one is awaited or they fill a batch, else soon. */
  function schedule(): void {
    if (isBusy || pending.length === 0) return;
    if (!isUrgent && pending.length < maxBatch) {
      timer ??= setTimeout(begin, batchDelayMs);
      return;
    }
    begin();
  }

  function begin(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    isBusy = true;
    // A turn of the loop later, so that answers which arrive together are written together.
    setImmediate(() => void commitNext());
  }

  async function commitNext(): Promise<void> {
    const batch = pending.slice(0, batchLength(pending, maxBatch, maxBatchBytes));
    pending = pending.slice(batch.length);
    committing = batch.length;
    if (pending.length === 0) isUrgent = false;
    await commitBatch(batch);
    committing = 0;
    isBusy = false;
    if (pending.length === 0) {
      for (const done of waiters) done();
      waiters = [];
    }
    schedule();
  }

  /** Commits what can be committed, and tells every writer; does not reject. */
  async function commitBatch(batch: readonly Pending[]): Promise<void> {
    const parts: (readonly Pending[])[] = [batch];
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      try {
        const rejected = new Set<TaskId>(await commit(part.map(({ completion }) => completion)));
        for (const { completion, resolve } of part) resolve(!rejected.has(completion.taskId));
      } catch (error) {
        const [first] = part;
        if (first === undefined) return;
        if (isClosed || !mayBeContent(error)) {
          for (const { reject } of part) reject(error);
        } else if (part.length > 1) {
          const middle = Math.ceil(part.length / 2);
          parts.unshift(part.slice(0, middle), part.slice(middle));
        } else if (!(await endUnstorable(first, error))) {
          // Not the content: the store takes nothing at all, and would be asked for every one of them in vain.
          for (const { reject } of [...part, ...parts.splice(0).flat()]) reject(error);
        }
      }
    }
  }

  /** Ends the task of a completion that the store refuses by itself. False when the store refuses that as well. */
  async function endUnstorable({ completion, resolve, reject }: Pending, error: unknown): Promise<boolean> {
    try {
      const lost = await commit([priced(refusedCompletion(completion))]);
      if (lost.length > 0) resolve(false);
      else
        reject(
          new ScrapifieError('UNSTORABLE', 'The store refuses the content of a task.', { cause: error }),
        );
      return true;
    } catch {
      return false;
    }
  }

  /** Sends the same list until it is answered: the store knows by it what it has done already. */
  async function commit(given: readonly Completion[]): Promise<readonly TaskId[]> {
    let completions = given;
    const tooOld: TaskId[] = [];
    for (;;) {
      if (completions.some(isTooOld)) {
        for (const completion of completions) if (isTooOld(completion)) tooOld.push(completion.taskId);
        completions = completions.map((each) => (isTooOld(each) ? givenBack(each) : each));
      }
      const startedAt = performance.now();
      try {
        const receipt = await store.commit(completions);
        const ms = performance.now() - startedAt;
        const kept = keptOf(receipt, completions);
        metrics.committed(ms, completions.length, kept);
        tell(receipt, kept);
        return [...receipt.rejected, ...tooOld];
      } catch (error) {
        if (isClosed || !isScrapifieError(error) || error.spec.retry !== 'later') throw error;
        logger.warn(
          { code: error.code, reason: error.message, waiting: pending.length + completions.length },
          'ledger not written; trying again',
        );
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** A failing listener cannot undo a commit. */
  function tell(receipt: Receipt, kept: readonly Completion[]): void {
    try {
      for (const { lease, jobSeq, discovered } of kept) {
        for (const task of discovered) {
          if (isSettled(task)) known.add(lease.incarnation, jobSeq, task.urlKey);
        }
      }
      onCommit(receipt, kept);
    } catch (error) {
      logger.error({ err: error }, 'a commit listener failed');
    }
  }
  /** Its body was put so long ago that the sweep may have removed it; see `Blobs`. */
  const isTooOld = ({ page }: Completion) => page !== null && now() - page.fetchedAt > PUT_TO_COMMIT_MS;

  return {
    write(completion, isAwaited) {
      const { lease, jobSeq } = completion;
      const discovered = completion.discovered.filter(
        ({ urlKey }) => !known.has(lease.incarnation, jobSeq, urlKey),
      );
      return new Promise((resolve, reject) => {
        pending.push({ completion: { ...priced(completion), discovered }, resolve, reject });
        isUrgent ||= isAwaited;
        outsideSpans(schedule);
      });
    },
    get backlog() {
      return pending.length + committing;
    },
    flush() {
      if (!isBusy && pending.length === 0) return Promise.resolve();
      isUrgent = true;
      schedule();
      return new Promise((resolve) => waiters.push(resolve));
    },
    close() {
      isClosed = true;
    },
  };
}

function keptOf({ rejected }: Receipt, completions: readonly Completion[]): readonly Completion[] {
  if (rejected.length === 0) return completions;
  const lost = new Set(rejected);
  return completions.filter(({ taskId }) => !lost.has(taskId));
}

/** How many of the pending make the next batch: always one, and no more than a statement can carry. */
function batchLength(pending: readonly Pending[], most: number, mostBytes: number): number {
  let length = 0;
  let bytes = 0;
  for (const { completion } of pending) {
    bytes += completion.page?.record?.byteLength ?? 0;
    if (length === most || (length > 0 && bytes > mostBytes)) break;
    length += 1;
  }
  return length;
}

/** Whether the store may have refused a batch for its content. An unknown error may be one of content. */
const mayBeContent = (error: unknown) => !isScrapifieError(error) || error.code === 'UNSTORABLE';

/**
 * The completion with what its attempt costs. A task costs what the attempts of its trace cost together, and a task that
 * fails on this side costs nothing, so what was charged for its earlier attempts is refunded. An attempt that the trace
 * does not keep, because it does not count, costs nothing either, and neither does one that was refused before it was sent.
 */
export function pricedCompletion(completion: Completion, prices: PriceTable): Completion {
  const { used, trace, end } = completion;
  if (used === undefined || end.state === 'ready' || trace.at(-1) !== used) return completion;
  const earlier = trace.slice(0, -1);
  if (end.state === 'failed' && isOurs(end.errorCode)) {
    return { ...completion, trace: [...earlier.map(withoutCost), used], microcredits: -costOf(earlier) };
  }
  const microcredits = completion.isUnsent === true ? 0 : priceOf(used, prices);
  if (microcredits === 0) return completion;
  return { ...completion, trace: [...earlier, { ...used, microcredits }], microcredits };
}

const costOf = (attempts: readonly Attempt[]) =>
  attempts.reduce((sum, { microcredits = 0 }) => sum + microcredits, 0);

const withoutCost = ({ microcredits: _, ...attempt }: Attempt): Attempt => attempt;

const REASON = 'The store cannot keep what this page brought; the log has its reason.';

/**
 * The replacement for a completion whose content the store refuses: the task ends with UNSTORABLE. Every text
 * in it is either our own or was read from the store before, and every number is in range, so that the store can have
 * no objection to its content.
 */
function refusedCompletion(completion: Completion): Completion {
  const { lease, taskId, jobSeq, trace, bytes, page } = completion;
  const last = trace.at(-1);
  const attempt = last === undefined ? null : refusedAttempt(last);
  return {
    lease,
    taskId,
    jobSeq,
    end: { state: 'failed', rule: 'store.refused', errorCode: 'UNSTORABLE' },
    trace: attempt === null ? [] : [...trace.slice(0, -1), attempt],
    ...(attempt === null ? {} : { used: attempt }),
    bytes: count(bytes),
    page: page === null ? null : refusedPage(page),
    discovered: [],
  };
}

/** The earlier attempts came from the store; the last one is as new as the rest of the completion. */
function refusedAttempt({ engine, statusCode, ms, bytes, at }: Attempt): Attempt {
  return {
    engine,
    proxyTier: null,
    reason: 'store.refused',
    outcome: 'error',
    evidence: REASON,
    errorCode: 'UNSTORABLE',
    statusCode: status(statusCode),
    ms: count(ms),
    bytes: count(bytes),
    at,
  };
}

function refusedPage({ url, statusCode, fetchedAt, depth }: NewPage): NewPage {
  return {
    ...WITHOUT_CONTENT,
    url,
    finalUrl: url,
    statusCode: status(statusCode),
    fetchedAt: count(fetchedAt),
    depth: count(depth),
    errorCode: 'UNSTORABLE',
    errorMessage: REASON,
  };
}

const count = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);
const status = (value: number | null): number | null =>
  value !== null && Number.isInteger(value) && value > 0 && value < 1_000 ? value : null;
