import { randomUUID } from 'node:crypto';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../../core/model/ids.ts';
import type { BlobCopy, Blobs } from '../../../core/ports/blobs.ts';
import type { Store } from '../../../core/ports/store.ts';

/**
 * Removes blobs without references; nothing else removes blobs. Deleting jobs or pages deletes references,
 * and the next sweep finds what they leave behind. Why it is safe beside running crawls:
 * docs/decisions/0009-one-sweep-removes-bodies.md.
 */
export interface BlobSweepParts {
  readonly store: Pick<Store, 'listReferences' | 'leaseWork' | 'endWork'>;
  readonly blobs: Pick<Blobs, 'list' | 'remove' | 'compact'>;
  /** Bytes on their way between processes, which nothing ever refers to; null where there are none. */
  readonly transit: Pick<Blobs, 'list' | 'remove' | 'compact'> | null;
}

export interface BlobSweepOptions {
  /**
   * Copies younger than this are kept, referred to or not: a page that refers to them may be on its way. 0 is for
   * callers that know that no other process uses the store.
   */
  readonly graceMs: number;
  /** Only counts what would be removed. */
  readonly isDryRun?: boolean;
  /** Ends the sweep early; what it has removed by then is in the report. */
  readonly signal?: AbortSignal;
  /** References held in memory at once; where there are more, the blobs are gone through in several passes. */
  readonly mostReferences?: number;
}

export interface BlobAmount {
  readonly objects: number;
  readonly bytes: number;
}

export interface BlobSweepReport {
  /** Copies that were there. */
  readonly found: BlobAmount;
  /** Copies that were unreferenced or doubled, and removed (or, in a dry run, would be removed). */
  readonly removed: BlobAmount;
  /** Left in transit by processes that died, and removed. */
  readonly expired: BlobAmount;
}

/** Blobs in transit between processes are read within minutes; older ones are abandoned. */
export const TRANSIT_MS = 3_600_000;
const MOST_REFERENCES = 2_000_000;
const PAGES_AT_ONCE = 1_000;
const REMOVED_AT_ONCE = 500;
/**
 * Renewed with every batch of pages read, copies listed or copies removed; a process that was paused for longer notices
 * and stops. After the death of a process that swept, the next sweep waits for its lease to run out.
 */
const LEASE_MS = 60_000;
const LISTED_AT_ONCE = 10_000;

/** 52 bits of a hash: a whole number that a double holds. Two blobs among ten million share them by chance of 1 in 90. */
const PREFIX_DIGITS = 13;
export const PREFIX_END = 16 ** PREFIX_DIGITS;
const EMPTY = -1;
const FIRST_SLOTS = 1_024;

