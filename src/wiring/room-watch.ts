import { statfsSync } from 'node:fs';
import { budgetFiles, openFileLimit, RAISE_OPEN_FILES } from '../core/config/open-files.ts';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { HoldReason } from '../crawl/read/thread-messages.ts';

/** Whether there is room for new work: one answer for health and for everything that takes work in. */
export interface RoomWatch {
  /** DISK_FULL while this process knows that what comes of new work cannot be kept; null otherwise. Asking never waits. */
  refusal(): ScrapifieError | null;
  /** A call of the store has failed. */
  noteFailure(code: string): void;
  /** Pages are held because their bodies cannot be stored; null: not any more. */
  noteHold(reason: HoldReason | null): void;
}

interface RoomParts {
  /** The folder that new work is written to; null where all of it goes to servers. */
  readonly dataDir: string | null;
  /** Writes something to the store. */
  readonly checkStore: () => Promise<void>;
  /** Why the place of bodies takes none. */
  readonly bodyRefusal: () => ScrapifieError | null;
}

/** A writer that waits for room tries again each second: so long after its last failure it has been served. */
const OVER_MS = 5_000;
const LOOK_MS = 1_000;

export function watchRoom({ dataDir, checkStore, bodyRefusal }: RoomParts): RoomWatch {
  let held: ScrapifieError | null = null;
  let storeFailedAt: number | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;

  /** Small writes may work on a disk that refuses others, so one success is not the end. */
  async function look(): Promise<void> {
    isLooking = true;
    try {
      await checkStore();
      if (storeFailedAt !== null && performance.now() - storeFailedAt > OVER_MS) storeFailedAt = null;
    } catch {
      // A check that fails for want of room is noted like any other call.
    } finally {
      lookedAt = performance.now();
      isLooking = false;
    }
  }

  return {
    noteFailure(code) {
      if (code === 'DISK_FULL') storeFailedAt = performance.now();
    },
    noteHold(reason) {
      held = reason?.code === 'DISK_FULL' ? new ScrapifieError(reason.code, reason.message) : null;
    },
    refusal() {
      if (storeFailedAt !== null && !isLooking && performance.now() - lookedAt >= LOOK_MS) void look();
      const full = storeFailedAt === null ? null : 'The store has no room to write.';
      return held ?? (full === null ? (bodyRefusal() ?? fullFolder(dataDir)) : diskFull(full));
    },
  };
}

const diskFull = (message: string) => new ScrapifieError('DISK_FULL', message);

/** Where not a single block is left, nothing has to be tried first. */
function fullFolder(dataDir: string | null): ScrapifieError | null {
  if (dataDir === null) return null;
  try {
    return statfsSync(dataDir).bavail > 0
      ? null
      : diskFull(`No space is left in the data folder ${dataDir}.`);
  } catch {
    // What is wrong with the folder will be said by what is written there.
    return null;
  }
}

/** The settings with as many connections of clients and fetches as the process may have open at once. */
export function withinOpenFiles(settings: Settings, logger: Logger): Settings {
  const limit = openFileLimit();
  const { maxConnections, maxConcurrency, isShort } = budgetFiles(limit, settings);
  if (isShort) {
    const { maxConnections: connectionsWanted, maxConcurrency: fetchesWanted } = settings;
    const facts = { limit, maxConnections, connectionsWanted, maxConcurrency, fetchesWanted };
    logger.warn(
      facts,
      `the limit of open files is small: fewer connections and fetches at once. ${RAISE_OPEN_FILES}`,
    );
  }
  return { ...settings, maxConnections, maxConcurrency };
}
