import type { AccountDeletionStore, AccountRecordStore } from '../../core/ports/account-store.ts';
import type { AnswerStore } from '../../core/ports/answer-store.ts';
import type { ReaderStore } from '../../core/ports/event-store.ts';
import type { ExportStore } from '../../core/ports/export-store.ts';
import type { PageKeyStore, SiteStore } from '../../core/ports/job-pages-store.ts';
import type { KeyStore, SignInStore } from '../../core/ports/key-store.ts';
import type { LakeStore } from '../../core/ports/lake-store.ts';
import type { MonitorStore } from '../../core/ports/monitor-store.ts';
import type { ReferenceStore } from '../../core/ports/retention-store.ts';
import type { ScheduleStore } from '../../core/ports/schedule-store.ts';
import type { SearchStore } from '../../core/ports/search-store.ts';
import type { SecretStore, SessionStore } from '../../core/ports/session-store.ts';
import type { OwnerRequestStore } from '../../core/ports/site-owner-store.ts';
import { accountDeletionStore } from './account-deletion.ts';
import { accountStore } from './accounts.ts';
import { answerStore } from './answers.ts';
import { type DeliveryStore, deliveryStore } from './deliveries.ts';
import { type EventViewStore, eventViewStore } from './event-views.ts';
import { exportStore } from './exports.ts';
import { type HostRecordStore, hostRecordStore } from './hosts.ts';
import { jobPagesStore } from './job-pages.ts';
import { type JobViewStore, jobViewStore } from './job-views.ts';
import { keyStore } from './keys.ts';
import { lakeStore } from './lake.ts';
import type { Method, Methods } from './methods.ts';
import { monitorStore } from './monitors.ts';
import { ownerRequestStore } from './owner-requests.ts';
import { readerStore } from './readers.ts';
import { referenceStore } from './references.ts';
import { retentionStore, type SharedRetentionStore } from './retention.ts';
import { scheduleStore } from './schedules.ts';
import { searchStore } from './search.ts';
import { secretStore } from './secrets.ts';
import { sessionStore } from './sessions.ts';
import { signInStore } from './sign-ins.ts';
import { type SharedSnapshotStore, snapshotStore } from './snapshots.ts';
import { type WebhookRecordStore, webhookStore } from './webhooks.ts';

/** The ports of what is asked less often than tasks are claimed. They are written once for both databases. */
export interface ColdStore
  extends AccountDeletionStore,
    AccountRecordStore,
    AnswerStore,
    DeliveryStore,
    EventViewStore,
    ExportStore,
    HostRecordStore,
    JobViewStore,
    KeyStore,
    LakeStore,
    MonitorStore,
    OwnerRequestStore,
    PageKeyStore,
    ReaderStore,
    ReferenceStore,
    ScheduleStore,
    SearchStore,
    SecretStore,
    SessionStore,
    SharedRetentionStore,
    SharedSnapshotStore,
    SignInStore,
    SiteStore,
    WebhookRecordStore {}

export const coldStore: Methods<ColdStore> = {
  ...accountDeletionStore,
  ...accountStore,
  ...answerStore,
  ...deliveryStore,
  ...eventViewStore,
  ...exportStore,
  ...hostRecordStore,
  ...jobPagesStore,
  ...jobViewStore,
  ...keyStore,
  ...lakeStore,
  ...monitorStore,
  ...ownerRequestStore,
  ...readerStore,
  ...referenceStore,
  ...retentionStore,
  ...scheduleStore,
  ...searchStore,
  ...secretStore,
  ...sessionStore,
  ...signInStore,
  ...snapshotStore,
  ...webhookStore,
};

/** Returns the names of the methods that are declared so. */
export const coldMethods = (isMeant: (method: Method) => boolean): readonly string[] =>
  Object.entries<Method>(coldStore)
    .filter(([, method]) => isMeant(method))
    .map(([name]) => name);
