declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** UUID v7 shown to clients. */
export type JobId = Branded<string, 'JobId'>;
/** The job's row number: what the frontier's rows point at, because a million tasks repeat it. */
export type JobSeq = Branded<number, 'JobSeq'>;
export type TaskId = Branded<number, 'TaskId'>;
/**
 * One uninterrupted history of the store. It is another one after everything that may have taken the store back in
 * time: numbers such as JobSeq, TaskId and HostId may then name other rows.
 */
export type Incarnation = Branded<string, 'Incarnation'>;
export type HostId = Branded<number, 'HostId'>;
/** `hostname` or `hostname:port` (default ports left out): the unit of politeness and of ownership. */
export type HostKey = Branded<string, 'HostKey'>;
/** 22 base64url characters of hashes of a canonical URL and its host: what makes two URLs the same within a job. */
export type UrlKey = Branded<string, 'UrlKey'>;
/** Hex SHA-256 of a body: its address in the blob store. */
export type ContentHash = Branded<string, 'ContentHash'>;
export type AccountId = Branded<string, 'AccountId'>;
/** Made by the first migration: the account of an installation with one user, and of the operator. */
export const DEFAULT_ACCOUNT = 'default' as AccountId;
export type KeyId = Branded<string, 'KeyId'>;
export type SessionId = Branded<string, 'SessionId'>;
export type WebhookId = Branded<string, 'WebhookId'>;
export type DeliveryId = Branded<string, 'DeliveryId'>;
/** UUID v7 shown to clients. */
export type ScheduleId = Branded<string, 'ScheduleId'>;
/** `snap_` and 32 hex digits of a hash of account, URL and content. */
export type SnapshotId = Branded<string, 'SnapshotId'>;
/** UUID v7 of one run of a schedule. */
export type RunId = Branded<string, 'RunId'>;
/** `exp_` and a UUID, shown to clients. */
export type ExportId = Branded<string, 'ExportId'>;
/** UUID v7 shown to clients. */
export type MonitorId = Branded<string, 'MonitorId'>;
/** `chg_…`, of one change that a monitor has reported. */
export type ChangeId = Branded<string, 'ChangeId'>;
