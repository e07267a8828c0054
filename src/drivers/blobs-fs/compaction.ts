import { setImmediate as turn } from 'node:timers/promises';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Frames } from './frames.ts';
import type { PackIndex } from './pack-index.ts';
import type { Packs } from './packs.ts';

export interface CompactionParts {
  readonly packs: Packs;
  readonly index: PackIndex;
  readonly frames: Pick<Frames, 'bodyAt' | 'storeAll'>;
  /** Gives errors of the operating system their code. */
  readonly guard: <T>(work: () => T) => T;
}

/** Gives the space of bodies that nothing points at back to the disk. */
export interface Compaction {
  compactIfWasteful(pack: string): Promise<void>;
  /** Every pack, and the files of packs that a killed process had dropped and not removed yet. */
  compactAll(): Promise<void>;
}

/** A pack is written anew without its dead bodies when they are more than half of it and worth the while. */
const LEAST_WASTE_BYTES = 1_048_576;
/** Moved in one transaction: other writers wait that long. */
const MOVED_AT_ONCE = 64;
const MOVED_BYTES_AT_ONCE = 4_194_304;
/** A pack is in the index once its first bodies are committed; a file without an entry that is older is left over. */
const LEFT_OVER_MS = 3_600_000;

/**
 * Live bodies are moved to another pack a few at a time, each few in one transaction of the index, and the old pack goes
 * when nothing points at it. A process that is killed in between leaves bodies in one place or the other, always pointed
 * at; readers that looked at the index before a move still have the old file, or look again.
 */
export function createCompaction({ packs, index, frames, guard }: CompactionParts): Compaction {
  /** How much a pack held when its file had this size, so that packs which do not change are read once. */
  const totals = new Map<string, { readonly fileBytes: number; readonly bodyBytes: number }>();

  function bodyBytesOf(pack: string, fileBytes: number): number {
    const known = totals.get(pack);
    if (known?.fileBytes === fileBytes) return known.bodyBytes;
    let bodyBytes = 0;
    for (const { place } of packs.scan(pack)) bodyBytes += place.size;
    totals.set(pack, { fileBytes, bodyBytes });
    return bodyBytes;
  }

  function isWasteful(pack: string): boolean {
    if (index.livePlaces(pack, 1).length === 0) return true;
    const fileBytes = packs.sizeOf(pack);
    if (fileBytes < LEAST_WASTE_BYTES) return false;
    const bodyBytes = Math.max(1, bodyBytesOf(pack, fileBytes));
    const deadShare = 1 - Math.min(1, index.liveBytes(pack) / bodyBytes);
    return deadShare > 0.5 && fileBytes * deadShare >= LEAST_WASTE_BYTES;
  }

  /** Moves some of the live bodies of a pack; true when there was none and the pack was dropped. */
  function moveSome(pack: string): boolean {
    packs.leave(pack);
    const live = index.livePlaces(pack, MOVED_AT_ONCE);
    if (live.length === 0) {
      index.dropPack(pack);
      return true;
    }
    const moved: { key: Buffer; bytes: Buffer }[] = [];
    let movedBytes = 0;
    for (const { key, place } of live) {
      if (movedBytes > MOVED_BYTES_AT_ONCE) break;
      const bytes = frames.bodyAt(place, key.toString('hex') as ContentHash);
      if (bytes === null) index.forget(key, place);
      else moved.push({ key, bytes });
      movedBytes += place.size;
    }
    // To this writer's pack, and pointed at there.
    frames.storeAll(moved);
    // The old place may have been safe for years; the new one must be before the old one goes.
    packs.sync();
    return false;
  }

  async function compactIfWasteful(pack: string): Promise<void> {
    if (!guard(() => isWasteful(pack))) return;
    while (!guard(() => index.inOneGo(() => moveSome(pack)))) await turn();
    totals.delete(pack);
    guard(() => packs.remove(pack));
  }

  return {
    compactIfWasteful,
    async compactAll() {
      const known = guard(() => index.packs());
      for (const pack of known) {
        await compactIfWasteful(pack);
        await turn();
      }
      const inIndex = new Set(guard(() => index.packs()));
      for (const pack of guard(() => packs.names())) {
        const isLeftOver = !inIndex.has(pack) && guard(() => packs.idleMs(pack, Date.now())) > LEFT_OVER_MS;
        if (isLeftOver) guard(() => packs.remove(pack));
      }
      for (const pack of totals.keys()) if (!inIndex.has(pack)) totals.delete(pack);
      guard(() => index.shrink());
    },
  };
}
