import { setTimeout as pause } from 'node:timers/promises';
import { createDiffLane, type DiffLane } from '../capabilities/compare/diff-lane.ts';
import { exportsAtJobEnd } from '../capabilities/exports/exports.ts';
import { createJobReader } from '../capabilities/jobs/results/job-reader.ts';
import type { LakeReader } from '../capabilities/lake/read-events.ts';
import { createDecideLane, type DecideLane } from '../capabilities/monitors/decide-lane.ts';
import { createSearchReader } from '../capabilities/query/search/search-reader.ts';
import {
  createEventReader,
  type EventReader,
  type EventReaderDeps,
} from '../capabilities/readers/event-reader.ts';
import type { Vault } from '../capabilities/sessions/vault.ts';
import type { Deliverers } from '../capabilities/webhooks/deliverer.ts';
import { createDeliveries, type Deliveries } from '../capabilities/webhooks/deliveries.ts';
import { createMailer } from '../capabilities/webhooks/mail.ts';
import { ATTEMPT_MS, SENDER_HEADERS } from '../capabilities/webhooks/send-attempt.ts';
import type { Settings } from '../core/config/settings.ts';
import type { ReaderName } from '../core/model/derived.ts';
import type { Logger } from '../core/observe/logger.ts';
import { createLoopShare } from '../core/observe/loop-watch.ts';
import type { Metrics } from '../core/observe/metrics.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Bus } from '../core/ports/bus.ts';
import type { SearchIndex } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';
import { createHttpEngine } from '../fetch/http/http-engine.ts';
import { siteOwnerContact, userAgentFor } from '../fetch/user-agent.ts';
import { FIRECRAWL_MESSAGES } from '../http/compat/firecrawl/view/job-status.ts';
import { VERSION } from '../version.ts';

export interface ReaderParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly search: SearchIndex;
  /** Host slices that this process works on. */
  readonly activeSlices: () => number;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** False: the caller writes the exports of its jobs. */
  readonly writesExports: boolean;
  /** Names this process among others that share the store; null: there are no others. */
  readonly owner: string | null;
  readonly lake: LakeReader;
}

/** The readers of events of a process that has the duty. */
export interface Readers {
  start(): void;
  /** Reads nothing more and waits for what is under way, up to `limitMs`. */
  stop(limitMs: number): Promise<void>;
  /** Resolves when everything was read that could be read when this was called, or they were stopped. */
  settle(): Promise<void>;
  /** How far each reader is behind, see `EventReader.lagMs`. */
  lags(): readonly { readonly reader: ReaderName; readonly lagMs: number }[];
}

/** What one reader does with the events of the jobs that ask for it. */
type ReaderPart = Pick<EventReaderDeps, 'follows' | 'isBusy' | 'apply'>;

/** What the readers do, each by its name. */
const partsOf = (
  { store, blobs, search, activeSlices, bus, logger, metrics, lake, writesExports }: ReaderParts,
  lane: DiffLane,
  decideLane: DecideLane,
): Partial<Record<ReaderName, ReaderPart>> => {
  const loopShare = createLoopShare();
  // A crawl at the pace of its hosts leaves time for readers; one that keeps the machine busy comes first.
  const isBusy = () => activeSlices() > 0 && loopShare() >= BUSY_SHARE;
  return {
    snapshots: {
      isBusy,
      apply: lazily(async () => {
        const { createSnapshotReader } = await import('../capabilities/snapshots/snapshot-reader.ts');
        return createSnapshotReader({ store, blobs, logger }).apply;
      }),
    },
    search: { isBusy, apply: createSearchReader(store, search) },
    lake: { isBusy, apply: lake.apply },
    ...(writesExports ? { exports: { apply: exportsAtJobEnd({ store, bus }) } } : {}),
    monitors: {
      follows: 'snapshots',
      apply: lazily(async () => {
        const { createMonitorReader } = await import('../capabilities/monitors/evaluate-check.ts');
        const { createPageComparer } = await import('../capabilities/compare/page-comparer.ts');
        const comparer = createPageComparer(blobs, lane);
        return createMonitorReader({ store, comparer, lane: decideLane, metrics });
      }),
    },
  };
};

/** From this share of its time on, an event loop that crawls has none to spare. */
const BUSY_SHARE = 0.1;

/**
 * A reader that is loaded with its first events. What snapshots and monitors read pages by is a third of all code that a
 * process would load, and most jobs ask for neither.
 */
function lazily(load: () => Promise<ReaderPart['apply']>): ReaderPart['apply'] {
  let loading: ReturnType<typeof load> | undefined;
  return async (events, range) => {
    loading ??= load();
    return (await loading)(events, range);
  };
}

export function openReaders(parts: ReaderParts): Readers {
  const { store, bus, logger, owner } = parts;
  // Pages are compared in threads of their own, which start with the first of them.
  const lane = createDiffLane();
  const decideLane = createDecideLane();
  const readers: EventReader[] = Object.entries(partsOf(parts, lane, decideLane)).map(([name, part]) =>
    createEventReader({
      name: name as ReaderName,
      store,
      bus,
      logger,
      owner,
      clock: () => performance.now(),
      ...part,
    }),
  );
  const all = async (work: (reader: EventReader) => Promise<void>) =>
    void (await Promise.all(readers.map(work)));
  return {
    start() {
      for (const reader of readers) reader.start();
    },
    async stop(limitMs) {
      await all((reader) => reader.stop(limitMs));
      await Promise.all([lane.close(), decideLane.close()]);
    },
    settle: () => all((reader) => reader.settle()),
    lags: () => readers.map(({ name, lagMs }) => ({ reader: name, lagMs: lagMs() })),
  };
}

export interface DeliveryParts {
  readonly settings: Settings;
  readonly deliverers: Deliverers;
  readonly store: Store;
  readonly blobs: Blobs;
  readonly bus: Bus;
  readonly vault: Vault | null;
  readonly now: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface OpenDeliveries extends Deliveries {
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

/** The sender of webhooks of a process that has the duty, with connections of its own: a crawl does not wait for them. */
export function openDeliveries({ settings, deliverers, ...parts }: DeliveryParts): OpenDeliveries {
  const { allowPrivate, smtpUrl, smtpFrom, publicUrl } = settings;
  const web = createHttpEngine({
    userAgent: userAgentFor(VERSION, siteOwnerContact(settings)),
    headers: SENDER_HEADERS,
    allowPrivate,
  });
  const mailer =
    smtpUrl === undefined || smtpFrom === undefined
      ? null
      : createMailer({ url: smtpUrl, from: smtpFrom, timeoutMs: ATTEMPT_MS });
  const { store, blobs, now } = parts;
  const deliveries = createDeliveries({
    ...parts,
    sender: {
      ...{ web, mailer, deliverers, now, shapes: FIRECRAWL_MESSAGES },
      origin: publicUrl?.replace(/\/+$/, '') ?? '',
    },
    contents: { store, reader: createJobReader(store, blobs) },
    clock: () => performance.now(),
    random: Math.random,
    pause,
    keepMs: settings.deliveryDays * DAY_MS,
  });
  return {
    ...deliveries,
    async close() {
      mailer?.close();
      await web.close();
    },
  };
}
