import type { Blob, Blobs } from '../../core/ports/blobs.ts';

export interface MoverOptions {
  readonly main: Pick<Blobs, 'put'>;
  readonly spill: Pick<Blobs, 'list' | 'get' | 'delete'>;
  readonly everyMs: number;
  readonly isMainThere: () => Promise<boolean>;
  /** Told after every pass that moved something or failed; the error is null when it did not fail. */
  readonly onMove: (moved: number, error: unknown) => void;
}

export interface Mover {
  /** One pass over the spilled blobs; a pass under way is shared. Resolves to how many bodies were moved. */
  move(): Promise<number>;
  /** Makes a pass every now and then until `stop`. */
  start(): void;
  /** Resolves when the batch under way is done. */
  stop(): Promise<void>;
}

const MOST_BODIES_AT_ONCE = 64;
const MOST_BYTES_AT_ONCE = 16_777_216;

/**
 * Brings spilled bodies home. What was not read from the one place and confirmed by the other is never deleted, so
 * any number of movers may work on the same bodies, and one may be killed at any moment. A body that cannot be read
 * stays where it is: it may just have been moved by another, or be put again.
 */
export function createMover({ main, spill, everyMs, isMainThere, onMove }: MoverOptions): Mover {
  let timer: NodeJS.Timeout | null = null;
  let pass: Promise<number> | null = null;
  let isStopped = false;

  async function makePass(): Promise<number> {
    let moved = 0;
    let batch: Blob[] = [];
    let batchBytes = 0;
    const moveBatch = async () => {
      if (batch.length === 0) return;
      await main.put(batch);
      await spill.delete(batch.map(({ hash }) => hash));
      moved += batch.length;
      batch = [];
      batchBytes = 0;
    };
    try {
      if (!(await isMainThere())) return 0;
      for await (const { hash } of spill.list()) {
        if (isStopped) break;
        const bytes = await spill.get(hash);
        if (bytes === null) continue;
        batch.push({ hash, bytes });
        batchBytes += bytes.length;
        if (batch.length >= MOST_BODIES_AT_ONCE || batchBytes >= MOST_BYTES_AT_ONCE) await moveBatch();
      }
      await moveBatch();
    } catch (error) {
      onMove(moved, error);
      throw error;
    }
    if (moved > 0) onMove(moved, null);
    return moved;
  }

  function move(): Promise<number> {
    pass ??= makePass().finally(() => {
      pass = null;
    });
    return pass;
  }

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      // What failed was reported, and is tried again with the next pass.
      void move()
        .catch(() => undefined)
        .finally(schedule);
    }, everyMs);
    timer.unref();
  }

  return {
    move,
    start: schedule,
    async stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      await pass?.catch(() => undefined);
    },
  };
}
