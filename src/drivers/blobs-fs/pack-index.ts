import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { ImpossibleValue, openDerivedFile } from '../derived-file/derived-file.ts';
import { type IndexTables, openIndexTables } from './index-tables.ts';
import type { PackPosition, Packs } from './packs.ts';

/**
 * Where each body lies. Writers in other threads and processes share the file; SQLite keeps them apart. Whatever it says
 * stands in the packs as well, so a file that is missing or damaged is made again from them, by the call that meets the
 * damage, and the call goes on with the new one.
 */
export interface PackIndex {
  find(hash: Buffer): PackPosition | null;
  /** False when the pack is not in the index any more: a compaction removed it, and the body must be written to another pack. */
  point(hash: Buffer, place: PackPosition): boolean;
  addPack(pack: string): void;
  /** Forgets a pack and whatever still points into it. */
  dropPack(pack: string): void;
  /** Forgets the body, unless it lies elsewhere by now; returns where it lay. */
  forget(hash: Buffer, place?: PackPosition): PackPosition | null;
  /** Forgets the body unless its stamp has changed; false when it has, or the body is gone. */
  forgetStamped(hash: Buffer, stampedAt: number): boolean;
  /** When the body was put last, or made young again; null when it is not there. */
  stampOf(hash: Buffer): number | null;
  /** Makes the body young: its stamp becomes `now`, or one more than it was, so that it always changes. */
  stamp(hash: Buffer, now: number): void;
  /** The bodies of a pack in the order in which they lie there. */
  livePlaces(pack: string, limit: number): { key: Buffer; place: PackPosition }[];
  /** Bytes of the bodies in a pack that are still pointed at, before compression. */
  liveBytes(pack: string): number;
  packs(): string[];
  /** Stamped bodies whose hash is behind this one, in the order of their hashes. */
  stampedAfter(hash: Buffer, limit: number): { key: Buffer; size: number; stampedAt: number }[];
  /** Gives the space of forgotten bodies back to the disk, when it is most of a file that is soon written anew. */
  shrink(): void;
  /** Runs the work within one transaction; calls within calls join it. `work` is done again when the file was damaged or replaced. */
  inOneGo<T>(work: () => T): T;
  /** Has SQLite look through the whole file, and makes it again when that finds damage; true when it did. */
  mend(): boolean;
  close(): void;
}

export interface PackIndexOptions {
  readonly now?: () => number;
  /** Brings in what a power failure took from the index and not from the packs. For the first writer of a process. */
  readonly isFirst?: boolean;
  /** Told when the file was damaged and was made again. */
  readonly onRebuilt?: (error: ScrapifieError) => void;
}

/** Packs that were written to so shortly before the last checkpoint, or later, may hold more than the index knows. */
const CHECKPOINT_SLACK_MS = 60_000;
/** Up to this size the whole file is looked through at the start. */
const READ_THROUGH_BYTES = 67_108_864;

export function openPackIndex(packs: Packs, options: PackIndexOptions = {}): PackIndex {
  const { now = Date.now, isFirst = false, onRebuilt = () => undefined } = options;
  const path = join(packs.dir, 'index.db');
  const file = openDerivedFile<IndexTables>({
    path,
    what: 'The index of stored bodies',
    from: 'from the packs beside it',
    open: () => openIndexTables(path, { hasLog: true, now }),
    make: (made) => fromPacks(made, packs, now),
    // A broken schema, and rows against constraints that no statement of this program can break.
    alsoDamage: [1, 19, 20],
    isLost: () => packs.names().length > 0,
    onRebuilt,
  });

  const index: PackIndex = {
    find: (hash) => file.run((to) => to.find(hash)),
    point: (hash, place) => file.run((to) => to.point(hash, place)),
    addPack: (pack) => file.run((to) => to.addPack(pack)),
    dropPack: (pack) => file.run((to) => to.dropPack(pack)),
    forget: (hash, place) => file.run((to) => to.forget(hash, place)),
    forgetStamped: (hash, stampedAt) => file.run((to) => to.forgetStamped(hash, stampedAt)),
    stampOf: (hash) => file.run((to) => to.stampOf(hash)),
    stamp: (hash, at) => file.run((to) => to.stamp(hash, at)),
    livePlaces: (pack, limit) => file.run((to) => to.livePlaces(pack, limit)),
    liveBytes: (pack) => file.run((to) => to.liveBytes(pack)),
    packs: () => file.run((to) => to.packs()),
    stampedAfter: (hash, limit) => file.run((to) => to.stampedAfter(hash, limit)),
    shrink: () => file.run((to) => to.shrink()),
    inOneGo: (work) => file.run((to) => to.inOneGo(work)),
    mend() {
      let found: string | null = null;
      file.run((to) => {
        const damage = to.damage();
        found ??= damage;
        if (damage !== null) throw new ImpossibleValue(damage);
      });
      return found !== null;
    },
    close: () => file.close(),
  };
  if (!isFirst) index.packs();
  else {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= READ_THROUGH_BYTES) index.mend();
    file.run((to) => addMissing(to, packs, path));
  }
  return index;
}

function fromPacks(path: string, packs: Packs, now: () => number): void {
  const tables = openIndexTables(path, { hasLog: false, now });
  try {
    tables.inOneGo(() => {
      for (const pack of packs.names()) {
        tables.addPack(pack);
        for (const { key, place } of packs.scan(pack)) tables.point(key, place);
      }
    });
  } finally {
    tables.close();
  }
}

/** What was written to the packs after the last commit of the index that the disk has kept. */
function addMissing(tables: IndexTables, packs: Packs, path: string): void {
  const checkpointAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const known = new Set(tables.packs());
  const recent = packs
    .names()
    .filter((pack) => !known.has(pack) || packs.idleMs(pack, checkpointAt) < CHECKPOINT_SLACK_MS);
  if (recent.length === 0) return;
  tables.inOneGo(() => {
    for (const pack of recent) {
      tables.addPack(pack);
      for (const { key, place } of packs.scan(pack, tables.endOf(pack))) tables.pointAbsent(key, place);
    }
  });
}
