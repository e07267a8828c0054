import type { PluginPart } from '../config/plugin-part.ts';
import type { AccountId, DeliveryId, JobId, MonitorId, WebhookId } from '../model/ids.ts';
import type { ListPage } from './store.ts';

/**
 * A part of the store: webhooks (where events are sent), and deliveries (one event for one webhook).
 *
 * Deliveries of one webhook that belong to one lane are sent in the order in which they came, one at a time; lanes do not
 * wait for each other. A lane is leased while a process sends its first open delivery. A lease is a token that no other
 * lease has, and whatever is stored under a token that is no longer the lane's changes nothing. So a success that was
 * stored is final: no later holder of the lane gets that delivery.
 */
export interface WebhookStore {
  /** Stores the webhook and returns it. One with the same id stays as it was and is returned instead. */
  createWebhook(webhook: NewWebhook): Promise<StoredWebhook>;
  /** Null when there is none, or it belongs to another account. */
  getWebhook(account: AccountId, id: WebhookId): Promise<StoredWebhook | null>;
  /** Newest first. Webhooks of single jobs and monitors are not listed. */
  listWebhooks(query: WebhookQuery): Promise<ListPage<StoredWebhook>>;
  /** Replaces what may change of the webhook with this id and version; false when another writer was first or it is gone. */
  updateWebhook(account: AccountId, change: WebhookChange): Promise<boolean>;
  /** Deletes the webhook with all its deliveries. False when there is none. */
  deleteWebhook(account: AccountId, id: WebhookId): Promise<boolean>;
  /** The enabled webhooks of these accounts and of these monitors, and those of these jobs, disabled ones too. */
  webhooksFor(
    accounts: readonly AccountId[],
    jobs: readonly JobId[],
    monitors?: readonly MonitorId[],
  ): Promise<readonly StoredWebhook[]>;

  /** Up to where events have become deliveries; null: none has. */
  webhookCursor(): Promise<string | null>;
  /**
   * Adds the deliveries of the events between two cursors and moves the cursor on, all or nothing. False when the
   * cursor is no longer `after`, and nothing has happened then: another reader was first. Deliveries to webhooks that
   * are gone or disabled are left out, and so is a second one of the same event and webhook.
   */
  addDeliveries(batch: DeliveryBatch): Promise<boolean>;
  /**
   * Adds one that no event of the outbox brought: a test, one that is sent again, or the link of a confirmation. False
   * when the webhook is gone, or is disabled for another reason than `unconfirmed`.
   */
  addDelivery(delivery: NewDelivery): Promise<boolean>;

  /**
   * Leases lanes whose first open delivery is due, in turn over all webhooks: those behind `after` first, and `next`
   * says where the next call goes on. At most `perWebhook` lanes of one webhook and `perAccount` of one account are
   * leased at any time, over all processes; of a webhook whose last attempt failed, one.
   */
  claimLanes(
    how: LaneClaim,
  ): Promise<{ readonly lanes: readonly ClaimedLane[]; readonly next: WebhookId | null }>;
  /**
   * Stores how an attempt ended. A delivery that is to be tried again ends the lease; otherwise the lease goes on for
   * `leaseMs` and the next delivery of the lane is returned, null when there is none and the lease has ended. `isKept`
   * is false when the lease was lost: nothing was stored. After STORE_UNAVAILABLE it is unknown whether the end was stored;
   * repeating the call stores nothing twice.
   */
  finishAttempt(lane: LaneLease, end: AttemptEnd, leaseMs: number): Promise<FinishedAttempt>;
  /** Ends the lease; the lane is due at once. */
  releaseLane(lane: LaneLease): Promise<void>;
  /** Ends up to `limit` open deliveries of the lane as failed, and the lease. */
  abandonLane(lane: LaneLease, reason: string, limit: number): Promise<void>;
  /** Disables the webhook. False when it is disabled already, or gone. */
  disableWebhook(id: WebhookId, reason: DisabledReason): Promise<boolean>;

  /** Lists the deliveries of an account, the newest first. */
  listDeliveries(query: DeliveryQuery): Promise<ListPage<Delivery>>;
  /** Null when there is none, or it belongs to another account. */
  getDelivery(account: AccountId, id: DeliveryId): Promise<DeliveryDetail | null>;
  /** What waits to be sent, over all accounts. Counts 100,000 deliveries at most. */
  deliveryBacklog(): Promise<DeliveryBacklog>;
  /**
   * Deletes deliveries that ended before this time, and webhooks that were made before: those of jobs that have none left,
   * and those of monitors that are not there.
   */
  sweepDeliveries(endedBefore: number, limit: number): Promise<number>;
}

