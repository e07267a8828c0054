import { z } from 'zod';
import { isPluginPart, type PluginPart, pluginPart } from '../../core/config/plugin-part.ts';
import { WEBHOOK_FORMATS, type WebhookFormat } from '../../core/ports/webhook-store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import {
  eventsField,
  webhookHeadersField,
  webhookSecretField,
  webhookUrlField,
} from '../jobs/request/webhook-fields.ts';
import type { Deliverer, Deliverers } from './deliverer.ts';
import { readMailto } from './mail.ts';
import { secretProblem } from './webhook-secrets.ts';

const fields = {
  url: webhookUrlField.describe('Where events are sent: an http or https URL, or `mailto:address`.'),
  events: eventsField.describe('Types of events, or patterns such as `job.*`, `monitor.*` and `*`.'),
  format: z
    .union([z.enum(WEBHOOK_FORMATS), pluginPart])
    .optional()
    .describe(
      'What is sent: `json`, or a short message for people by an incoming webhook of Slack, Discord or Teams, by ntfy, or ' +
        'by e-mail. `email` for `mailto:` and `json` for the rest unless given. The channel of a plug-in has the name of ' +
        'the plug-in in front, such as `pager:sms`, and takes the addresses that the plug-in knows.',
    ),
  headers: webhookHeadersField.optional().describe('Sent along, such as `Authorization`. Never shown again.'),
};

export const webhookRequestSchema = z
  .strictObject({
    ...fields,
    secret: webhookSecretField
      .optional()
      .describe(
        'Signs what is sent: 16 characters or more, or `whsec_` and a key in base64. Made unless given.',
      ),
  })
  .meta({
    id: 'WebhookRequest',
    examples: [{ url: 'https://receiver.example/scrapifie', events: ['job.*'] }],
  });

export const webhookChangeSchema = z
  .strictObject({
    url: fields.url
      .optional()
      .describe(
        'Where events are sent. With another origin the webhook gets a new secret, and headers that it has must be given anew.',
      ),
    events: fields.events.optional(),
    format: fields.format.describe(
      'What is sent. With another format the webhook gets a new secret, and headers that it has must be given anew; from ' +
        'a chat to `json`, `url` must be given as well.',
    ),
    headers: fields.headers.describe(
      'In place of all that it has; `{}`: none. Left out, they stay; `SECRETS_BOUND` when the origin of `url` or the format ' +
        'changes and it has any.',
    ),
    secret: webhookSecretField
      .optional()
      .describe(
        'Only with another origin or format: the new secret, in place of one that is made. Otherwise use `rotate`.',
      ),
    enabled: z.boolean().optional().describe('False: nothing is sent, and open deliveries end as failed.'),
  })
  .meta({ id: 'WebhookUpdate', examples: [{ events: ['job.completed', 'job.failed'] }] });

export const rotationRequestSchema = z
  .strictObject({
    secret: webhookSecretField.optional().describe('The new secret; made unless given.'),
    overlapHours: z
      .number()
      .int()
      .min(0)
      .max(720)
      .default(24)
      .describe('Hours for which messages are signed with the former secret as well.'),
  })
  .meta({ examples: [{ overlapHours: 24 }] });

export type WebhookRequest = z.output<typeof webhookRequestSchema>;
export type WebhookPatch = z.output<typeof webhookChangeSchema>;
export type RotationRequest = z.output<typeof rotationRequestSchema>;

export interface WebhookTarget {
  readonly url: string;
  readonly format: WebhookFormat;
  /** For showing: addresses of chats are secrets themselves. */
  readonly shown: string;
}

/**
 * Throws VALIDATION_FAILED where the address is none, or not one of the format. `deliverers`: channels of plug-ins; left out
 * where they are not known, because another process sends.
 */
export function readTarget(
  given: string,
  wanted: WebhookFormat | undefined,
  deliverers?: Deliverers,
): WebhookTarget {
  const url = URL.parse(given);
  const refuse = (message: string, field = 'url') => invalidRequest([{ field, message }]);
  if (wanted !== undefined && isPluginPart(wanted)) return pluginTarget(url, wanted, deliverers);
  if (url === null) throw refuse('Must be an http or https URL, or `mailto:` and an address.');
  if (url.protocol === 'mailto:') {
    if (readMailto(given) === null) {
      throw refuse(
        'Must be `mailto:` and one address, without anything else: no control characters, spaces or line breaks, encoded or not.',
      );
    }
    if (wanted !== undefined && wanted !== 'email') throw refuse('Must be `email` for `mailto:`.', 'format');
    return { url: given, format: 'email', shown: given };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refuse('Must be an http or https URL, or `mailto:` and an address.');
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('Must have no user and password; send them by `headers`.');
  }
  const format = wanted ?? 'json';
  if (format === 'email') throw refuse('Must not be `email` for a URL; use `mailto:`.', 'format');
  if (format === 'ntfy' && !/^\/[\w-]{1,64}$/.test(url.pathname)) {
    throw refuse('Must be the address of a topic, such as https://ntfy.sh/topic.');
  }
  url.hash = '';
  return { url: url.href, format, shown: format === 'json' ? url.href : `${url.origin}/[hidden]` };
}

function pluginTarget(
  url: URL | null,
  format: PluginPart,
  deliverers: Deliverers | undefined,
): WebhookTarget {
  const refuse = (message: string, field = 'url') => invalidRequest([{ field, message }]);
  if (url === null) throw refuse('Must be a URL, such as https://… or tel:….');
  const deliverer = deliverers?.get(format);
  if (deliverers !== undefined && deliverer === undefined) {
    throw refuse('No plug-in of this installation has the channel (SCRAPIFIE_PLUGINS).', 'format');
  }
  const refusal = refusalOf(deliverer, url.href);
  if (refusal !== null) throw refuse(refusal);
  return { url: url.href, format, shown: `${url.protocol}[hidden]` };
}

/** A plug-in that throws over an address refuses it. */
function refusalOf(deliverer: Deliverer | undefined, url: string): string | null {
  try {
    return deliverer?.refuse?.(url) ?? null;
  } catch (error) {
    return `The plug-in threw: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Returns the e-mail address in a URL that `readTarget` has accepted. */
export const mailAddressOf = (url: string): string => readMailto(url) ?? '';

/** Throws VALIDATION_FAILED where the address is not that of a web server. */
export function readJobTarget(given: string): WebhookTarget {
  if (/^https?:/i.test(given)) return readTarget(given, 'json');
  throw invalidRequest([{ field: 'webhook.url', message: 'Must be an http or https URL.' }]);
}

export function requireSecret(secret: string | undefined, field = 'secret'): void {
  const problem = secret === undefined ? null : secretProblem(secret);
  if (problem !== null) throw invalidRequest([{ field, message: problem }]);
}
