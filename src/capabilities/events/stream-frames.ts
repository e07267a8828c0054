import type { Job } from '../../core/model/job.ts';
import {
  type EventCursor,
  type EventPageSummary,
  eventPlaceOf,
  type JobEventData,
  type PagesEventData,
  parseEventCursor,
  type StoredEvent,
} from '../../core/ports/event-store.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { Waiting } from '../jobs/waits/waiting.ts';

/**
 * Where a listener of a stream stands, as the id of the last event that it got: the cursor of a stored event, and how many
 * of its pages the listener has where the event is about several.
 */
export interface StreamPosition {
  readonly cursor: EventCursor;
  /** 0: the whole event. */
  readonly taken: number;
}

const POSITION = /^([0-9a-z-]{5,35})(?:\.([1-9]\d{0,5}))?$/;

/** Null when the text is no position that a stream gave out. */
export function parsePosition(text: string): StreamPosition | null {
  const [, cursor = '', taken] = POSITION.exec(text) ?? [];
  if (parseEventCursor(cursor) === null) return null;
  return { cursor: cursor as EventCursor, taken: taken === undefined ? 0 : Number(taken) };
}

export const positionText = ({ cursor, taken }: StreamPosition): string =>
  taken === 0 ? cursor : `${cursor}.${taken}`;

/** The cursor after which the event of the position itself is listed again. */
export function cursorBefore({ cursor }: StreamPosition): EventCursor {
  const { era, tx, seq } = eventPlaceOf(cursor);
  return seq === 0 ? cursor : ([era, tx, seq - 1].map((part) => part.toString(36)).join('-') as EventCursor);
}

/** What a stream may carry beside the events of the registry. */
export const STREAM_ONLY_TYPES = ['progress', 'log'] as const;

/** Which types a listener wants; null: all. A name that ends in `.*` stands for all that begin so. */
export type WantedTypes = readonly string[] | null;

export const isWanted = (wanted: WantedTypes, type: string): boolean =>
  wanted?.some((each) => each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1)))) ??
  true;

/** Where clients find what an event is about. */
export interface EventLinks {
  job(jobId: string): string;
  page(jobId: string, pageSeq: number): string;
}

/** One event of a stream as it is sent: server-sent events, https://html.spec.whatwg.org/multipage/server-sent-events.html */
export function frame(type: string, data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Moves the position of the client without an event. */
export const positionFrame = (id: string): string => `id: ${id}\n\n`;

/** An event that is stored as one, such as the end of a job. */
export function storedFrame(event: StoredEvent, links: EventLinks): string {
  const { jobId, type, at, data } = event;
  const ofJob = jobId === null ? {} : { jobId };
  const shown = type.startsWith('job.') ? jobData(data as unknown as JobEventData) : data;
  return frame(
    type,
    { ...ofJob, at: isoTime(at), ...shown, ...(jobId === null ? {} : { links: { self: links.job(jobId) } }) },
    event.cursor,
  );
}

const jobData = ({ kind, status, stopReason, counters }: JobEventData) => ({
  kind,
  status,
  stopReason,
  progress: counters,
});

/** One frame for each page that the event names, those before `taken` and those that are gone left out. */
export function pageFrames(
  event: StoredEvent,
  pages: ReadonlyMap<number, EventPageSummary>,
  links: EventLinks,
  wanted: WantedTypes,
  taken = 0,
): string {
  const jobId = event.jobId ?? '';
  let text = '';
  for (const [index, seq] of pageSeqsOf(event).entries()) {
    const page = index < taken ? undefined : pages.get(seq);
    if (page === undefined) continue;
    const type = page.errorCode === null ? 'page.done' : 'page.failed';
    if (!isWanted(wanted, type)) continue;
    const id = positionText({ cursor: event.cursor, taken: index + 1 });
    text += frame(type, pageData(jobId, page, links), id);
  }
  return text;
}

export const pageSeqsOf = ({ type, data }: StoredEvent): readonly number[] =>
  type === 'pages.committed' ? (data as unknown as PagesEventData).pages : [];

/** Short: it is sent to every listener. The rest of the page is behind the link. */
function pageData(jobId: string, page: EventPageSummary, links: EventLinks) {
  const { url, finalUrl, statusCode, title, duplicateOf, errorCode, errorMessage } = page;
  return {
    jobId,
    url,
    ...(finalUrl === url ? {} : { finalUrl }),
    statusCode,
    title,
    ...(duplicateOf === null ? {} : { duplicateOf }),
    ...(errorCode === null ? {} : { errorCode, errorMessage }),
    links: { result: links.page(jobId, page.seq) },
  };
}

/** How far a job is. It has no id: a client that comes back gets the newest one anyway. */
export function progressFrame({ id, status, counters }: Job): string {
  const { claimed, ...progress } = counters;
  return frame('progress', { jobId: id, status, progress: { ...progress, underWay: claimed } });
}

/** What open URLs of a job wait for, as sentences. */
export const logFrames = (job: Job, waiting: readonly Waiting[]): string =>
  waiting
    .map(({ host, code, message, until, tasks }) =>
      frame('log', { jobId: job.id, level: 'info', code, message, host, until: isoTime(until), tasks }),
    )
    .join('');

/** Nothing follows: the client need not come back. */
export const endFrame = (jobId: string, job: Job | null): string =>
  frame('end', { jobId, status: job === null ? 'deleted' : job.status });

export const gapFrame = (): string =>
  frame('gap', {
    message:
      'Events between the last one you have and the next one were removed because of their age. Read the jobs themselves for what you missed.',
  });

/** An event as a client of a stream gets it. */
export interface StreamEvent {
  /** Id of the last event that had one, as `Last-Event-ID` takes it; null before the first. */
  readonly id: string | null;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events of a stream of server-sent events. Half an event at the end is left out, as the format demands. */
export async function* parseEventStream(chunks: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let rest = '';
  let id: string | null = null;
  for await (const chunk of chunks) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = fieldsOf(block);
      id = fields.get('id') ?? id;
      const data = fields.get('data');
      if (data !== undefined) {
        yield { id, type: fields.get('event') ?? 'message', data: JSON.parse(data) as StreamEvent['data'] };
      }
    }
  }
}

/** Lines that begin with a colon are comments. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  return fields;
}
