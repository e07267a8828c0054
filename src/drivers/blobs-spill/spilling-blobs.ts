import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Blob, BlobCopy, Blobs } from '../../core/ports/blobs.ts';
import { type MainState, MainWatch } from './main-watch.ts';
import { createMover } from './mover.ts';

export interface SpillingBlobsOptions {
  /** The place where bodies belong. */
  readonly main: Blobs;
  /** Where they go while `main` is away or full. */
  readonly spill: SpillPlace;
  /** How much may lie in `spill`, as far as it can be told a moment later; beyond it bodies are refused with DISK_FULL. */
  readonly maxSpilledBytes: number;
  /** Whether this one brings spilled bodies to `main`; one process of many is enough, several do no harm. */
  readonly moves: boolean;
  readonly now: () => number;
  readonly random: () => number;
  /** Told once when `main` begins to be away or full, with its error. */
  readonly onSpill: (error: ScrapifieError) => void;
  /** Told once when `main` works again, or has room again. */
  readonly onReturn: () => void;
  /** Told how many spilled bodies were brought to `main`, or why that did not work. */
  readonly onMove?: (moved: number, error: unknown) => void;
  /** The pause before `main` is tried again, doubled with each failure up to `longestRetryMs`. */
  readonly retryMs?: number;
  readonly longestRetryMs?: number;
  /** How often spilled bodies are looked for. */
  readonly moveEveryMs?: number;
}

export interface SpillPlace extends Blobs {
  /** Bytes that the stored bodies take. */
  usedBytes(): Promise<number>;
}

export interface SpillingBlobs extends Blobs {
  /**
   * Works when bodies are safe: in `main`, or in `spill` while `main` is away or full, which `degradation` then tells.
   * DISK_FULL when neither takes a body.
   */
  check(): Promise<void>;
  /** Why bodies go to `spill` at the moment; null when they do not. */
  degradation(): string | null;
  /** Brings what was spilled to `main`; resolves to how many bodies that were. None while `main` is away. */
  move(): Promise<number>;
}

/** What the ids of copies begin with, by the place that listed them. */
const MAIN_ID = 'main:';
const SPILL_ID = 'spill:';

/** The bytes in `spill` are asked for at most this often; what this process adds in between is counted here. */
const USED_FRESH_MS = 1_000;

/**
 * Blobs that outlast an object store that is away or full. Calls do not wait for it meanwhile: bodies go to the spill store
 * and are moved when it answers again. A body is removed from there only after `main` has confirmed it, so it can
 * always be read from one of the two. Owns both: closing this closes them.
 *
 * A body that only `main` could have is neither there nor absent while `main` is away: `get` and `has` then throw
 * what `main` threw. A full `main` is read and deleted from as ever. A body deleted while it is being moved may stay in `main`; the sweep of unreferenced bodies finds it.
 */
