import type { AccountId, JobId } from '../model/ids.ts';
import type { Page } from '../model/page.ts';
import type { ReaderRange } from './event-store.ts';

/**
 * A part of the store: which files make up the lake of each account, and up to where the outbox has been read into it.
 * A file is written under a name that no other file ever has, and becomes part of the lake by the transaction that adds
 * it here. What is in the place and not here is no part of the lake, and what is here is in the place until
 * `forgetLakeFiles`.
 *
 * Rows of the lake belong to pages of jobs. What of them is to be hidden follows from the jobs themselves
 * (`LakeRule`), so deleting a job hides its rows in the same moment; the rows leave the files when these are rewritten.
 */
export interface LakeStore {
  /** The pages of the job with these numbers, in their order. Pages that were stored again or deleted since are missing. */
  lakePages(jobId: JobId, pageSeqs: readonly number[]): Promise<readonly LakePage[]>;
  /** All pages of the job behind the number, in their order, at most `limit`. */
  lakePagesAfter(jobId: JobId, after: number, limit: number): Promise<readonly LakePage[]>;
  /**
   * Adds the files that hold the events between two cursors of the reader `lake`, and moves its cursor on, all or nothing.
   * False when the cursor is no longer `after`, or a file is older than `LAKE_FILE_MS`: nothing has happened then. Files
   * of accounts that are gone are left out.
   */
  addLakeFiles(batch: LakeBatch): Promise<boolean>;
  /**
   * Replaces files of one account by others with the same rows, less those that are hidden. False, and nothing has
   * happened, when one of them is no longer part of the lake, or one of the new ones is older than `LAKE_FILE_MS`.
   */
  replaceLakeFiles(change: LakeReplacement): Promise<boolean>;
  /** The lake of an account at one moment. */
  viewLake(query: LakeQuery): Promise<LakeView>;
  /** Accounts with files, in the order of their ids, those behind `after`. */
  listLakes(query: {
    readonly after: AccountId | null;
    readonly limit: number;
  }): Promise<readonly LakeSummary[]>;
  /** Records that the manifest of this version lies beside the data. */
  noteManifest(accountId: AccountId, version: number): Promise<void>;
  /** Returns those of the ids that the store knows: files of the lake, and removed files that it has not forgotten. */
  knownLakeFiles(ids: readonly string[]): Promise<readonly string[]>;
  /** Files that were replaced before this time, by the store's clock. */
  listRemovedLakeFiles(removedBefore: number, limit: number): Promise<readonly RemovedLakeFile[]>;
  /** Forgets removed files, once they are deleted from the place. Files of the lake stay. */
  forgetLakeFiles(ids: readonly string[]): Promise<void>;
}

/** Files become part of the lake within this time of their making, or never: then they may be deleted as orphans. */
export const LAKE_FILE_MS = 1_800_000;

export const LAKE_TABLES = ['pages', 'links', 'records'] as const;
export type LakeTable = (typeof LAKE_TABLES)[number];

export interface LakePage {
  /** Grows with each page of the store; a page that is stored again gets another. */
  readonly seq: number;
  readonly page: Page;
}

export interface NewLakeFile {
  /** The id is never used for another file, even after this one is removed. */
  readonly id: string;
  readonly accountId: AccountId;
  readonly table: LakeTable;
  /** The domain as it stands in the path. */
  readonly domain: string;
  /** The day that the rows belong to, as `YYYY-MM-DD`. */
  readonly date: string;
  /** Path of the file within the place of the lake. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Version of the columns that the file has, see docs/lake.md. */
  readonly schemaVersion: number;
  /** When writing it began, by the store's clock. */
  readonly madeAt: number;
  /** The jobs whose pages it has, each with the smallest number of a page. */
  readonly jobs: readonly LakeFileJob[];
}

export interface LakeFileJob {
  readonly jobId: JobId;
  readonly firstPage: number;
}

export interface LakeFile extends NewLakeFile {
  readonly addedAt: number;
}

export interface LakeBatch {
  readonly range: ReaderRange;
  readonly files: readonly NewLakeFile[];
  /** Jobs of the events that went on after their end: pages of them may have been stored again. */
  readonly resumed: readonly { readonly jobId: JobId; readonly accountId: AccountId }[];
}

export interface LakeReplacement {
  readonly accountId: AccountId;
  readonly removed: readonly string[];
  readonly added: readonly NewLakeFile[];
}

export interface LakeQuery {
  readonly accountId: AccountId;
  /** The tables that are wanted; missing means all of them. */
  readonly tables?: readonly LakeTable[] | undefined;
  /** The domains that are wanted, as they stand in the paths; missing means all of them. */
  readonly domains?: readonly string[] | undefined;
  /** The first and the last day that are wanted; both are included. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly mostFiles: number;
}

export interface LakeView {
  readonly version: number;
  readonly files: readonly LakeFile[];
  /** There are more files than were asked for. */
  readonly hasMore: boolean;
  /** A rule for each job of which the account's files hold rows and some of these rows are hidden. */
  readonly rules: readonly LakeRule[];
}

/** What of a job's rows is hidden. */
export interface LakeRule {
  readonly jobId: JobId;
  /** Pages with a smaller number are hidden, because their records have expired; null: all are, the job or its pages are gone. */
  readonly keepFrom: number | null;
  /**
   * The pages of a task may have been stored more than once: only the rows of the page with the largest number count.
   */
  readonly isResumed: boolean;
  /** Its pages were fetched with stored credentials: only readers that may see what these give access to see its rows. */
  readonly isPrivate: boolean;
  /** When the job ended; null while it goes on, and when it is gone. */
  readonly finishedAt: number | null;
}

export interface LakeSummary {
  readonly accountId: AccountId;
  /** Grows with every change of the files. */
  readonly version: number;
  /** Version of the manifest that lies beside the data; null when there is no manifest. */
  readonly manifestVersion: number | null;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
  /** Rows of each table, hidden ones included. */
  readonly tables: Readonly<Record<LakeTable, number>>;
  /** When the last file came; null when there is none. */
  readonly changedAt: number | null;
}

export interface RemovedLakeFile {
  readonly id: string;
  readonly path: string;
}

/**
 * The place of the lake: a folder, or a prefix of a bucket. Paths have folders, divided by slashes. Files are small
 * enough to be held in memory.
 */
export interface LakeFiles {
  /** The file is there whole and survives a power failure when the promise resolves. What the path held before is replaced. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Null when there is no such file. */
  read(path: string): Promise<Uint8Array | null>;
  /** Removes the files. Paths at which there is no file count as removed. */
  remove(paths: readonly string[]): Promise<void>;
  /** All files whose path begins with the prefix, which ends with a slash or is empty, in no order. */
  list(prefix: string): AsyncIterable<LakeEntry>;
  /** Where other programs of this machine find the file; null when it is not on this machine. */
  localPath(path: string): string | null;
  /** The place as the operator named it, without secrets. */
  readonly name: string;
  close(): Promise<void>;
}

export interface LakeEntry {
  readonly path: string;
  readonly bytes: number;
}
