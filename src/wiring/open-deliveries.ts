import { setTimeout as pause } from 'node:timers/promises';
import { createJobReader } from '../capabilities/jobs/results/job-reader.ts';
import type { Vault } from '../capabilities/sessions/vault.ts';
import type { Deliverers } from '../capabilities/webhooks/deliverer.ts';
import { createDeliveries, type Deliveries } from '../capabilities/webhooks/deliveries.ts';
import { createMailer } from '../capabilities/webhooks/mailer.ts';
import { ATTEMPT_MS, SENDER_HEADERS } from '../capabilities/webhooks/send-attempt.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Metrics } from '../core/observe/metrics.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Bus } from '../core/ports/bus.ts';
import type { Store } from '../core/ports/store.ts';
import { createHttpEngine } from '../fetch/http/http-engine.ts';
import { siteOwnerContact, userAgentFor } from '../fetch/user-agent.ts';
import { FIRECRAWL_MESSAGES } from '../http/compat/firecrawl/webhook-message.ts';
import { VERSION } from '../version.ts';

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
