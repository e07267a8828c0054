import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { ContentHash } from '../../model/ids.ts';
import type { Blobs } from '../../ports/blobs.ts';
import { MainWatch } from './main-watch.ts';
import { createMover } from './mover.ts';

export interface SpillingBlobsOptions {
  /** Where bodies belong. */
  readonly main: Blobs;
  /** Where they go while `main` is away. */
  readonly spill: Blobs;
  /** Whether this one brings spilled bodies to `main`; one process of many is enough, several do no harm. */
  readonly moves: boolean;
  readonly now: () => number;
  readonly random: () => number;
  /** Told once when `main` begins to be away, with its error. */
  readonly onSpill: (error: ScrapifieError) => void;
  /** Told once when `main` works again. */
  readonly onReturn: () => void;
  /** Told how many spilled bodies were brought to `main`, or why that did not work. */
  readonly onMove?: (moved: number, error: unknown) => void;
  /** The pause before `main` is tried again, doubled with each failure up to `longestRetryMs`. */
  readonly retryMs?: number;
  readonly longestRetryMs?: number;
  /** How often spilled bodies are looked for. */
  readonly moveEveryMs?: number;
}

export interface SpillingBlobs extends Blobs {
  /**
   * Works when bodies are safe: in `main`, or in `spill` while `main` is away, which `degradation` then tells.
   */
  check(): Promise<void>;
  /** Why bodies go to `spill` at the moment; null when they do not. */
  degradation(): string | null;
  /** Brings what was spilled to `main`; resolves to how many bodies that were. None while `main` is away. */
  move(): Promise<number>;
}

/** Spilled hashes remembered while listing; beyond it one that is being moved may come twice. */
const MOST_LISTED_SPILLED = 100_000;

/**
 * Blobs that outlast an object store that is away. While it is, nobody waits for it: bodies go to the other place
 * and are moved when it answers again. A body is removed from there only after `main` has confirmed it, so it can
 * always be read from one of the two. Owns both: closing this closes them.
 *
 * A body that only `main` could have is neither there nor absent while `main` is away: `get` and `has` then throw
 * what `main` threw. A body deleted while it is being moved may stay in `main`; whoever compares lists finds it.
 */
export function createSpillingBlobs(options: SpillingBlobsOptions): SpillingBlobs {
  const { main, spill, now, random } = options;
  const watch = new MainWatch({
    retryMs: options.retryMs ?? 1_000,
    longestRetryMs: options.longestRetryMs ?? 30_000,
    now,
    random,
    onAway: options.onSpill,
    onReturn: options.onReturn,
  });
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
      throw error;
    }
  }

  /** Finds out whether `main` is back. Never rejects; the watch has the result. */
  function tryMain(): Promise<void> {
    probe ??= atMain(() => main.check())
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
    main: { put: (blobs) => atMain(() => main.put(blobs)) },
    spill,
    everyMs: options.moveEveryMs ?? 5_000,
    async isMainThere() {
      if (watch.state === 'due') await tryMain();
      return watch.state === 'works';
    },
    onMove: options.onMove ?? (() => {}),
  });
  if (options.moves) mover.start();

  return {
    async put(blobs) {
      if (watch.state === 'works') {
        try {
          await atMain(() => main.put(blobs));
          return;
        } catch (error) {
          if (!isAway(error)) throw error;
        }
      } else if (watch.state === 'due') {
        // Nobody waits for it: these bodies still go to the other place.
        void tryMain();
      }
      await spill.put(blobs);
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
      const listed = new Set<ContentHash>();
      for await (const hash of spill.list()) {
        if (listed.size < MOST_LISTED_SPILLED) listed.add(hash);
        yield hash;
      }
      for await (const hash of main.list()) if (!listed.has(hash)) yield hash;
    },
    async check() {
      if (watch.state !== 'away') await tryMain();
      if (watch.state === 'works') return;
      await spill.check();
    },
    degradation: () => watch.error?.message ?? null,
    move: () => mover.move(),
    async close() {
      await mover.stop();
      await Promise.all([main.close(), spill.close()]);
    },
  };
}

/** Refused counts too: keys that were revoked must not cost the bodies of a running crawl. */
function isAway(error: unknown): error is ScrapifieError {
  return isScrapifieError(error) && (error.code === 'BLOBS_UNAVAILABLE' || error.code === 'BLOBS_REFUSED');
}

function stillAway({ error, retryAfterMs }: MainWatch): ScrapifieError {
  const message = error?.message ?? 'The object store is away.';
  return new ScrapifieError(error?.code ?? 'BLOBS_UNAVAILABLE', message, { cause: error, retryAfterMs });
}
