import { createHmac } from 'node:crypto';
import type { JobWebhook } from '../../../capabilities/jobs/request/webhook-fields.ts';
import type { MessageShape } from '../../../capabilities/webhooks/message.ts';
import type { Settings } from '../../../core/config/settings.ts';
import { type AccountId, DEFAULT_ACCOUNT } from '../../../core/model/ids.ts';
import { defined } from '../../../lib/defined.ts';
import type { Webhook } from './request/crawl-options.ts';
import { documentOf, storedViewOf } from './view/document.ts';

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