export function createSpillingBlobs(options: SpillingBlobsOptions): SpillingBlobs {
  const { main, spill, now, random } = options;
  const newWatch = () =>
    new MainWatch({
      retryMs: options.retryMs ?? 1_000,
      longestRetryMs: options.longestRetryMs ?? 30_000,
      now,
      random,
      onAway: options.onSpill,
      onReturn: options.onReturn,
    });
  /** Observes whether `main` answers. */
  const watch = newWatch();
  /** Observes whether `main` has room for more. */
  const room = newWatch();
  let probe: Promise<void> | null = null;

  /** Tries `main`, and remembers how that went. */
  async function atMain<T>(work: () => Promise<T>): Promise<T> {
    const { turn } = watch;
    try {
      const result = await work();
      watch.succeeded(turn);
      return result;
    } catch (error) {
      if (isAway(error)) watch.failed(turn, error);
      if (isFull(error)) watch.succeeded(turn);
      throw error;
    }
  }

  /** Does what needs room in `main`, and notes whether there was some. */
  async function writeMain<T>(work: () => Promise<T>): Promise<T> {
    const { turn } = room;
    try {
      const result = await atMain(work);
      room.succeeded(turn);
      return result;
    } catch (error) {
      if (isFull(error)) room.failed(turn, error);
      throw error;
    }
  }

  function writeState(): MainState {
    const states = [watch.state, room.state];
    if (states.includes('away')) return 'away';
    return states.includes('due') ? 'due' : 'works';
  }

  /** What `spill` said that it holds, when it said so, and what was put there since, before compression. */
  let usedBytes = 0;
  let usedAt = Number.NEGATIVE_INFINITY;
  let addedBytes = 0;

  /** Throws DISK_FULL when `spill` holds as much as it may. */
  async function requireRoomInSpill(): Promise<void> {
    const isFullByGuess = addedBytes > 0 && usedBytes + addedBytes >= options.maxSpilledBytes;
    if (isFullByGuess || now() - usedAt >= USED_FRESH_MS) {
      addedBytes = 0;
      usedBytes = await spill.usedBytes();
      usedAt = now();
    }
    if (usedBytes >= options.maxSpilledBytes) throw noRoom(mainError(), usedBytes);
  }

  async function putIntoSpill(blobs: readonly Blob[]): Promise<void> {
    await requireRoomInSpill();
    await spill.put(blobs);
    addedBytes += blobs.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  const mainError = () => watch.error ?? room.error;

  /** Finds out whether `main` is back. Never rejects; the watches have the result. */
  function tryMain(): Promise<void> {
    probe ??= writeMain(() => main.check())
      .catch(() => undefined)
      .finally(() => {
        probe = null;
      });
    return probe;
  }

  /** Looks in both, in an order in which a body on its way from `spill` to `main` cannot be missed. */
  async function lookUp<T>(look: (blobs: Blobs) => Promise<T>, isFound: (found: T) => boolean): Promise<T> {
    if (watch.state === 'works') {
      try {
        const found = await atMain(() => look(main));
        if (isFound(found)) return found;
      } catch (error) {
        if (!isAway(error)) throw error;
      }
    }
    const spilled = await look(spill);
    if (isFound(spilled)) return spilled;
    if (watch.state === 'away') throw stillAway(watch);
    return await atMain(() => look(main));
  }

  const mover = createMover({
    main: { put: (blobs) => writeMain(() => main.put(blobs)) },
    spill,
    everyMs: options.moveEveryMs ?? 5_000,
    async isMainThere() {
      if (writeState() === 'due') await tryMain();
      return writeState() === 'works';
    },
    onMove: options.onMove ?? (() => {}),
  });
  if (options.moves) mover.start();

  return {
    async put(blobs) {
      const state = writeState();
      if (state === 'works') {
        try {
          await writeMain(() => main.put(blobs));
          return;
        } catch (error) {
          if (!isAway(error) && !isFull(error)) throw error;
        }
      } else if (state === 'due') {
        // Not awaited: these bodies still go to the spill store.
        void tryMain();
      }
      await putIntoSpill(blobs);
    },
    get: (hash) =>
      lookUp(
        (blobs) => blobs.get(hash),
        (found) => found !== null,
      ),
    has: (hash) =>
      lookUp(
        (blobs) => blobs.has(hash),
        (isThere) => isThere,
      ),
    async delete(hashes) {
      // In this order, because bodies move in this direction.
      await spill.delete(hashes);
      if (watch.state === 'away') throw stillAway(watch);
      await atMain(() => main.delete(hashes));
    },
    async *list() {
      // In this order, because bodies move in this direction: none is missed on its way.
      for await (const copy of spill.list()) yield { ...copy, id: SPILL_ID + copy.id };
      for await (const copy of main.list()) yield { ...copy, id: MAIN_ID + copy.id };
    },
    async remove(copies) {
      await spill.remove(copiesOf(copies, SPILL_ID));
      const inMain = copiesOf(copies, MAIN_ID);
      if (inMain.length === 0) return;
      if (watch.state === 'away') throw stillAway(watch);
      await atMain(() => main.remove(inMain));
    },
    async compact() {
      await spill.compact();
      await main.compact();
    },
    async check() {
      if (writeState() !== 'away') await tryMain();
      if (writeState() === 'works') return;
      await requireRoomInSpill();
      await spill.check();
    },
    degradation: () => mainError()?.message ?? null,
    move: () => mover.move(),
    async close() {
      await mover.stop();
      await Promise.all([main.close(), spill.close()]);
    },
  };
}

function copiesOf(copies: readonly BlobCopy[], place: string): BlobCopy[] {
  return copies
    .filter(({ id }) => id.startsWith(place))
    .map((copy) => ({ ...copy, id: copy.id.slice(place.length) }));
}

/** Refused counts too: keys that were revoked must not cost the bodies of a running crawl. */
function isAway(error: unknown): error is ScrapifieError {
  return isScrapifieError(error) && (error.code === 'BLOBS_UNAVAILABLE' || error.code === 'BLOBS_REFUSED');
}

function isFull(error: unknown): error is ScrapifieError {
  return isScrapifieError(error) && error.code === 'DISK_FULL';
}

function noRoom(mainError: ScrapifieError | null, usedBytes: number): ScrapifieError {
  const why = mainError?.message ?? 'The object store takes no bodies.';
  return new ScrapifieError(
    'DISK_FULL',
    `${why} The room for such bodies elsewhere is used up as well (${usedBytes} bytes; see SCRAPIFIE_SPILL_BYTES).`,
    { cause: mainError },
  );
}

function stillAway({ error, retryAfterMs }: MainWatch): ScrapifieError {
  const message = error?.message ?? 'The object store is away.';
  return new ScrapifieError(error?.code ?? 'BLOBS_UNAVAILABLE', message, { cause: error, retryAfterMs });
}
