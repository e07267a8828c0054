import { type EventType, JOB_END_EVENTS } from '../../core/model/event-types.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { EventPageSummary, EventStore, StoredEvent } from '../../core/ports/event-store.ts';
import {
  cursorBefore,
  type EventLinks,
  isWanted,
  pageFrames,
  pageSeqsOf,
  positionFrame,
  positionText,
  type StreamPosition,
  storedFrame,
  type WantedTypes,
} from './stream-frames.ts';

/** What a stream is about. */
export interface StreamScope {
  readonly accountId: AccountId;
  /** The job whose events are read; null for every job of the account. */
  readonly jobId: JobId | null;
  readonly types: WantedTypes;
}

/** A stretch of a stream, ready to be sent to every listener that stands where it begins. */
export interface StreamSlice {
  readonly bytes: Buffer;
  readonly next: StreamPosition;
  /** Whether there may be more at once. */
  readonly isFull: boolean;
  /** Events that came after the position were removed because of their age. */
  readonly hasGap: boolean;
  /** Type of the last event up to `next`; null when there is none. */
  readonly lastType: EventType | null;
  /** When a job of the stream ended last, as far as its events up to `next` tell; null when none of them does. */
  readonly lastEndAt: number | null;
  /** Jobs that something happened to. */
  readonly jobs: ReadonlySet<JobId>;
}

export interface SliceReaderDeps {
  readonly store: Pick<EventStore, 'listEvents' | 'listEventPages'>;
  readonly links: EventLinks;
  /** Whether pages of the job may be shown to listeners of the stream. */
  readonly mayShowPages: (jobId: JobId) => Promise<boolean>;
}

/** Stored events of a slice at most, and pages after which a slice ends. */
const MOST_EVENTS = 100;
const MANY_PAGES = 1_000;
const ENDS: ReadonlySet<string> = new Set(JOB_END_EVENTS);

/** Reads the events after the position and writes them as they are sent. */
export async function readSlice(
  { store, links, mayShowPages }: SliceReaderDeps,
  { accountId, jobId, types }: StreamScope,
  from: StreamPosition | null,
): Promise<StreamSlice> {
  const found = await store.listEvents({
    accountId,
    jobId: jobId ?? undefined,
    // The event of the position comes again: some of its pages may be left, and its type says whether the job has ended.
    after: from === null ? null : cursorBefore(from),
    limit: MOST_EVENTS,
  });
  const isKnown = (event: StoredEvent) => event.cursor === from?.cursor && from.taken === 0;
  const taken = (event: StoredEvent) => (event.cursor === from?.cursor ? from.taken : 0);
  const { events, isCut } = bounded(found.items.filter((event) => !isKnown(event)));
  const pages = await pagesOf(store, events, mayShowPages, types);
  let text = '';
  for (const event of events) {
    if (event.type === 'pages.committed') text += pageFrames(event, pages, links, types, taken(event));
    else if (isWanted(types, event.type)) text += storedFrame(event, links);
  }
  const last = events.at(-1);
  const next =
    last === undefined ? (from ?? { cursor: found.next, taken: 0 }) : { cursor: last.cursor, taken: 0 };
  // So that a client that comes back begins there, also when it wanted none of these.
  if (last !== undefined && !text.includes(`id: ${last.cursor}`)) text += positionFrame(positionText(next));
  return {
    bytes: Buffer.from(text),
    next,
    isFull: isCut || found.items.length === MOST_EVENTS,
    hasGap: found.hasGap,
    lastType: (last ?? found.items.at(-1))?.type ?? null,
    lastEndAt: found.items.findLast(({ type }) => ENDS.has(type))?.at ?? null,
    jobs: new Set(events.flatMap((event) => (event.jobId === null ? [] : [event.jobId]))),
  };
}

/** As many as have not too many pages together. */
function bounded(events: readonly StoredEvent[]): { events: readonly StoredEvent[]; isCut: boolean } {
  let pages = 0;
  const end = events.findIndex((event) => {
    pages += pageSeqsOf(event).length;
    return pages >= MANY_PAGES;
  });
  return end === -1 || end === events.length - 1
    ? { events, isCut: false }
    : { events: events.slice(0, end + 1), isCut: true };
}

async function pagesOf(
  store: SliceReaderDeps['store'],
  events: readonly StoredEvent[],
  mayShowPages: SliceReaderDeps['mayShowPages'],
  types: WantedTypes,
): Promise<ReadonlyMap<number, EventPageSummary>> {
  const pages = new Map<number, EventPageSummary>();
  if (!isWanted(types, 'page.done') && !isWanted(types, 'page.failed')) return pages;
  const byJob = Map.groupBy(
    events.filter(({ type }) => type === 'pages.committed'),
    ({ jobId }) => jobId,
  );
  for (const [jobId, those] of byJob) {
    if (jobId === null || !(await mayShowPages(jobId))) continue;
    for (const page of await store.listEventPages(jobId, those.flatMap(pageSeqsOf)))
      pages.set(page.seq, page);
  }
  return pages;
}
