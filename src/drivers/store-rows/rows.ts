import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../core/model/attempt.ts';
import type {
  AccountId,
  ContentHash,
  HostKey,
  JobId,
  JobSeq,
  KeyId,
  SessionId,
  TaskId,
  UrlKey,
} from '../../core/model/ids.ts';
import type { JobOptions } from '../../core/model/job.ts';
import type { Page } from '../../core/model/page.ts';
import type { FoundBy, LedgerEntry, Task, TaskKind, TaskState } from '../../core/model/task.ts';
import type { AuditRecord } from '../../core/ports/audit-store.ts';
import type { HostState, HostView, RobotsEntry } from '../../core/ports/host-store.ts';
import type { FoundTask, StoredPage, TaskWait } from '../../core/ports/job-store.ts';
import type { ApiKey, KeyScope } from '../../core/ports/key-store.ts';
import type {
  CredentialEntry,
  SessionEntry,
  SessionWish,
  StoredCredential,
  StoredSession,
} from '../../core/ports/session-store.ts';
import type { OptOut, OwnerRequest, ProofMethod } from '../../core/ports/site-owner-store.ts';
import { expiredPartsOf } from './expiry.ts';

/**
 * Rows of a store's own tables become what the port promises; the schema is what makes the casts true. The stores
 * name their columns alike and read whole numbers as numbers and JSON as text, so one mapping serves all of them.
 */
export type Row = Readonly<Record<string, unknown>>;

/** A host with nothing to do ranks behind all others. */
export const IDLE_RANK = Number.MAX_SAFE_INTEGER;

const text = (value: unknown) => value as string;
const maybeText = (value: unknown) => value as string | null;
const maybeNumber = (value: unknown) => value as number | null;

export function taskOf(row: Row, jobId: JobId): Task {
  return {
    id: Number(row.id) as TaskId,
    jobSeq: Number(row.job_seq) as JobSeq,
    jobId,
    kind: text(row.kind) as TaskKind,
    url: text(row.url),
    atUrl: maybeText(row.at_url) ?? text(row.url),
    hops: Number(row.hops),
    urlKey: text(row.url_key) as UrlKey,
    depth: Number(row.depth),
    attempts: Number(row.attempts),
    trace: traceOf(row.trace),
    interruptions: Number(row.interruptions),
    loneInterruptions: Number(row.lone_interruptions),
  };
}

const traceOf = (value: unknown) => (value === null ? [] : (JSON.parse(text(value)) as Attempt[]));

const DECISIONS: Readonly<Record<TaskState, LedgerEntry['decision']>> = {
  ready: 'pending',
  waiting: 'pending',
  claimed: 'pending',
  done: 'fetched',
  failed: 'failed',
  skipped: 'skipped',
  denied: 'denied',
  cancelled: 'cancelled',
};

export function ledgerEntryOf(row: Row): LedgerEntry {
  const state = text(row.state) as TaskState;
  return {
    url: text(row.url),
    kind: text(row.kind) as TaskKind,
    state,
    decision: DECISIONS[state],
    rule: maybeText(row.rule),
    errorCode: maybeText(row.error_code) as ErrorCode | null,
    depth: Number(row.depth),
    foundBy: text(row.found_by) as FoundBy,
    foundOn: maybeText(row.found_on_url),
    attempts: traceOf(row.trace),
    discoveredAt: new Date(Number(row.created_at)).toISOString(),
    finishedAt: row.finished_at === null ? null : new Date(Number(row.finished_at)).toISOString(),
  };
}

export function foundTaskOf(row: Row): FoundTask {
  const entry = ledgerEntryOf(row);
  return {
    taskId: Number(row.id) as TaskId,
    entry,
    readyAt: entry.state === 'waiting' ? maybeNumber(row.ready_at) : null,
  };
}

export function pageFromRow(row: Row): Page {
  return {
    taskId: Number(row.task_id) as TaskId,
    jobSeq: Number(row.job_seq) as JobSeq,
    url: text(row.url),
    finalUrl: text(row.final_url),
    statusCode: maybeNumber(row.status_code),
    contentType: maybeText(row.content_type),
    charset: maybeText(row.charset),
    fetchedAt: Number(row.fetched_at),
    depth: Number(row.depth),
    contentHash: maybeText(row.content_hash) as ContentHash | null,
    textHash: maybeText(row.text_hash),
    bytes: Number(row.bytes),
    title: maybeText(row.title),
    etag: maybeText(row.etag),
    lastModified: maybeText(row.last_modified),
    duplicateOf: maybeText(row.duplicate_of),
    errorCode: maybeText(row.error_code) as ErrorCode | null,
    errorMessage: maybeText(row.error_message),
    record: row.record as Uint8Array | null,
    ...expiredPartsOf(row),
  };
}

/** Columns of pages (p), tasks (t) and jobs (j) that make a stored page. */
export const STORED_PAGE_COLUMNS = `p.url, p.final_url, p.status_code, p.content_type, p.content_hash, p.bytes, p.etag,
  p.last_modified, p.fetched_at, t.url_key, t.trace, j.options`;

export function storedPageOf(row: Row): StoredPage {
  return {
    url: text(row.url),
    finalUrl: text(row.final_url),
    statusCode: maybeNumber(row.status_code),
    contentType: maybeText(row.content_type),
    contentHash: maybeText(row.content_hash) as ContentHash | null,
    bytes: Number(row.bytes),
    etag: maybeText(row.etag),
    lastModified: maybeText(row.last_modified),
    fetchedAt: Number(row.fetched_at),
    urlKey: text(row.url_key) as UrlKey,
    engine: traceOf(row.trace).at(-1)?.engine ?? 'http',
    options: (JSON.parse(text(row.options)) as JobOptions).page,
  };
}

