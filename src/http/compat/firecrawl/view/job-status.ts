import { createHmac } from 'node:crypto';
import type { Jobs } from '../../../../capabilities/jobs/jobs.ts';
import type { JobWebhook } from '../../../../capabilities/jobs/request/webhook-fields.ts';
import type { PageResult } from '../../../../capabilities/jobs/results/page-result.ts';
import type { MessageShape } from '../../../../capabilities/webhooks/message.ts';
import type { Settings } from '../../../../core/config/settings.ts';
import { creditsOf } from '../../../../core/model/credits.ts';
import { type AccountId, DEFAULT_ACCOUNT } from '../../../../core/model/ids.ts';
import type { Job, JobStatus } from '../../../../core/model/job.ts';
import { defined } from '../../../../lib/defined.ts';
import { isoTime } from '../../../../lib/iso-time.ts';
import type { Webhook } from '../request/crawl-options.ts';
import { changeTrackingOf, type TrackingParts } from './change-tracking.ts';
import { type Document, documentOf, storedViewOf } from './document.ts';

export interface StatusParts extends TrackingParts {
  readonly jobs: Pick<Jobs, 'read'>;
  readonly isV1: boolean;
}

/** A place among the documents of a job: behind a page of the list, and `skip` documents further. */
export interface Position {
  readonly after?: string | undefined;
  readonly skip: number;
}

export interface DocumentSlice {
  readonly documents: readonly Document[];
  /** Where the next one begins, or will begin once there is one. */
  readonly next: Position;
  /** Whether there is one already. */
  readonly isMore: boolean;
}

/** An answer has no further page once it is this long. */
const MOST_BYTES = 10_485_760;
/** How many pages are read from the store at once. */
const STEP = 10;
const DAY_MS = 86_400_000;
/** What is kept without an end expires so late for clients that want a time. */
const ENDLESS_MS = 365 * DAY_MS;

/** A page that a site has answered; one without is among the errors. */
const isDocument = ({ statusCode }: PageResult): boolean => statusCode !== null;

/** The documents of a crawl or batch, in the order in which they were stored. */
export async function documentsOf(
  job: Job,
  from: Position,
  parts: StatusParts,
  most = Number.POSITIVE_INFINITY,
): Promise<DocumentSlice> {
  const view = storedViewOf(job);
  const documents: Document[] = [];
  let { after, skip } = from;
  let bytes = 0;
  for (;;) {
    const limit = Math.max(1, Math.min(STEP, skip + most - documents.length));
    let seen = 0;
    const slice = await parts.jobs.read.results(job, { limit, cursor: after });
    for (const page of slice.items.filter(isDocument)) {
      seen += 1;
      if (seen <= skip) continue;
      const shown = documentOf(page, { jobId: job.id, view, isV1: parts.isV1 });
      const changeTracking = await changeTrackingOf(page, job, view, parts);
      const document = changeTracking === null ? shown : { ...shown, changeTracking };
      bytes += JSON.stringify(document).length;
      documents.push(document);
    }
    if (slice.nextCursor === null) {
      return { documents, next: { after, skip: Math.max(seen, skip) }, isMore: false };
    }
    after = slice.nextCursor;
    skip = Math.max(0, skip - seen);
    if (bytes >= MOST_BYTES || documents.length >= most)
      return { documents, next: { after, skip }, isMore: true };
  }
}

type ShownStatus = 'scraping' | 'completed' | 'failed' | 'cancelled';

/** A batch has done its work when every URL was tried; a crawl without any page has not. */
export function shownStatus({
  status,
  kind,
  finishedAt,
}: Pick<Job, 'status' | 'kind' | 'finishedAt'>): ShownStatus {
  if (status === 'cancelled') return 'cancelled';
  if (finishedAt === null) return 'scraping';
  const ended: Partial<Record<JobStatus, ShownStatus>> = {
    failed: kind === 'crawl' ? 'failed' : 'completed',
  };
  return ended[status] ?? 'completed';
}

/** The status without its documents. */
export function progressOf(job: Job) {
  const { pages, failed, open } = job.counters;
  const { createdAt, finishedAt } = job;
  const status = shownStatus(job);
  return {
    success: true as const,
    status,
    completed: pages + failed,
    total: pages + failed + (status === 'scraping' ? open : 0),
    creditsUsed: creditsOf(job.microcredits),
    expiresAt: expiryOf(job),
    createdAt: isoTime(createdAt),
    ...(finishedAt === null
      ? {}
      : { completedAt: isoTime(finishedAt), duration: (finishedAt - createdAt) / 1_000 }),
    ...(job.stopReason === null ? {} : { warning: `The job ended early: ${job.stopReason}.` }),
  };
}

function expiryOf({ createdAt, finishedAt, options }: Job): string {
  return isoTime((finishedAt ?? createdAt) + (options.retention?.jobsMs ?? ENDLESS_MS));
}

const SHAPE = 'firecrawl';

/** What messages of a job begin their type with. */
type Prefix = 'crawl' | 'batch_scrape' | 'extract';

const EVENTS: Readonly<Record<Webhook['events'][number], readonly string[]>> = {
  started: ['job.started'],
  page: ['page.done', 'page.failed'],
  completed: ['job.completed', 'job.partially_completed'],
  failed: ['job.failed'],
};

const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(EVENTS).flatMap(([name, events]) => events.map((event) => [event, name])),
);

/**
 * The webhook of a job, whose messages are written for clients of this API. They are signed with the secret of the request.
 * That of the settings signs for the operator's own account alone: with it, any other account could send signed messages
 * to its receiver.
 */
export function jobWebhookOf(
  webhook: Webhook | undefined,
  prefix: Prefix,
  account: AccountId,
  { firecrawlWebhookSecret }: Pick<Settings, 'firecrawlWebhookSecret'>,
): { readonly webhook?: JobWebhook } {
  if (webhook === undefined) return {};
  const { url, headers, metadata, events } = webhook;
  const secret = webhook.secret ?? (account === DEFAULT_ACCOUNT ? firecrawlWebhookSecret : undefined);
  return {
    webhook: {
      url,
      headers,
      events: events.flatMap((event) => EVENTS[event]),
      ...defined({ secret }),
      shape: { name: SHAPE, note: { prefix, metadata } },
    },
  };
}

const write: MessageShape = ({ event, contents, webhookId, note, secrets }) => {
  const { job, results } = contents;
  const isPage = event.type.startsWith('page.');
  const isFailed = event.type === 'job.failed' || event.type === 'page.failed';
  const documents =
    job === null || !isPage
      ? []
      : (results ?? []).map((page) => documentOf(page, { jobId: job.id, view: storedViewOf(job) }));
  const body = JSON.stringify({
    success: !isFailed,
    type: `${String(note.prefix)}.${NAMES[event.type] ?? event.type}`,
    id: event.jobId,
    webhookId,
    data: documents,
    ...(isFailed
      ? { error: String(event.data.errorMessage ?? event.data.errorCode ?? 'The job failed.') }
      : {}),
    metadata: note.metadata,
  });
  const [secret] = secrets;
  const signature = secret === undefined ? null : createHmac('sha256', secret).update(body).digest('hex');
  return { body, headers: signature === null ? {} : { 'x-firecrawl-signature': `sha256=${signature}` } };
};

export const FIRECRAWL_MESSAGES: Readonly<Record<string, MessageShape>> = { [SHAPE]: write };
