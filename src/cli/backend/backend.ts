import type { DiffMode } from '../../capabilities/compare/page-comparer.ts';
import type { ChangeType } from '../../capabilities/compare/site-change.ts';
import type { StreamEvent } from '../../capabilities/events/stream-frames.ts';
import type { JobError } from '../../capabilities/jobs/results/job-reader.ts';
import type { PageResult } from '../../capabilities/jobs/results/page-result.ts';
import type { QueryResult } from '../../capabilities/query/queries.ts';
import type { SearchHit } from '../../capabilities/query/search/searches.ts';
import type { SqlAnswer } from '../../capabilities/query/sql/sql-request.ts';
import type {
  PreviewRequest,
  ScheduleChangeRequest,
  ScheduleRequest,
} from '../../capabilities/schedules/schedule-request.ts';
import type { Credential } from '../../capabilities/sessions/credential.ts';
import type { SessionRequest } from '../../capabilities/sessions/session.ts';
import type { UsageView } from '../../capabilities/views/account-view.ts';
import type { ChangeView } from '../../capabilities/views/diff-view.ts';
import type { JobView } from '../../capabilities/views/job-view.ts';
import type { MonitorChangeView, MonitorView } from '../../capabilities/views/monitor-view.ts';
import type { NextView, RunView, ScheduleView } from '../../capabilities/views/schedule-view.ts';
import type { CredentialView, SessionEntryView, SessionView } from '../../capabilities/views/session-view.ts';
import type { SightingView, SnapshotView, VersionDiffView } from '../../capabilities/views/snapshot-view.ts';
import type {
  ChangedWebhookView,
  DeliveryDetailView,
  DeliveryView,
  NewWebhookView,
  WebhookView,
} from '../../capabilities/views/webhook-view.ts';
import type { ExportSpec } from '../../core/model/export.ts';
import type { Budgets, Job } from '../../core/model/job.ts';
import type { ChangeKind } from '../../core/model/monitor.ts';
import type { LedgerEntry, TaskState } from '../../core/model/task.ts';
import type { UsageGroup } from '../../core/ports/credit-store.ts';
import type { ExportProgress } from '../../core/ports/export-store.ts';
import type { DeliveryState } from '../../core/ports/webhook-store.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';

/**
 * The jobs, sessions, credentials, webhooks, schedules and monitors of an installation, as commands read and change them through its API: that of a
 * running server, or the same routes in this process, on its data folder or database.
 */
export interface Backend {
  readonly jobs: BackendJobs;
  readonly sessions: BackendSessions;
  readonly credentials: BackendCredentials;
  readonly webhooks: BackendWebhooks;
  readonly schedules: BackendSchedules;
  readonly monitors: BackendMonitors;
  readonly usage: BackendUsage;
  readonly history: BackendHistory;
  readonly exports: BackendExports;
  readonly query: BackendQuery;
  readonly search: BackendSearch;
}

/** `id` is the id of a job, or `latest`. NOT_FOUND where there is none. */
export interface BackendJobs {
  list(query: { readonly status?: Job['status'] | undefined; readonly limit: number }): Promise<JobView[]>;
  get(id: string): Promise<JobView>;
  cancel(id: string): Promise<JobView>;
  resume(id: string, budgets?: Partial<Budgets>): Promise<JobView>;
  retry(id: string): Promise<JobView>;
  /** Deletes the job with its pages and ledger. CONFLICT when it has not ended. Returns its id. */
  delete(id: string): Promise<string>;
  urls(id: string, state?: TaskState): AsyncIterable<LedgerEntry>;
  errors(id: string): AsyncIterable<JobError>;
  /** What happened and happens to the job, until it has ended: see docs/events.md. */
  events(id: string): AsyncIterable<StreamEvent>;
  /** All pages in the order they were stored. */
  results(id: string): AsyncIterable<PageResult>;
  /** What changed since the earlier job; of these types, or all but UNCHANGED. */
  diff(
    earlier: string,
    later: string,
    rules: DiffRules,
    types?: readonly ChangeType[],
  ): AsyncIterable<ChangeView>;
}

export interface BackendSessions {
  /** CONFLICT when there is one of that name. */
  create(request: SessionRequest): Promise<SessionView>;
  list(limit: number): Promise<SessionEntryView[]>;
  get(name: string): Promise<SessionView>;
  delete(name: string): Promise<void>;
}

