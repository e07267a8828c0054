import type { ReaderName } from '../model/derived.ts';
import type { AccountId, ContentHash, JobId, JobSeq } from '../model/ids.ts';
import type { PagePart, RetentionAges } from '../model/retention.ts';
import type { ListPage } from './store.ts';

/**
 * A part of the store: deleting what need not be kept, in steps that each touch a bounded number of rows. A step that was
 * done is not undone by a crash, and a step that is repeated changes nothing.
 */
export interface RetentionStore {
  /** Accounts in the order of their ids, those of which nothing is stored included. */
  listAccountIds(query: { readonly after: AccountId | null; readonly limit: number }): Promise<AccountId[]>;
  /** The jobs of an account, newest first, as far as the decision about them needs it. */
  listRetained(query: RetainedQuery): Promise<ListPage<RetainedJob>>;
  /**
   * Marks a part of the job's pages as expired, in the order in which they were stored, until the first page that was
   * fetched at `fetchedBefore` or later. Their references to blobs are gone with it, and of `records` the records
   * themselves. Looks at `limit` pages at most. A page that is stored later, such as that of a retry, is not expired.
   */
  expirePages(query: ExpirePagesQuery): Promise<ExpiredPages>;
  /**
   * Marks URLs and pages of an ended job as deleted, the job itself stays; `purge` deletes the rows. False when there is no
   * such job, when it has not ended, or when it was marked before.
   */
  expireLedger(jobSeq: JobSeq): Promise<boolean>;
  /** Deletes up to `limit` rows of jobs and ledgers that are marked as deleted. Returns how many; 0: none is left. */
  purge(limit: number): Promise<number>;
  /**
   * Gives the space of deleted rows back to the disk, where the store does not do so by itself and deleted rows take a
   * good part of it. Blocks all other calls meanwhile: only for a process that has the store for itself.
   */
  compact(): Promise<void>;
  /** Deletes up to `limit` robots.txt files that were valid until before this time. Returns how many. */
  deleteOldRobots(expiredBefore: number, limit: number): Promise<number>;
}

export interface RetainedQuery {
  readonly accountId: AccountId;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface RetainedJob {
  readonly seq: JobSeq;
  readonly id: JobId;
  readonly createdAt: number;
  /** Null while it is going on. */
  readonly finishedAt: number | null;
  /** How many URLs the job knows. */
  readonly urls: number;
  /** How many bytes were fetched for the job. */
  readonly bytes: number;
  /** The times that the job was created with. */
  readonly ages: RetentionAges;
  /** Behind its last page; 0 when it has none. */
  readonly pagesEnd: number;
  /** The pages before this one have lost the part. */
  readonly expired: Readonly<Record<PagePart, number>>;
  readonly isLedgerExpired: boolean;
}

export interface ExpirePagesQuery {
  readonly jobSeq: JobSeq;
  readonly part: PagePart;
  readonly fetchedBefore: number;
  readonly limit: number;
  /** Only tells what would expire, from this page on. Missing: expires, from where the last call ended. */
  readonly dryFrom?: number | undefined;
}

export interface ExpiredPages {
  /** Pages that had the part. */
  readonly pages: number;
  /** Bytes of the part before compression; bodies that pages share are counted for each. */
  readonly bytes: number;
  /** Where to go on; null when no further page is due. */
  readonly next: number | null;
}

/** A part of the store: which blobs are in use, for the one process at a time that removes the others. */
export interface ReferenceStore {
  /**
   * Content hashes that stored pages refer to: their bodies, documents as sent, pictures, PDFs and captured answers; then
   * those of snapshots. `limit` pages or snapshots at a time, in the order in which they were stored; a hash comes as often
   * as pages refer to it. A caller that reads all of it has seen every reference that was committed before the first call
   * and is still there.
   */
  listReferences(query: ReferenceQuery): Promise<ListPage<ContentHash>>;
  /**
   * Takes or keeps a piece of work that only one process should do at a time, for `leaseMs` by the store's own clock.
   * False when another owner has it.
   */
  leaseWork(name: WorkName, owner: string, leaseMs: number): Promise<boolean>;
  /** Gives it back; nothing happens when it is another's. */
  endWork(name: WorkName, owner: string): Promise<void>;
}

export interface ReferenceQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** `blob-sweep`: removing blobs that nothing refers to. `reader:…`: reading events. */
export type WorkName = 'blob-sweep' | `reader:${ReaderName}`;
