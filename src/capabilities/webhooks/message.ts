import { isJobEnd } from '../../core/model/event-types.ts';
import type { TaskId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import type { Store } from '../../core/ports/store.ts';
import type { DeliveryEvent } from '../../core/ports/webhook-store.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { JobReader } from '../jobs/results/job-reader.ts';
import type { PageResult } from '../jobs/results/page-result.ts';

/** Where the API is reached from outside; empty where that is not known: links are paths then. */
export type PublicOrigin = string;

/** Writes the events of webhooks as another API sends them. `secrets`: those that are valid now, the newest first. */
export type MessageShape = (told: {
  readonly event: DeliveryEvent;
  readonly contents: EventContents;
  readonly webhookId: string;
  readonly note: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
}) => { readonly body: string; readonly headers: Readonly<Record<string, string>> };

/**
 * The JSON that is sent for an event. What the event says of itself was stored with it and is the same in every attempt;
 * results are those that are stored when it is sent.
 */
export function messageOf(event: DeliveryEvent, contents: EventContents, origin: PublicOrigin): string {
  const { id, type, at, jobId } = event;
  return JSON.stringify({
    id,
    type,
    timestamp: isoTime(at),
    data:
      jobId === null
        ? event.data
        : isOfMonitor(type)
          ? monitorData(event, origin)
          : jobData(event, contents, origin),
  });
}

const isOfMonitor = (type: string): boolean => type.startsWith('monitor.');

const monitorData = ({ jobId, data }: DeliveryEvent, origin: PublicOrigin) => ({
  jobId,
  ...data,
  links: { ...monitorLinks(String(data.monitorId), origin), job: jobLinks(String(jobId), origin).self },
});

function jobData({ type, jobId, data }: DeliveryEvent, contents: EventContents, origin: PublicOrigin) {
  const { job, results, omitted } = contents;
  const links = jobLinks(String(jobId), origin);
  if (type.startsWith('page.')) {
    const [page] = results ?? [];
    const { monitorId, changeId } = data;
    const ofChange =
      typeof monitorId === 'string' && typeof changeId === 'string'
        ? { change: `${monitorLinks(monitorId, origin).changes}?change=${changeId}` }
        : {};
    return {
      jobId,
      ...data,
      page: page ?? null,
      ...(omitted === null ? {} : { pageOmitted: omitted }),
      links: { ...links, ...ofChange },
    };
  }
  const { counters, ...rest } = data;
  const told = { jobId, ...rest, ...(job === null ? {} : { seeds: job.seeds }), summary: counters ?? {} };
  if (results === null && omitted === null) return { ...told, links };
  return { ...told, results, ...(omitted === null ? {} : { resultsOmitted: omitted }), links };
}

export const monitorLinks = (monitorId: string, origin: PublicOrigin) => ({
  self: `${origin}/v1/monitors/${monitorId}`,
  changes: `${origin}/v1/monitors/${monitorId}/changes`,
});

export const jobLinks = (jobId: string, origin: PublicOrigin) => ({
  self: `${origin}/v1/jobs/${jobId}`,
  results: `${origin}/v1/jobs/${jobId}/results`,
});

/** The message about a job with more tasks has a summary and links. */
const MOST_INLINE_TASKS = 100;
/** Results that are longer together are not sent along. */
const MOST_RESULT_BYTES = 4_194_304;

/** What belongs to an event and is read when it is sent. */
export interface EventContents {
  readonly job: Job | null;
  /** Every result of a job that has ended, or the one of a page; null when they are left out. */
  readonly results: readonly PageResult[] | null;
  /** Why they are left out; null when they are not, or the event has none. */
  readonly omitted: 'tasks' | 'bytes' | 'credentials' | 'deleted' | null;
}

export interface ContentsParts {
  readonly store: Pick<Store, 'getJob' | 'getPage'>;
  readonly reader: Pick<JobReader, 'eachResult' | 'resultOf'>;
}

/**
 * What is told of an event beside its contents. Of a page that only keys with access to credentials may read, or whose job is
 * gone, so that this is unknown, it is where the page is and how its fetch ended: no title, nor anything else that the site sent.
 */
export function toldData(
  { type, data }: DeliveryEvent,
  { omitted, job }: EventContents,
): DeliveryEvent['data'] {
  if (!type.startsWith('page.') || (omitted !== 'credentials' && job !== null)) return data;
  return Object.fromEntries(TOLD_OF_PRIVATE.flatMap((name) => (name in data ? [[name, data[name]]] : [])));
}

const TOLD_OF_PRIVATE = [
  'taskId',
  'url',
  'statusCode',
  'fetchedAt',
  'errorCode',
  'monitorId',
  'monitorName',
  'changeId',
  'kind',
] as const;

const NOTHING: EventContents = { job: null, results: null, omitted: null };

/** The number of URLs a job was about. A crawl also knows URLs that its own rules have left out, and those are not counted. */
function taskCountOf({ kind, counters }: Pick<Job, 'kind' | 'counters'>): number {
  const { known, pages, failed, denied, cancelled, open } = counters;
  return traitsOfKind(kind).follows !== 'nothing' ? pages + failed + denied + cancelled + open : known;
}

export async function readContents(event: DeliveryEvent, parts: ContentsParts): Promise<EventContents> {
  if (event.jobId === null) return NOTHING;
  const job = await parts.store.getJob(event.jobId);
  const isPage = event.type.startsWith('page.');
  const hasResults = isPage || isJobEnd(event.type);
  if (job === null) return { ...NOTHING, omitted: hasResults ? 'deleted' : null };
  if (!hasResults) return { ...NOTHING, job };
  // Such pages are for keys that may read credentials; a receiver has none.
  const isPrivate = job.options.credentials === 'read' && job.options.page.session !== null;
  if (isPrivate) return { job, results: null, omitted: 'credentials' };
  if (isPage) return readPage(event, job, parts);
  if (taskCountOf(job) > MOST_INLINE_TASKS) return { job, results: null, omitted: 'tasks' };
  const results: PageResult[] = [];
  let bytes = 0;
  for await (const result of parts.reader.eachResult(job)) {
    bytes += Buffer.byteLength(JSON.stringify(result));
    if (bytes > MOST_RESULT_BYTES) return { job, results: null, omitted: 'bytes' };
    results.push(result);
  }
  return { job, results, omitted: null };
}

async function readPage(
  event: DeliveryEvent,
  job: Job,
  { store, reader }: ContentsParts,
): Promise<EventContents> {
  const { taskId } = event.data;
  const page = typeof taskId === 'number' ? await store.getPage(job.id, taskId as TaskId) : null;
  if (page === null) return { job, results: null, omitted: 'deleted' };
  const result = await reader.resultOf(page, job);
  const isLong = Buffer.byteLength(JSON.stringify(result)) > MOST_RESULT_BYTES;
  return isLong ? { job, results: null, omitted: 'bytes' } : { job, results: [result], omitted: null };
}