export interface DeliveryBacklog {
  readonly pending: number;
  /** How long the oldest of them has waited, by the store's clock; 0 when there is none. */
  readonly oldestMs: number;
}

export const WEBHOOK_FORMATS = ['json', 'slack', 'discord', 'teams', 'ntfy', 'email'] as const;
/** The format of a webhook; a name with a colon is that of a channel of a plug-in. */
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number] | PluginPart;

/**
 * user         as its owner asked
 * gone         the receiver answered 410
 * failing      nothing was delivered until the retries ended
 * unconfirmed  the owner of the e-mail address has not confirmed it
 */
export const DISABLED_REASONS = ['user', 'gone', 'failing', 'unconfirmed'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export interface NewWebhook {
  readonly id: WebhookId;
  readonly accountId: AccountId;
  /**
   * The job whose events alone the webhook gets, in place of the account's webhooks; null: the webhook is for no
   * single job.
   */
  readonly jobId: JobId | null;
  /**
   * The monitor whose events alone the webhook gets, besides the account's webhooks. Missing: the webhook is for no
   * single monitor.
   */
  readonly monitorId?: MonitorId;
  readonly format: WebhookFormat;
  /** Patterns of event types. */
  readonly events: readonly string[];
  /** The address for showing; the real one is in the data. */
  readonly target: string;
  /** Address, secrets and headers. The store never looks inside. */
  readonly data: Uint8Array;
}

export interface StoredWebhook extends NewWebhook {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  readonly disabledReason: DisabledReason | null;
  /** When the first of the attempts failed that have failed in a row; null when the last one succeeded. */
  readonly failingSince: number | null;
  /** Grows with every `updateWebhook`. */
  readonly version: number;
}

export interface WebhookChange extends Pick<NewWebhook, 'id' | 'format' | 'events' | 'target' | 'data'> {
  readonly version: number;
  readonly isEnabled: boolean;
}

export interface WebhookQuery {
  readonly accountId: AccountId;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** What happened, small: what belongs to it in full is read when it is sent. */
export interface DeliveryEvent {
  /** Equal for every webhook and every attempt. */
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly jobId: JobId | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface NewDelivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly accountId: AccountId;
  readonly lane: string;
  readonly event: DeliveryEvent;
  /** The delivery whose event is sent again; null for the first of an event. */
  readonly redeliveryOf: DeliveryId | null;
}

export interface DeliveryBatch {
  readonly after: string | null;
  readonly next: string;
  /** In the order in which they are to be sent. */
  readonly deliveries: readonly NewDelivery[];
}

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Delivery extends NewDelivery {
  readonly state: DeliveryState;
  /** How many attempts were made so far. */
  readonly attempts: number;
  readonly createdAt: number;
  readonly firstAttemptAt: number | null;
  readonly endedAt: number | null;
  /** Why it failed; null otherwise. */
  readonly reason: string | null;
}

export interface DeliveryDetail extends Delivery {
  /** When the lane is due again; null when the delivery has ended. */
  readonly nextAttemptAt: number | null;
  /** The last one that was sent; null before the first. */
  readonly request: SentRequest | null;
  readonly log: readonly AttemptRecord[];
}

/** The request as it was sent, without secrets and with its body cut. */
export interface SentRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bodyBytes: number;
}

export interface AttemptRecord {
  readonly at: number;
  readonly ms: number;
  /** Status code of HTTP or of SMTP; null when no answer came. */
  readonly statusCode: number | null;
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly answer: string;
}

export interface LaneClaim {
  readonly limit: number;
  readonly leaseMs: number;
  readonly perWebhook: number;
  readonly perAccount: number;
  readonly after: WebhookId | null;
}

export interface LaneLease {
  readonly webhookId: WebhookId;
  readonly lane: string;
  readonly token: string;
}

export interface ClaimedLane {
  readonly lease: LaneLease;
  readonly webhook: StoredWebhook;
  readonly delivery: Delivery;
}

export interface AttemptEnd {
  readonly deliveryId: DeliveryId;
  /** Number of the attempt; the first is 1. */
  readonly attempt: number;
  readonly record: AttemptRecord;
  readonly request: SentRequest;
  readonly outcome:
    | { readonly state: 'delivered' }
    | { readonly state: 'failed'; readonly reason: string }
    | { readonly state: 'pending'; readonly retryInMs: number };
}

export interface FinishedAttempt {
  readonly isKept: boolean;
  readonly next: Delivery | null;
}

export interface DeliveryQuery {
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}