/** `id` is the id of a webhook or of a delivery. NOT_FOUND where there is none. Requests are those of the API. */
export interface BackendWebhooks {
  create(request: object): Promise<NewWebhookView>;
  list(limit: number): Promise<WebhookView[]>;
  get(id: string): Promise<WebhookView>;
  change(id: string, patch: object): Promise<ChangedWebhookView>;
  rotate(id: string, request: object): Promise<NewWebhookView>;
  delete(id: string): Promise<void>;
  test(id: string): Promise<DeliveryDetailView>;
  deliveries(
    id: string,
    query: {
      readonly state?: DeliveryState | undefined;
      readonly event?: string | undefined;
      readonly limit: number;
    },
  ): Promise<DeliveryView[]>;
  delivery(id: string): Promise<DeliveryDetailView>;
  redeliver(id: string): Promise<DeliveryDetailView>;
}

/** The usage of the account over the days, which are dates. `account`: another one, on a server only for the operator. */
export interface BackendUsage {
  list(query: {
    readonly account?: string | undefined;
    readonly by: UsageGroup;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly limit: number;
  }): Promise<UsageView[]>;
}

/** `id` is the id of a job, or `latest`. The export is in the audit log. */
export interface BackendExports {
  /**
   * The bytes of an export of the job. A server writes it into a file first, which is deleted when it was taken; here the
   * bytes come as they are made.
   */
  bytes(
    id: string,
    spec: ExportSpec,
    onProgress: (progress: ExportProgress) => void,
  ): AsyncIterable<Uint8Array>;
}

/** Queries as `POST /v1/query` takes them: typed ones, and SQL. */
export interface BackendQuery {
  run(request: object): Promise<QueryResult | SqlAnswer>;
}

export interface BackendSearch {
  run(request: {
    readonly q: string;
    readonly host?: string | undefined;
    readonly job?: string | undefined;
    readonly limit: number;
  }): Promise<readonly SearchHit[]>;
}

export interface BackendCredentials {
  list(): Promise<CredentialView[]>;
  put(name: string, credential: Credential): Promise<void>;
  delete(name: string): Promise<void>;
}

/** The history of pages, as commands read it. */
export interface BackendHistory {
  /** Each content of the page, the one that was seen last first. */
  snapshots(url: string, limit: number): Promise<SnapshotView[]>;
  /** Which job saw which content, the newest first. */
  sightings(url: string, limit: number): Promise<SightingView[]>;
  /** How two snapshots differ, the earlier one first. NOT_FOUND where there is none. */
  diff(before: string, after: string, mode: DiffMode, rules: DiffRules): Promise<VersionDiffView>;
}

/** The monitors of an installation, as commands read and change them. `id` is the id of a monitor. Requests are those of the API. */
export interface BackendMonitors {
  create(request: object): Promise<MonitorView>;
  list(limit: number): Promise<MonitorView[]>;
  get(id: string): Promise<MonitorView>;
  change(id: string, change: object): Promise<MonitorView>;
  pause(id: string): Promise<MonitorView>;
  resume(id: string): Promise<MonitorView>;
  /** A server that works on the data folder begins with the check; without one it waits there. */
  run(id: string): Promise<RunView>;
  changes(
    id: string,
    query: { readonly kind?: ChangeKind | undefined; readonly limit: number },
  ): Promise<MonitorChangeView[]>;
  delete(id: string): Promise<void>;
}

/** The schedules of an installation, as commands read and change them. `id` is the id of a schedule. */
export interface BackendSchedules {
  create(request: ScheduleRequest): Promise<ScheduleView>;
  change(id: string, request: ScheduleChangeRequest): Promise<ScheduleView>;
  preview(request: PreviewRequest): Promise<NextView>;
  list(limit: number): Promise<ScheduleView[]>;
  get(id: string): Promise<ScheduleView>;
  next(id: string): Promise<NextView>;
  pause(id: string): Promise<ScheduleView>;
  resume(id: string): Promise<ScheduleView>;
  /** A server that works on the data folder begins with the job; without one it waits there. */
  run(id: string): Promise<RunView>;
  history(id: string, limit: number): Promise<RunView[]>;
  delete(id: string): Promise<void>;
}

/** Entries that a command lists at most, and asks for at once. */
export const MOST_LISTED = 1_000;