/** Null when another process is at it. */
export async function sweepBlobs(
  parts: BlobSweepParts,
  options: BlobSweepOptions,
): Promise<BlobSweepReport | null> {
  const { store, blobs, transit } = parts;
  const { graceMs, isDryRun = false, signal, mostReferences = MOST_REFERENCES } = options;
  const owner = randomUUID();
  const lease = () => store.leaseWork('blob-sweep', owner, LEASE_MS);
  const counts = { found: newCount(), removed: newCount(), expired: newCount() };

  async function keepLease(): Promise<void> {
    signal?.throwIfAborted();
    if (!(await lease())) throw new ScrapifieError('CANCELLED', 'Another process has taken over the sweep.');
  }

  /** Everything that pages refer to within a range of hashes, which is as wide as memory allows. */
  async function readReferences(from: number): Promise<HashSet> {
    const referred = new HashSet(from, mostReferences);
    for (let cursor: string | undefined; ; ) {
      const { items, nextCursor } = await store.listReferences({ limit: PAGES_AT_ONCE, cursor });
      for (const hash of items) referred.add(hash);
      await keepLease();
      if (nextCursor === null) return referred;
      cursor = nextCursor;
    }
  }

  /** Removes the copies that are listed and chosen, a batch at a time. */
  async function removeFrom(
    place: Pick<Blobs, 'list' | 'remove'>,
    isChosen: (copy: BlobCopy) => boolean,
    count: BlobCount,
  ): Promise<void> {
    let batch: BlobCopy[] = [];
    const removeBatch = async () => {
      await keepLease();
      if (!isDryRun) await place.remove(batch);
      for (const copy of batch) count.add(copy);
      batch = [];
    };
    let listed = 0;
    for await (const copy of place.list()) {
      listed += 1;
      if (listed % LISTED_AT_ONCE === 0) await keepLease();
      if (!isChosen(copy)) continue;
      batch.push(copy);
      if (batch.length >= REMOVED_AT_ONCE) await removeBatch();
    }
    await removeBatch();
  }

  async function sweepBodies(): Promise<void> {
    for (let from = 0; from < PREFIX_END; ) {
      const startedAt = performance.now();
      const referred = await readReferences(from);
      await removeFrom(
        blobs,
        (copy) => {
          if (!referred.isInRange(copy.hash)) return false;
          counts.found.add(copy);
          // A page may have been committed since the references were read: the age is that of the copy back then.
          const ageMs = copy.ageMs - (performance.now() - startedAt);
          return (graceMs === 0 || ageMs >= graceMs) && (copy.isSpare || !referred.has(copy.hash));
        },
        counts.removed,
      );
      from = referred.end;
    }
  }

  if (!(await lease())) return null;
  try {
    const transitMs = Math.min(TRANSIT_MS, graceMs);
    if (transit !== null) await removeFrom(transit, ({ ageMs }) => ageMs >= transitMs, counts.expired);
    await sweepBodies();
    if (!isDryRun) {
      await blobs.compact();
      await transit?.compact();
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  } finally {
    await store.endWork('blob-sweep', owner).catch(() => undefined);
  }
  const { found, removed, expired } = counts;
  return { found: found.amount, removed: removed.amount, expired: expired.amount };
}

interface BlobCount {
  readonly amount: BlobAmount;
  add(copy: BlobCopy): void;
}

function newCount(): BlobCount {
  let amount: BlobAmount = { objects: 0, bytes: 0 };
  return {
    get amount() {
      return amount;
    },
    add({ storedBytes }) {
      amount = { objects: amount.objects + 1, bytes: amount.bytes + storedBytes };
    },
  };
}

const prefixOf = (hash: ContentHash): number => Number.parseInt(hash.slice(0, PREFIX_DIGITS), 16);

/**
 * The content hashes of a range, by their first 52 bits, in 16 bytes each. It takes in a number of them at most: when
 * there are more, the range is halved and the upper half forgotten, for another pass. That a hash is told to be there
 * which only shares its beginning with one that is does no harm: a blob is then kept for nothing.
 */
export class HashSet {
  readonly #most: number;
  readonly #from: number;
  #end: number;
  #size = 0;
  #slots = new Float64Array(FIRST_SLOTS).fill(EMPTY);

  constructor(from: number, most: number) {
    this.#from = from;
    this.#end = PREFIX_END;
    this.#most = most;
  }

  /** The first prefix above the range that this set speaks for. */
  get end(): number {
    return this.#end;
  }

  isInRange(hash: ContentHash): boolean {
    const prefix = prefixOf(hash);
    return prefix >= this.#from && prefix < this.#end;
  }

  add(hash: ContentHash): void {
    const prefix = prefixOf(hash);
    if (prefix < this.#from || prefix >= this.#end) return;
    if (!this.#insert(prefix)) return;
    if (this.#size > this.#most) this.#narrow();
    else if (this.#size * 2 > this.#slots.length) this.#rebuild(this.#slots.length * 2);
  }

  has(hash: ContentHash): boolean {
    const prefix = prefixOf(hash);
    const slots = this.#slots;
    for (let at = prefix % slots.length; slots[at] !== EMPTY; at = (at + 1) % slots.length) {
      if (slots[at] === prefix) return true;
    }
    return false;
  }

  /** False when it is there already. */
  #insert(prefix: number): boolean {
    const slots = this.#slots;
    let at = prefix % slots.length;
    for (; slots[at] !== EMPTY; at = (at + 1) % slots.length) if (slots[at] === prefix) return false;
    slots[at] = prefix;
    this.#size += 1;
    return true;
  }

  #narrow(): void {
    while (this.#size > this.#most && this.#end - this.#from > 1) {
      this.#end = this.#from + Math.floor((this.#end - this.#from) / 2);
      this.#rebuild(this.#slots.length);
    }
  }

  #rebuild(length: number): void {
    const kept = this.#slots;
    this.#slots = new Float64Array(length).fill(EMPTY);
    this.#size = 0;
    for (const prefix of kept) if (prefix !== EMPTY && prefix < this.#end) this.#insert(prefix);
  }
}
