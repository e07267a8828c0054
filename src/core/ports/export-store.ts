import type { Export, ExportError, NewExport } from '../model/export.ts';
import type { AccountId, ExportId, JobId } from '../model/ids.ts';
import type { ListPage } from './store.ts';

/**
 * A part of the store: exports of jobs.
 *
 * An export is written by one process at a time, under a lease. A lease is the number of the attempt: it grows with every
 * claim, and whatever the holder of an earlier one stores later changes nothing. The end of an export and its event
 * (`export.ready`, `export.failed`) are one transaction.
 *
 * The file of an export is named after its id and attempt. Rows go first and files after: a file without a row may be
 * removed at any time, because the row is there before the file is begun.
 */
export interface ExportStore {
  /**
   * Stores the export unless there is one with its id; returns the stored one. Null when the account has no such job, or
   * the export with this id is another account's.
   */
  createExport(draft: NewExport): Promise<Export | null>;
  /** Null when there is none, or it belongs to another account. */
  getExport(account: AccountId, id: ExportId): Promise<Export | null>;
  /** Finds an export of any account, for links that are signed with the secret of the export. */
  findExport(id: ExportId): Promise<Export | null>;
  /** Lists the exports of an account, the newest first. */
  listExports(query: ExportQuery): Promise<ListPage<Export>>;
  /** Deletes the export and returns what it was, so that its files can be removed. Null when there is none. */
  deleteExport(account: AccountId, id: ExportId): Promise<Export | null>;

  /** How many exports of the account are not at their end: those that wait, and those that are being written. */
  countOpenExports(account: AccountId): Promise<number>;
  /**
   * Claims an export: one that waits, or one whose lease has run out, which counts as a failure. Accounts take turns: the
   * export is of the account whose newest begun export was begun first, and of that account's the one that has been due for
   * longest. `lastServed`, the account of the caller's claim before, comes after all others. Null when none is due.
   */
  claimExport(leaseMs: number, lastServed?: AccountId | null): Promise<Export | null>;
  /** Stores how far it is and extends the lease. False when the lease is lost or the export is gone. */
  renewExport(lease: ExportLease, progress: ExportProgress, leaseMs: number): Promise<boolean>;
  /** The file is there. False when the lease is lost: the file is not the export's then. */
  finishExport(lease: ExportLease, end: ExportEnd): Promise<boolean>;
  /** Counts a failure; it is due again after `retryInMs`, or given up where that is null. False when the lease is lost. */
  failExport(lease: ExportLease, error: ExportError, retryInMs: number | null): Promise<boolean>;
  /** Gives the export back without a failure: it is due at once. */
  releaseExport(lease: ExportLease): Promise<void>;
  /** Ends the leases of processes that are known to be dead, because this one alone may use the store. */
  endExportLeases(): Promise<void>;

  /** Which of these exports are stored. */
  knownExports(ids: readonly ExportId[]): Promise<readonly ExportId[]>;
  /** Deletes exports that ended before this time, `limit` at most. Their files are removed after. */
  deleteOldExports(query: OldExportQuery): Promise<OldExports>;
}

export interface ExportQuery {
  readonly accountId: AccountId;
  /** Only those of this job. */
  readonly jobId?: JobId | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface ExportLease {
  readonly id: ExportId;
  readonly attempt: number;
}

export interface ExportProgress {
  readonly rows: number;
  readonly sizeBytes: number;
}

export interface ExportEnd extends ExportProgress {
  readonly sha256: string;
}

export interface OldExportQuery {
  readonly accountId: AccountId;
  /** Only those of this job. */
  readonly jobId?: JobId | undefined;
  readonly endedBefore: number;
  readonly limit: number;
  /** Only counts, without a limit. */
  readonly isDryRun?: boolean | undefined;
}

export interface OldExports {
  readonly exports: number;
  readonly bytes: number;
}
