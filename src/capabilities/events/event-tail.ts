import type { JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { waitingFor } from '../jobs/waits/waiting.ts';
import { isWanted, logFrames, positionText, progressFrame, type StreamPosition } from './stream-frames.ts';
import { readSlice, type SliceReaderDeps, type StreamScope, type StreamSlice } from './stream-slice.ts';

/** Bytes that are only true now: each listener gets the newest ones, and none of those it missed. */
export interface Tidings {
  /** Grows with each change. */
  readonly version: number;
  readonly bytes: Buffer;
}

export const NO_TIDINGS: Tidings = { version: 0, bytes: Buffer.alloc(0) };

export interface TailDeps extends SliceReaderDeps {
  readonly store: Pick<Store, 'listEvents' | 'listEventPages' | 'getJob' | 'listWaits'>;
  readonly now: () => number;
  /** Between two looks at the store at least (a millisecond more for each listener), and at most. */
  readonly paceMs: number;
  readonly pollMs: number;
}

/** Slices that listeners at the same position share. */
const MOST_SLICES = 8;
/** A change may be readable only when other transactions have ended. */
const LOOK_AGAIN_MS = 300;
const MOST_PACE_MS = 2_000;
/** Jobs whose progress one look tells to the listeners of an account. */
const MOST_JOBS = 20;

/** Times and numbers of URLs in a log event. */
const CHANGING = /\d{4}-\d\d-\d\dT[\d:.]+Z|"tasks":\d+/g;

/**
 * The one reader of a process for all listeners of the same stream. It looks at the store when the bus tells of a change,
 * and now and then without; listeners that stand at the same position get the same bytes.
 */
export class EventTail {
  readonly scope: StreamScope;
  /** How many share it. */
  listeners = 0;
  readonly #deps: TailDeps;
  readonly #slices = new Map<string, Promise<StreamSlice>>();
  /** Positions whose slice ended where the events of that moment did. */
  readonly #ending = new Set<string>();
  readonly #joined: { readonly first: Buffer; readonly second: Buffer; readonly bytes: Buffer }[] = [];
  #waiting: (() => void)[] = [];
  #version = 1;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #isLooking = false;
  #looksAgain = false;
  #isClosed = false;
  #progress = NO_TIDINGS;
  #log = NO_TIDINGS;
  #logText = '';
  #job: Job | null | undefined;

  constructor(deps: TailDeps, scope: StreamScope) {
    this.#deps = deps;
    this.scope = scope;
    this.#lookBy(0);
  }

  /** The job whose stream this is: undefined before the first look at the store, null when the job does not exist. */
  get job(): Job | null | undefined {
    return this.#job;
  }
  /** How far the jobs are, and what the job waits for. */
  get tidings(): { readonly progress: Tidings; readonly log: Tidings } {
    return { progress: this.#progress, log: this.#log };
  }
  /** The time that jobs end by. */
  get now(): () => number {
    return this.#deps.now;
  }
  /** Version of the data at the last look at the store. */
  get version(): number {
    return this.#version;
  }

  /** What comes after the position. Listeners that ask for the same position between two looks get the same slice. */
  slice(from: StreamPosition | null): Promise<StreamSlice> {
    const key = from === null ? '' : positionText(from);
    const known = this.#slices.get(key);
    if (known !== undefined) return known;
    const read = readSlice(this.#deps, this.scope, from);
    if (this.#slices.size >= MOST_SLICES) {
      const oldest = this.#slices.keys().next();
      if (!oldest.done) this.#slices.delete(oldest.value);
    }
    this.#slices.set(key, read);
    // These, and what failed, are read again after the next look.
    read.then(
      (slice) => void (slice.isFull || this.#ending.add(key)),
      () => this.#slices.delete(key),
    );
    return read;
  }

  /** Resolves when the store was looked at again after that version, or at once when it was. */
  changed(since: number): Promise<void> {
    if (this.#isClosed || this.#version !== since) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Both after each other; the same bytes for all listeners that ask for them between two looks. */
  joined(first: Buffer, second: Buffer): Buffer {
    if (first.length === 0) return second;
    const known = this.#joined.find((each) => each.first === first && each.second === second);
    if (known !== undefined) return known.bytes;
    const bytes = Buffer.concat([first, second]);
    this.#joined.push({ first, second, bytes });
    return bytes;
  }

  /** Something may have happened. */
  wake(): void {
    this.#looksAgain = true;
    this.#lookBy(this.#lookedAt + this.#paceMs);
  }

  /** Each listener is a write to a connection: the more there are, the more events go into one. */
  get #paceMs(): number {
    return Math.min(MOST_PACE_MS, this.#deps.paceMs + this.listeners);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#release();
  }

  #lookBy(at: number): void {
    if (this.#isClosed || at >= this.#dueAt) return;
    this.#dueAt = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), Math.max(0, at - performance.now())).unref();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return this.#later();
    this.#isLooking = true;
    const looksAgain = this.#looksAgain;
    this.#looksAgain = false;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#lookedAt = performance.now();
    try {
      await (this.scope.jobId === null ? this.#lookAtAccount() : this.#lookAtJob(this.scope.jobId));
    } catch {
      // The store is away for the moment; listeners keep their position, and the next look goes on from there.
    }
    this.#isLooking = false;
    for (const key of this.#ending) this.#slices.delete(key);
    this.#ending.clear();
    this.#joined.length = 0;
    this.#version += 1;
    this.#release();
    const nextMs = looksAgain ? Math.max(LOOK_AGAIN_MS, this.#paceMs) : this.#deps.pollMs;
    this.#lookBy(this.#lookedAt + nextMs);
  }

  #later(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#lookBy(performance.now() + this.#paceMs);
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #lookAtJob(id: JobId): Promise<void> {
    const { store, now } = this.#deps;
    const before = this.#job;
    const job = await store.getJob(id);
    this.#job = job;
    if (job === null) return;
    if (isWanted(this.scope.types, 'progress')) this.#tellProgress(progressFrame(job));
    if (!isWanted(this.scope.types, 'log')) return;
    // A job that goes forward waits for nothing that is worth a question.
    const isMoving = before !== null && before?.counters.done !== job.counters.done;
    const { open, claimed } = job.counters;
    const isIdle = open > 0 && claimed === 0 && !isMoving;
    this.#tellLog(isIdle ? logFrames(job, waitingFor(await store.listWaits(id), now())) : '');
  }

  /** The jobs of events since the last look. */
  async #lookAtAccount(): Promise<void> {
    const { store } = this.#deps;
    if (!isWanted(this.scope.types, 'progress')) return;
    const jobs = new Set<JobId>();
    for (const slice of await Promise.all(this.#slices.values())) for (const id of slice.jobs) jobs.add(id);
    let text = '';
    for (const id of [...jobs].slice(-MOST_JOBS)) {
      const job = await store.getJob(id);
      if (job !== null && job.accountId === this.scope.accountId) text += progressFrame(job);
    }
    this.#tellProgress(text);
  }

  #tellProgress(text: string): void {
    const bytes = Buffer.from(text);
    if (bytes.equals(this.#progress.bytes)) return;
    this.#progress = { version: this.#progress.version + 1, bytes };
  }

  /** Each wait is sent once, however often its end moves. */
  #tellLog(text: string): void {
    const known = text.replace(CHANGING, '');
    if (known === this.#logText) return;
    this.#logText = known;
    this.#log = { version: this.#log.version + 1, bytes: Buffer.from(text) };
  }
}
