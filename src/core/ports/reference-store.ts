import type { ReaderName } from '../model/derived.ts';
import type { ContentHash } from '../model/ids.ts';
import type { ListPage } from './store.ts';

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
