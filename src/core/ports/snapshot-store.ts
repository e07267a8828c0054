import type { OutcomeKind } from '../model/attempt.ts';
import type { AccountId, ContentHash, JobId, SnapshotId, TaskId, UrlKey } from '../model/ids.ts';
import type { ArtifactRef, NewPage, Page } from '../model/page.ts';
import type { ReaderRange } from './event-store.ts';
import type { ListPage } from './store.ts';

/** What a page offers for sale, as far as it says so itself. */
export interface OfferFacts {
  readonly price: number | null;
  /** ISO 4217 in capitals. */
  readonly currency: string | null;
  /** As schema.org names it, without its address: `InStock`, `OutOfStock`, … */
  readonly availability: string | null;
}

export const NO_OFFER: OfferFacts = { price: null, currency: null, availability: null };

/** One distinct content of one URL of one account, over all jobs that have seen it. */
export interface Snapshot extends OfferFacts {
  readonly id: SnapshotId;
  readonly accountId: AccountId;
  /** Canonical, without what a single job left out. */
  readonly url: string;
  readonly urlKey: UrlKey;
  /** Hash of the normalized content: the same for the same content, also at another URL. */
  readonly hash: string;
  /** By the store's clock when the page was fetched, the first and the last time that it had this content. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  readonly timesSeen: number;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  readonly contentType: string | null;
  readonly charset: string | null;
  /** The body: that of the first time, which is kept as long as the snapshot. */
  readonly contentHash: ContentHash;
  readonly bytes: number;
  /** Validators of the last time. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly title: string | null;
  /** What `extract` of the job found that saw it first; null: nothing was asked for, or nothing found. */
  readonly record: Readonly<Record<string, unknown>> | null;
  /** The picture that was taken of it; null: none was. */
  readonly screenshot: ArtifactRef | null;
  /** The job and the page that saw it first; they may be gone. */
  readonly jobId: JobId;
  readonly taskId: TaskId;
  /** The content may show what stored credentials give access to. */
  readonly isPrivate: boolean;
}

/** A job has seen a page with this content. */
export interface Sighting {
  readonly accountId: AccountId;
  readonly urlKey: UrlKey;
  readonly url: string;
  readonly snapshotId: SnapshotId;
  readonly hash: string;
  readonly jobId: JobId;
  readonly taskId: TaskId;
  readonly seenAt: number;
}

/**
 * A part of the store: what pages looked like over time, for each account and URL across its jobs. Each distinct content
 * is a snapshot, once; each time that a job saw it is a sighting. Neither goes with the job: bodies that snapshots refer
 * to are among the references (`listReferences`).
 */
export interface SnapshotStore {
  /** The pages of the job that a `pages.committed` event names, in their order; those that are gone are missing. */
  listSightedPages(jobId: JobId, pageSeqs: readonly number[]): Promise<readonly SightedPage[]>;
  /** The packed records of these pages that have an extracted record, a picture or words of an offer. */
  listSnapshotRecords(pageSeqs: readonly number[]): Promise<readonly PageRecordRow[]>;
  /** The contents of these URLs that are known already and have one of the text hashes, in no order. */
  findContents(query: ContentQuery): Promise<readonly KnownContent[]>;
  /**
   * Stores snapshots and sightings and moves the cursor of the reader, all or nothing; false when the cursor was moved
   * by another process: nothing has happened then. A snapshot whose id there is already stays as it was and is seen once
   * more, with the validators of this time. A snapshot of a page that is gone meanwhile is left out. Sightings of snapshots that are neither stored nor new are left out, and so
   * is everything of accounts that are gone or being deleted.
   */
  addSightings(batch: SightingBatch): Promise<boolean>;

  /** Null when there is none, or it belongs to another account. */
  getSnapshot(account: AccountId, id: SnapshotId): Promise<Snapshot | null>;
  /** Contents of one URL, the one that was seen last first: it is the current one, and the next is the one before it. */
  listSnapshots(query: SnapshotQuery): Promise<ListPage<Snapshot>>;
  /** Lists the sightings of a URL, the newest first, or those of a job, in the order in which its pages were stored. */
  listSightings(query: SightingQuery): Promise<ListPage<Sighting>>;
  /** Deletes snapshots that were last seen before this time, at most `limit`, and sightings from before it. */
  expireSnapshots(query: SnapshotExpiry): Promise<ExpiredSnapshots>;
}

/** A page of a job as far as its snapshot needs it. */
export interface SightedPage
  extends Pick<
      NewPage,
      | 'url'
      | 'finalUrl'
      | 'statusCode'
      | 'contentType'
      | 'charset'
      | 'fetchedAt'
      | 'contentHash'
      | 'textHash'
      | 'bytes'
      | 'title'
      | 'etag'
      | 'lastModified'
      | 'errorCode'
    >,
    Pick<Page, 'taskId'> {
  readonly seq: number;
  /** Outcome of the last attempt; null where it is not known. */
  readonly outcome: OutcomeKind | null;
}

export interface PageRecordRow {
  readonly seq: number;
  readonly record: Uint8Array;
}

export interface ContentQuery {
  readonly accountId: AccountId;
  readonly contents: readonly { readonly urlKey: UrlKey; readonly textHash: string }[];
}

export interface KnownContent
  extends Pick<
    Snapshot,
    'id' | 'urlKey' | 'hash' | 'title' | 'contentHash' | 'contentType' | 'charset' | 'finalUrl' | 'isPrivate'
  > {
  readonly textHash: string;
  /** Hash of what the text does not show; null while no other body with the same text was seen. */
  readonly factsHash: string | null;
}

export interface NewSnapshot extends Omit<Snapshot, 'firstSeenAt' | 'lastSeenAt' | 'timesSeen'> {
  /** Hash of the text of the page; where a body has no text, hash of the body. */
  readonly textHash: string;
  readonly factsHash: string | null;
}

export interface NewSighting extends Omit<Sighting, 'hash'> {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The body of this time; it is not kept unless it is that of the snapshot. */
  readonly contentHash: ContentHash;
}

export interface SightingBatch extends ReaderRange {
  /** Each with a sighting. */
  readonly snapshots: readonly NewSnapshot[];
  /** In the order in which the pages were stored. */
  readonly sightings: readonly NewSighting[];
  /** Facts of stored snapshots that were not known before. */
  readonly facts: readonly { readonly id: SnapshotId; readonly factsHash: string }[];
}

export interface SnapshotQuery extends SnapshotPaging {
  readonly urlKey: UrlKey;
}

interface SnapshotPaging {
  readonly accountId: AccountId;
  /** False: without those that may show what stored credentials give access to. */
  readonly hasPrivate: boolean;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export type SightingQuery = SnapshotPaging & ({ readonly urlKey: UrlKey } | { readonly jobId: JobId });

export interface ExpiredSnapshots {
  readonly snapshots: number;
  readonly bytes: number;
  /** There may be more that is as old. */
  readonly isMore: boolean;
}

export interface SnapshotExpiry {
  readonly accountId: AccountId;
  readonly lastSeenBefore: number;
  readonly limit: number;
  /** Counts what would be deleted, and deletes nothing. */
  readonly isDryRun?: boolean | undefined;
}
