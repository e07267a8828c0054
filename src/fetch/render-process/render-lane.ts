import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserFigures } from '../../core/observe/metrics/sources.ts';
import { outsideSpans } from '../../core/tracing/tracing.ts';
import { type BrowserHealth, HEALTHY } from '../browser/pool/pool-health.ts';
import { followSignal, orAborted } from '../deadline.ts';
import type { FetchRequest, FetchResponse } from '../engine.ts';
import { createRemoteEngine } from '../remote/remote-engine.ts';
import type { RenderName } from '../remote/render-message.ts';
import { createParcels } from '../remote/sealed-calls.ts';
import { browserUnavailable, shuttingDown } from '../render-errors.ts';
import { removeHome } from './confinement.ts';
import type { StartMessage, StateMessage } from './process-messages.ts';
import {
  type ProcessEnd,
  type ProcessLaunch,
  RenderProcess,
  type RenderProcessOptions,
} from './render-process.ts';

export interface RenderLaneOptions extends Pick<RenderProcessOptions, 'limits' | 'onEvent' | 'onAsk'> {
  /** Asked before each start. */
  readonly prepare: () => Promise<{ readonly start: StartMessage; readonly launch: ProcessLaunch }>;
  /** `health` may have changed. */
  readonly onHealth: () => void;
  readonly onStarted: (pid: number | null) => void;
  readonly onEnded: (end: ProcessEnd) => void;
  /** A process without work is closed after this; null: never. */
  readonly idleMs: number | null;
}

/** The last reading of a page whose time is up has seconds of its own; see RenderAttempt. */
const LAST_READING_MS = 6_000;
const FIRST_BACKOFF_MS = 250;
const LAST_BACKOFF_MS = 30_000;
/** Starts that fail one after the other before requests are refused instead of waiting. */
const MOST_PATIENCE = 3;

/** A render process that is started when a page is to be shown, and again when it has ended. */
export class RenderLane {
  readonly #options: RenderLaneOptions;
  #running: RenderProcess | null = null;
  #starting: Promise<RenderProcess> | null = null;
  #isClosed = false;
  readonly #closing = new AbortController();
  #idleTimer: NodeJS.Timeout | null = null;
  #underWay = 0;
  /** The folder of the last process, once that has ended. */
  #removing: Promise<void> | undefined;
  /** A process that is being closed for want of work. */
  #retiring: Promise<void> | undefined;
  #state: StateMessage | null = null;
  /** Ends in a row, without a page that was shown between them. */
  #failures = 0;
  #startableAt = 0;
  #startFailure: string | null = null;
  /** Figures of the processes that have ended. */
  #past = { launched: 0, launchesFailed: 0, replaced: {} as Readonly<Record<string, number>> };

  constructor(options: RenderLaneOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#running?.pid ?? null;
  }

