import type { Consumer, Entry } from '../../core/ports/queue.ts';
import { RankHeap } from './rank-heap.ts';

/** An entry that waits (`slot` ≥ 0 in the heap) or is being worked on (`slot` −1). */
interface Item {
  readonly entry: Entry;
  rank: number;
  readonly arrival: number;
  /** When the entry was offered, in monotonic milliseconds. */
  readonly offeredAt: number;
  slot: number;
  /** The best rank offered while the entry was being handled; null when it was not offered again. */
  againAtRank: number | null;
}

const ACTIVE = -1;

/** One queue: a heap of what waits, and a map of everything in it by id. */
export class Lane {
  readonly #maxWaiting: number;
  readonly #onError: (error: unknown, entry: Entry) => void;
  readonly #waiting = new RankHeap<Item>();
  /** Owned by the heap (bounded by `maxWaiting`) and by the running handlers (bounded by their concurrency). */
  readonly #items = new Map<string, Item>();
  readonly #workers = new Set<Worker>();
  #arrivals = 0;
  #active = 0;
  #isPumpDue = false;

  constructor(maxWaiting: number, onError: (error: unknown, entry: Entry) => void) {
    this.#maxWaiting = maxWaiting;
    this.#onError = onError;
  }

  get hasWorkers(): boolean {
    return this.#workers.size > 0;
  }

  offer(entry: Entry): void {
    const item = this.#items.get(entry.id);
    if (item === undefined) this.#add(entry);
    else if (item.slot === ACTIVE) item.againAtRank = Math.min(entry.rank, item.againAtRank ?? entry.rank);
    else if (entry.rank < item.rank) this.#waiting.advance(item, entry.rank);
  }

  consume(concurrency: number, handler: (entry: Entry) => Promise<void>): Consumer {
    const worker = new Worker(concurrency, handler);
    this.#workers.add(worker);
    this.#pumpSoon();
    return {
      stop: () => {
        this.#workers.delete(worker);
        return worker.drained();
      },
    };
  }

  depth(): { waiting: number; active: number } {
    return { waiting: this.#waiting.size, active: this.#active };
  }

  /** Entries are in the map by arrival, so only the few that are being worked on may come before the oldest that waits. */
  oldestMs(): number {
    for (const { slot, offeredAt } of this.#items.values()) {
      if (slot !== ACTIVE) return performance.now() - offeredAt;
    }
    return 0;
  }

  async close(): Promise<void> {
    const workers = [...this.#workers];
    this.#workers.clear();
    this.#waiting.clear();
    this.#items.clear();
    await Promise.all(workers.map((worker) => worker.drained()));
  }

  #add(entry: Entry): void {
    if (this.#waiting.size >= this.#maxWaiting) {
      const leaf = this.#waiting.leaf;
      if (leaf === undefined || leaf.rank <= entry.rank) return;
      this.#waiting.dropLeaf();
      this.#items.delete(leaf.entry.id);
    }
    this.#arrivals += 1;
    const item = {
      entry,
      rank: entry.rank,
      arrival: this.#arrivals,
      offeredAt: performance.now(),
      slot: 0,
      againAtRank: null,
    };
    this.#items.set(entry.id, item);
    this.#waiting.push(item);
    this.#pumpSoon();
  }

  /** After the current step, so that entries offered together are ordered before the first one starts. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      for (const worker of this.#workers) {
        while (worker.hasRoom) {
          const item = this.#waiting.pop();
          if (item === undefined) return;
          item.slot = ACTIVE;
          this.#run(worker, item);
        }
      }
    });
  }

  async #run(worker: Worker, item: Item): Promise<void> {
    const entry = { id: item.entry.id, rank: item.rank };
    this.#active += 1;
    worker.begin();
    try {
      await worker.handler(entry);
    } catch (error) {
      this.#onError(error, entry);
    }
    this.#active -= 1;
    // A close in between has emptied the map, and then nothing is offered again.
    if (this.#items.get(entry.id) === item) {
      this.#items.delete(entry.id);
      if (item.againAtRank !== null) this.#add({ id: entry.id, rank: item.againAtRank });
    }
    worker.end();
    this.#pumpSoon();
  }
}

/** The running handlers of one consumer. */
class Worker {
  readonly handler: (entry: Entry) => Promise<void>;
  readonly #concurrency: number;
  #running = 0;
  #whenDrained: (() => void)[] = [];

  constructor(concurrency: number, handler: (entry: Entry) => Promise<void>) {
    this.#concurrency = concurrency;
    this.handler = handler;
  }

  get hasRoom(): boolean {
    return this.#running < this.#concurrency;
  }

  begin(): void {
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const resolve of this.#whenDrained) resolve();
    this.#whenDrained = [];
  }

  drained(): Promise<void> {
    return this.#running === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#whenDrained.push(resolve);
        });
  }
}
