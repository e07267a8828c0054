import { z } from 'zod';
import { isEventPattern, JOB_END_EVENTS, WEBHOOK_EVENTS } from '../../../core/model/event-types.ts';
import { FORBIDDEN_HEADERS } from '../../../fetch/http/request-headers.ts';
import { secretField } from '../../sessions/secret-fields.ts';

/** Fields that an endpoint and the webhook of a single request share. */

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]{0,4096}$/;
/** What the sender writes itself. */
const OWN_HEADERS = /^(?:content-type|content-encoding|webhook-.*|x-webhook-.*)$/;

const eventPattern = z
  .string()
  .max(100)
  .refine(isEventPattern, `Must be one of ${WEBHOOK_EVENTS.join(', ')}, or a pattern such as job.* or *.`);

export const eventsField = z.array(eventPattern).min(1).max(50);

export const webhookUrlField = z.string().min(1).max(2_048);

export const webhookSecretField = secretField(
  'webhook.secret',
  z
    .string()
    .max(200)
    .regex(/^[\x21-\x7e]+$/, 'Must be printable characters without spaces.'),
);

export const webhookHeadersField = secretField(
  'webhook.headers',
  z
    .record(
      z
        .string()
        .regex(HEADER_NAME, 'Must be the name of a header.')
        .refine(
          (name) => !FORBIDDEN_HEADERS.has(name.toLowerCase()) && !OWN_HEADERS.test(name.toLowerCase()),
          'Must not be a header that the sender sets itself.',
        ),
      z.string().regex(HEADER_VALUE, 'Must be the value of a header.'),
    )
    .refine((headers) => Object.keys(headers).length <= 20, 'Must have 20 entries at most.'),
);

/** `webhook` of a request: for the events of that job, in place of the account's webhooks. */
export const jobWebhookField = z
  .strictObject({
    url: webhookUrlField.describe('Where the events of this job are sent: an http or https URL.'),
    events: eventsField
      .default([...JOB_END_EVENTS])
      .describe('Types of events, or patterns such as `page.*`; the ends of the job unless given.'),
    secret: webhookSecretField
      .optional()
      .describe('Signs what is sent. Without one, messages are not signed.'),
    headers: webhookHeadersField.optional().describe('Sent along, such as `Authorization`.'),
  })
  .meta({ id: 'JobWebhook' })
  .optional()
  .describe(
    'Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks.',
  );

export interface JobWebhook extends NonNullable<z.output<typeof jobWebhookField>> {
  /** Set by the program alone: how messages are written for clients of another API. See `MessageShape`. */
  readonly shape?: WebhookShape;
}

export interface WebhookShape {
  readonly name: string;
  /** What the writer of the messages needs to know of the request. */
  readonly note: Readonly<Record<string, unknown>>;
}