export function robotsOf(row: Row): RobotsEntry {
  return {
    origin: text(row.origin),
    status: text(row.status) as RobotsEntry['status'],
    body: text(row.body),
    fetchedAt: Number(row.fetched_at),
    expiresAt: Number(row.expires_at),
    reason: text(row.reason),
    interruptions: Number(row.interruptions),
    failures: Number(row.failures),
  };
}

export function keyFromRow(row: Row): ApiKey {
  return {
    id: text(row.id) as KeyId,
    accountId: text(row.account_id) as AccountId,
    name: text(row.name),
    hash: text(row.hash),
    prefix: text(row.prefix),
    scopes: JSON.parse(text(row.scopes)) as KeyScope[],
    ratePerMinute: maybeNumber(row.rate_per_minute),
    createdAt: Number(row.created_at),
    expiresAt: maybeNumber(row.expires_at),
    revokedAt: maybeNumber(row.revoked_at),
    lastUsedAt: maybeNumber(row.last_used_at),
  };
}

export const hostKeyFromRow = (value: unknown) => text(value) as HostKey;

/** The initial state of a host that has never been released. */
const EMPTY_STATE: HostState = {
  lastRequestAt: null,
  tokens: 1,
  tokensAt: 0,
  rateFactor: 1,
  rateFactorUntil: 0,
  blockedUntil: 0,
  breaker: { phase: 'closed', window: [], openedAt: 0, isProbing: false },
  requests: 0,
  failures: 0,
};

export const hostStateOf = (value: unknown) =>
  value === null ? EMPTY_STATE : (JSON.parse(text(value)) as HostState);

export function hostViewOf(row: Row, ready: number): HostView {
  return {
    key: hostKeyFromRow(row.key),
    state: hostStateOf(row.state),
    ready,
    owner: maybeText(row.owner),
    nextAt: maybeNumber(row.next_at),
  };
}

/** How many of the first and of the last URLs of a job `listWaits` looks at, and how many entries it has at most. */
export const WAITS = { urls: 1_000, entries: 100 };

export function taskWaitOf(row: Row, now: number): TaskWait {
  const blockedUntil = Number(row.blocked_until);
  const isHeld = row.owner === null && blockedUntil > now;
  return {
    hostKey: hostKeyFromRow(row.key),
    state: text(row.state) as TaskWait['state'],
    tasks: Number(row.tasks),
    rule: maybeText(row.rule),
    readyAt: row.ready_at === null ? null : Number(row.ready_at),
    heldUntil: isHeld ? blockedUntil : null,
    hold: isHeld ? (hostStateOf(row.host_state).hold ?? null) : null,
  };
}

export function optOutOf(row: Row): OptOut {
  return {
    host: text(row.host),
    reason: text(row.reason),
    contact: maybeText(row.contact),
    at: Number(row.at),
    minDelayMs: maybeNumber(row.min_delay_ms),
  };
}

export function ownerRequestOf(row: Row): OwnerRequest {
  const secondsBetweenRequests = maybeNumber(row.seconds_between);
  const provedAt = maybeNumber(row.proved_at);
  return {
    id: text(row.id),
    host: text(row.host),
    demand: secondsBetweenRequests === null ? { kind: 'stop' } : { kind: 'slower', secondsBetweenRequests },
    token: text(row.token),
    contact: maybeText(row.contact),
    message: maybeText(row.message),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    proved: provedAt === null ? null : { at: provedAt, by: text(row.proved_by) as ProofMethod },
  };
}

export function auditOf(row: Row): AuditRecord {
  return {
    seq: Number(row.seq),
    at: Number(row.at),
    actor: text(row.actor),
    action: text(row.action),
    target: text(row.target),
    details: JSON.parse(text(row.details)) as Record<string, unknown>,
    previousHash: text(row.previous_hash),
    hash: text(row.hash),
  };
}

export function sessionEntryOf(row: Row): SessionEntry {
  return {
    id: text(row.id) as SessionId,
    accountId: text(row.account_id) as AccountId,
    name: text(row.name),
    wish: JSON.parse(text(row.wish)) as SessionWish,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    lastUsedAt: maybeNumber(row.last_used_at),
    requestCount: Number(row.request_count),
  };
}

export const sessionOf = (row: Row): StoredSession => ({
  ...sessionEntryOf(row),
  version: Number(row.version),
  data: row.data as Uint8Array,
});

export function credentialEntryOf(row: Row): CredentialEntry {
  return {
    accountId: text(row.account_id) as AccountId,
    name: text(row.name),
    kind: text(row.kind),
    hosts: JSON.parse(text(row.hosts)) as string[],
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

export const credentialOf = (row: Row): StoredCredential => ({
  ...credentialEntryOf(row),
  data: row.data as Uint8Array,
});

/** Cursors are row numbers; anything else was not made here. */
export function cursorOf(cursor: string | undefined, start: number): number {
  if (cursor === undefined) return start;
  if (!/^\d{1,15}$/.test(cursor)) {
    throw new ScrapifieError('VALIDATION_FAILED', 'The cursor is not one this server gave out.', {
      details: [{ field: 'cursor', message: 'unknown cursor' }],
    });
  }
  return Number(cursor);
}

/** A query asks for one row more than a slice holds; that row says whether there is a next slice. */
export function sliceOf<T, R extends Row>(
  rows: readonly R[],
  limit: number,
  cursorColumn: string,
  map: (row: R) => T,
) {
  const shown = rows.length > limit ? rows.slice(0, limit) : rows;
  const last = shown.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? String(last[cursorColumn]) : null;
  return { items: shown.map(map), nextCursor };
}
