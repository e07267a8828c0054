import type { AccountId } from '../model/ids.ts';
import type { AccountDeletionStore, AccountRecordStore } from './account-store.ts';
import type { AnswerStore } from './answer-store.ts';
import type { AuditStore } from './audit-store.ts';
import type { CreditStore } from './credit-store.ts';
import type { EventStore, ReaderStore } from './event-store.ts';
import type { ExportStore } from './export-store.ts';
import type { HostStore } from './host-store.ts';
import type { PageKeyStore, SiteStore } from './job-pages-store.ts';
import type { JobStore } from './job-store.ts';
import type { KeyStore, SignInStore } from './key-store.ts';
import type { LakeStore } from './lake-store.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { LedgerViewStore } from './ledger-view-store.ts';
import type { MonitorStore } from './monitor-store.ts';
import type { QueryStore } from './query-store.ts';
import type { ReferenceStore, RetentionStore } from './retention-store.ts';
import type { ScheduleStore } from './schedule-store.ts';
import type { SearchStore } from './search-store.ts';
import type { SecretStore, SessionStore } from './session-store.ts';
import type { OwnerRequestStore } from './site-owner-store.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * The only truth. Every method is one transaction: it happened whole and survives a crash when the promise
 * resolves, or it did not happen.
 *
 * Times are epoch milliseconds by the store's clock. That clock decides what is due, over or owned, within the
 * transaction; no method takes the present time from its caller, whose clock may be wrong or be set while it runs. A
 * store that processes share has the clock of its server; a store in the process has the clock that it was opened
 * with. Points in time that callers hand in (`readyAt`, `notBefore`, `expiresAt`) are by `clock()`.
 *
 * A host has at most one owner at a time. Owning is a lease with an epoch; the epoch grows with every new owner,
 * and whatever an older owner sends later is recognised by it and changes nothing.
 *
 * A store may go back in time: a backup is restored, or a replica that had not received everything takes over. What was
 * committed last is then gone, and numbers of rows (hosts, tasks, jobs) are given out again. Such a store is another
 * incarnation, and so is one that was merely restarted, because the two cannot be told apart. Every lease is of one
 * incarnation and is lost in every other, so each call that carries a lease is refused by the same check, within the
 * same transaction, that refuses an older owner.
 *
 * What callers remember of the store (which URLs a job has, which rows a number names) they remember of one incarnation.
 * A completion may leave out URLs that the store is known to have only where that was learned in the incarnation of its
 * lease: then the store is either that incarnation still, or refuses the completion, and the page is fetched again.
 */
export interface Store
  extends JobStore,
    SiteStore,
    HostStore,
    LedgerStore,
    AccountStore,
    SignInStore,
    SessionStore,
    SecretStore,
    ReferenceStore,
    EventStore,
    DerivedStore,
    AnswerStore,
    AccountDeletionStore,
    RetentionStore,
    OwnerRequestStore,
    WebhookStore,
    CreditStore,
    ScheduleStore {
  /** Brings the schema up to date; safe to call by many at once. Throws SCHEMA_TOO_NEW, DATABASE_CORRUPT. */
  migrate(): Promise<{ from: number; to: number }>;
  /** The store's own time: all processes that share it use this clock, because the clocks of their machines may differ. */
  clock(): Promise<number>;
  /** Writes and reads a probe row. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface AccountStore extends AuditStore, AccountRecordStore, KeyStore {
  /** The account that owns everything on an installation with one user; made by the first migration. */
  defaultAccount(): Promise<AccountId>;
}

/** One screenful and where the next begins; null at the end. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** The parts of the store for what is made of committed pages: by readers of events, and by questions about them. */
export interface DerivedStore
  extends ReaderStore,
    SnapshotStore,
    ExportStore,
    PageKeyStore,
    LakeStore,
    QueryStore,
    LedgerViewStore,
    SearchStore,
    MonitorStore {}