  health(name: RenderName): BrowserHealth {
    if (this.#startFailure !== null) {
      return { state: 'failing', code: 'BROWSER_UNAVAILABLE', reason: this.#startFailure };
    }
    return this.#state?.health[name] ?? HEALTHY;
  }

  /** Null while nothing ran yet. */
  figures(): BrowserFigures | null {
    const now = this.#state?.figures ?? null;
    if (now === null && this.#past.launched === 0) return null;
    const { launched, launchesFailed, replaced } = this.#past;
    return {
      browsers: now?.browsers ?? 0,
      pagesOpen: now?.pagesOpen ?? 0,
      pagesInUse: now?.pagesInUse ?? 0,
      launched: launched + (now?.launched ?? 0),
      launchesFailed: launchesFailed + (now?.launchesFailed ?? 0),
      replaced: sumOf(replaced, now?.replaced ?? {}),
    };
  }

  async fetch(name: RenderName, request: FetchRequest): Promise<FetchResponse> {
    this.#underWay += 1;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    try {
      const { channel } = await this.#ready(request.signal);
      const { queue, blobs } = channel.link(name);
      const engine = createRemoteEngine({
        ...{ name, queue, blobs, lastReadingMs: LAST_READING_MS },
        // The pipe has two ends, and nothing of it is stored.
        parcels: createParcels(blobs, null),
      });
      const response = await engine.fetch(request);
      this.#failures = 0;
      return response;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#restLater();
    }
  }

  /** Starts the process before a page is to be shown. */
  async warm(): Promise<void> {
    await this.#ready(undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort(shuttingDown());
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    await this.#starting?.catch(() => null);
    await Promise.all([this.#running?.close(), this.#retiring]);
    await this.#removing;
  }

  async #ready(signal: AbortSignal | undefined): Promise<RenderProcess> {
    if (this.#isClosed) throw shuttingDown();
    if (this.#running !== null) return this.#running;
    if (this.#failures > MOST_PATIENCE && this.#startFailure !== null) {
      const waitMs = Math.max(0, this.#startableAt - performance.now());
      throw browserUnavailable(this.#startFailure, undefined, waitMs);
    }
    // The process serves other pages as well.
    this.#starting ??= outsideSpans(() => this.#startProcess()).finally(() => {
      this.#starting = null;
    });
    const caller = followSignal(signal);
    return orAborted(this.#starting, caller.signal).finally(() => caller.end());
  }

  async #startProcess(): Promise<RenderProcess> {
    const waitMs = this.#startableAt - performance.now();
    try {
      if (waitMs > 0) await pause(waitMs, undefined, { signal: this.#closing.signal });
    } catch {
      throw shuttingDown();
    }
    const { start, launch } = await this.#options.prepare();
    if (this.#isClosed) {
      await removeHome(launch.home);
      throw shuttingDown();
    }
    const { limits, onEvent, onAsk } = this.#options;
    const started: RenderProcess = new RenderProcess({
      start,
      launch,
      limits,
      onEvent,
      onAsk,
      onReady: () => {
        this.#startFailure = null;
        this.#options.onHealth();
      },
      onState: (state) => this.#onState(state),
      onEnd: (end) => {
        if (this.#running === started) this.#running = null;
        this.#onEnd(end);
      },
    });
    this.#running = started;
    this.#removing = started.ended.then(() => removeHome(launch.home)).catch(() => undefined);
    this.#options.onStarted(started.pid);
    return started;
  }

  #onState(state: StateMessage): void {
    const before = JSON.stringify(this.#state?.health);
    this.#state = state;
    if (JSON.stringify(state.health) !== before) this.#options.onHealth();
  }

  #onEnd(end: ProcessEnd): void {
    const last = end.lastState?.figures;
    this.#state = null;
    if (last !== null && last !== undefined) {
      const { launched, launchesFailed, replaced } = this.#past;
      const lost = end.isExpected ? {} : { ended: last.browsers };
      this.#past = {
        launched: launched + last.launched,
        launchesFailed: launchesFailed + last.launchesFailed,
        replaced: sumOf(sumOf(replaced, last.replaced), lost),
      };
    }
    this.#options.onEnded(end);
    if (end.isExpected || this.#isClosed) return;
    const backoffMs = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#startableAt = performance.now() + backoffMs;
    if (!end.wasReady) {
      this.#startFailure = `the process that drives it did not start: ${end.reason}`;
      // Started without being wanted, to notice when it works again.
      this.#tryLater(backoffMs);
    }
    this.#options.onHealth();
  }

  #tryLater(ms: number): void {
    if (this.#isClosed) return;
    setTimeout(() => {
      if (this.#isClosed || this.#running !== null) return;
      this.#starting ??= this.#startProcess().finally(() => {
        this.#starting = null;
      });
      this.#starting.catch(() => undefined);
    }, ms).unref();
  }

  #restLater(): void {
    const { idleMs } = this.#options;
    if (idleMs === null || this.#isClosed) return;
    this.#idleTimer = setTimeout(() => {
      if (this.#underWay > 0) return;
      const idle = this.#running;
      this.#running = null;
      this.#retiring = idle?.close();
    }, idleMs);
    this.#idleTimer.unref();
  }
}

function sumOf(
  one: Readonly<Record<string, number>>,
  other: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum: Record<string, number> = { ...one };
  for (const [name, value] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}
