import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJobReader } from '../../src/capabilities/jobs/results/job-reader.ts';
import { createVault } from '../../src/capabilities/sessions/vault.ts';
import {
  type DeliveryWorkerDeps,
  LEASE_MS,
  workLane,
} from '../../src/capabilities/webhooks/delivery-worker.ts';
import { createMailer } from '../../src/capabilities/webhooks/mail.ts';
import { readOutbox } from '../../src/capabilities/webhooks/outbox-reader.ts';
import { createWebhooks, type Webhooks } from '../../src/capabilities/webhooks/webhooks.ts';
import type { AccountId, JobId } from '../../src/core/model/ids.ts';
import { createLogger } from '../../src/core/observe/logger.ts';
import type { NewEvent } from '../../src/core/ports/event-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { DeliveryDetail } from '../../src/core/ports/webhook-store.ts';
import { createBlobsFs } from '../../src/drivers/blobs-fs/blobs-fs.ts';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import type { PrivateAddresses } from '../../src/fetch/guard/address-guard.ts';
import { createHttpEngine } from '../../src/fetch/http/http-engine.ts';

/** Everything that sends webhooks, on a clock that the test sets. */
export interface DeliveryWorld {
  readonly store: Store;
  readonly webhooks: Webhooks;
  readonly account: AccountId;
  readonly lines: readonly string[];
  /** How the attempts ended, as the metrics count them. */
  readonly outcomes: readonly string[];
  now(): number;
  advance(ms: number): void;
  /** Says that a job of this id has ended, or anything else. */
  tell(type: NewEvent['type'], jobId: string | null, data?: Record<string, unknown>): Promise<void>;
  /** Reads the outbox and sends what is due, until nothing is. Returns the number of lanes. */
  send(): Promise<number>;
  /** Sets the clock to each next attempt in turn and makes it, until the delivery has ended or this time is over. */
  sendUntilEnd(id: string, limitMs?: number): Promise<DeliveryDetail>;
  /** The deliveries of a webhook, oldest first. */
  deliveries(webhookId: string): Promise<DeliveryDetail[]>;
  close(): Promise<void>;
}

export interface DeliveryWorldOptions {
  readonly allowPrivate?: PrivateAddresses;
  readonly smtpUrl?: string;
  readonly publicUrl?: string;
  readonly attemptMs?: number;
  /** Whether an e-mail address needs no confirmation; none does unless told. */
  readonly isMailAllowed?: (address: string) => boolean;
}

const CLAIM = { limit: 8, leaseMs: LEASE_MS, perWebhook: 4, perAccount: 8, after: null };
const ATTEMPT_MS = 400;

export async function openDeliveryWorld(options: DeliveryWorldOptions = {}): Promise<DeliveryWorld> {
  const {
    allowPrivate = true,
    smtpUrl,
    publicUrl = '',
    attemptMs = ATTEMPT_MS,
    isMailAllowed = () => true,
  } = options;
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-deliver-'));
  let time = Date.now();
  const now = () => time;
  const store = await createSqliteStore({ path: join(dir, 'scrapifie.db'), now });
  await store.migrate();
  const blobs = await createBlobsFs({ dir: join(dir, 'blobs') });
  const account = await store.defaultAccount();
  const vault = createVault('ab'.repeat(32));
  const web = createHttpEngine({ userAgent: 'test', allowPrivate });
  const mailer =
    smtpUrl === undefined
      ? null
      : createMailer({ url: smtpUrl, from: 'Scrapifie <bot@example.com>', timeoutMs: attemptMs });
  const lines: string[] = [];
  const outcomes: string[] = [];
  const logger = createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } });
  const webhooks = createWebhooks({
    store,
    vault,
    now,
    mail: mailer === null ? null : { isAllowed: isMailAllowed, origin: publicUrl },
  });
  const deps: DeliveryWorkerDeps = {
    store,
    vault,
    sender: { web, mailer, origin: publicUrl, now, attemptMs },
    contents: { store, reader: createJobReader(store, blobs) },
    now,
    clock: () => performance.now(),
    random: () => 0.5,
    pause: () => Promise.resolve(),
    logger,
    metrics: { deliveryAttempted: (outcome) => void outcomes.push(outcome) },
    isStopping: () => false,
  };

  async function send(): Promise<number> {
    while ((await readOutbox(store)).isMore);
    for (let count = 0; ; ) {
      const { lanes } = await store.claimLanes(CLAIM);
      if (lanes.length === 0) return count;
      count += lanes.length;
      const claimedAt = performance.now();
      await Promise.all(lanes.map((lane) => workLane(lane, claimedAt, deps)));
    }
  }

  return {
    store,
    webhooks,
    account,
    lines,
    outcomes,
    now,
    advance(ms) {
      time += ms;
    },
    tell: (type, jobId, data = {}) =>
      store.appendEvents([{ type, accountId: account, jobId: jobId as JobId | null, data }]),
    send,
    async sendUntilEnd(id, limitMs = Number.POSITIVE_INFINITY) {
      const until = time + limitMs;
      for (;;) {
        await send();
        const delivery = await webhooks.delivery(account, id);
        if (delivery.nextAttemptAt === null || delivery.nextAttemptAt > until) return delivery;
        time = Math.max(time, delivery.nextAttemptAt);
      }
    },
    async deliveries(webhookId) {
      const query = { accountId: account, webhookId: webhookId as never, limit: 1_000 };
      const { items } = await webhooks.deliveries(query);
      return Promise.all([...items].reverse().map(({ id }) => webhooks.delivery(account, id)));
    },
    async close() {
      mailer?.close();
      await web.close();
      await store.close();
      await blobs.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
