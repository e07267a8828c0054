import type { AccountId, ContentHash, JobId, SnapshotId, TaskId, UrlKey } from './ids.ts';
import type { ArtifactRef } from './page.ts';

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
