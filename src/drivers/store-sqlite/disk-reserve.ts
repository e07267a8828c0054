import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PRIVATE_FILE } from '../../core/config/private-files.ts';

/**
 * A file that takes up space on the disk of the database, so that there is some to give back: cancelling and deleting
 * jobs has to be written down as well, and on a full disk they are the way to get space.
 */
export interface DiskReserve {
  /** Makes the file, unless it is there or the disk has little room left. */
  fill(): void;
  /** Removes the file. Returns false when there is none, or it belongs to another process. */
  giveUp(): boolean;
}

/** The reserve must not be what fills the disk. */
const LEAST_FREE_SHARES = 4;

export function createDiskReserve(path: string, sizeBytes: number): DiskReserve {
  return {
    fill() {
      try {
        if (sizeBytes === 0 || statSync(path, { throwIfNoEntry: false })?.size === sizeBytes) return;
        const { bavail, bsize } = statfsSync(dirname(path));
        if (bavail * bsize < sizeBytes * LEAST_FREE_SHARES) return;
        // Random: file systems that compress would keep nothing in reserve.
        writeFileSync(path, randomBytes(sizeBytes), { mode: PRIVATE_FILE });
      } catch {
        // A part of a reserve would be taken for none, and the disk has no room for it.
        rmSync(path, { force: true });
      }
    },
    giveUp() {
      if (sizeBytes === 0 || statSync(path, { throwIfNoEntry: false }) === undefined) return false;
      rmSync(path, { force: true });
      return true;
    },
  };
}
