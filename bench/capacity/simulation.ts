/** What PostgreSQL was measured to need. Times are milliseconds of one core. */
export interface StoreCosts {
  /** A commit of n pages: `fixedMs + n × perPageMs`, times one of the ratios. */
  readonly fixedMs: number;
  readonly perPageMs: number;
  /** How measured commits of one size differed from their mean. */
  readonly ratios: readonly number[];
  /** All that a page costs PostgreSQL besides its part of a commit: claims, leases, releases. */
  readonly otherPerPageMs: number;
  /** One sync of the log to disk, which all commits that wait for it share. */
  readonly syncMs: number;
}

export interface SimulatedFleet {
  readonly workers: number;
  /** What one worker fetches and reads while nothing holds it up. */
  readonly pagesPerWorkerSecond: number;
  /** Stores that share the hosts. */
  readonly shards: number;
  readonly coresPerShard: number;
}

export interface SimulatedRun {
  readonly pagesPerSecond: number;
  /** From the begin of a commit to its answer. */
  readonly commitMs: { readonly p50: number; readonly p99: number };
  readonly pagesPerCommit: number;
  /** Share of time in which the cores of the stores worked. */
  readonly busy: number;
}

/** As in the ledger. */
const MOST_PER_COMMIT = 256;
const BATCH_DELAY_MS = 15;
/** Pages that a worker holds uncommitted before it fetches no more: a batch under way, and the next one. */
const MOST_HELD = 2 * MOST_PER_COMMIT;
const WARM_UP_SHARE = 0.2;

interface Stream {
  readonly shard: Shard;
  readonly ratePerMs: number;
  /** Pages that wait for their commit at `heldAt`. */
  held: number;
  heldAt: number;
  inCommit: number;
}

interface Shard {
  readonly waiting: { readonly ms: number; readonly done: (at: number) => void }[];
  freeCores: number;
  busyMs: number;
  isSyncing: boolean;
  readonly unsynced: ((at: number) => void)[];
}

/**
 * Workers that commit to stores, event by event. Each worker has one commit under way in each store, as the ledger has; while
 * it waits, pages collect for the next. A store works on as many statements at once as it has cores, in the order in which
 * they came, and one sync serves all commits that wait for it.
 */
export function simulateFleet(
  costs: StoreCosts,
  fleet: SimulatedFleet,
  { seconds, random }: { readonly seconds: number; readonly random: () => number },
): SimulatedRun {
  const endMs = seconds * 1_000;
  const fromMs = endMs * WARM_UP_SHARE;
  const agenda = createAgenda();
  const commitTimes: number[] = [];
  let pages = 0;
  const shards = Array.from(
    { length: fleet.shards },
    (): Shard => ({ waiting: [], freeCores: fleet.coresPerShard, busyMs: 0, isSyncing: false, unsynced: [] }),
  );

  function work(shard: Shard, at: number): void {
    while (shard.freeCores > 0) {
      const next = shard.waiting.shift();
      if (next === undefined) return;
      shard.freeCores -= 1;
      const endsAt = at + next.ms;
      shard.busyMs += Math.max(0, Math.min(endsAt, endMs) - Math.max(at, fromMs));
      agenda.add(endsAt, () => {
        shard.freeCores += 1;
        next.done(endsAt);
        work(shard, endsAt);
      });
    }
  }

  function sync(shard: Shard, at: number): void {
    if (shard.isSyncing || shard.unsynced.length === 0) return;
    shard.isSyncing = true;
    const served = shard.unsynced.splice(0);
    agenda.add(at + costs.syncMs, () => {
      shard.isSyncing = false;
      for (const done of served) done(at + costs.syncMs);
      sync(shard, at + costs.syncMs);
    });
  }

  const collect = (stream: Stream, at: number) => {
    const room = MOST_HELD - stream.held - stream.inCommit;
    stream.held += Math.min(Math.max(0, room), (at - stream.heldAt) * stream.ratePerMs);
    stream.heldAt = at;
  };

  function begin(stream: Stream, at: number): void {
    collect(stream, at);
    const count = Math.min(MOST_PER_COMMIT, Math.floor(stream.held));
    if (count === 0) {
      agenda.add(at + Math.max(1 / stream.ratePerMs, 0.1), (now) => begin(stream, now));
      return;
    }
    stream.held -= count;
    stream.inCommit = count;
    const { shard } = stream;
    const ratio = costs.ratios[Math.floor(random() * costs.ratios.length)] ?? 1;
    // Claims come one by one in between and need no sync: their work is spread over the queue ahead of the commit.
    shard.waiting.push({ ms: count * costs.otherPerPageMs, done: () => undefined });
    shard.waiting.push({
      ms: (costs.fixedMs + count * costs.perPageMs) * ratio,
      done: (computedAt) => {
        shard.unsynced.push((answeredAt) => {
          collect(stream, answeredAt);
          stream.inCommit = 0;
          if (answeredAt >= fromMs && answeredAt <= endMs) {
            commitTimes.push(answeredAt - at);
            pages += count;
          }
          const isFull = stream.held >= MOST_PER_COMMIT;
          agenda.add(answeredAt + (isFull ? 0 : BATCH_DELAY_MS), (now) => begin(stream, now));
        });
        sync(shard, computedAt);
      },
    });
    work(shard, at);
  }

  for (let worker = 0; worker < fleet.workers; worker += 1) {
    for (const shard of shards) {
      const ratePerMs = fleet.pagesPerWorkerSecond / fleet.shards / 1_000;
      const stream: Stream = { shard, ratePerMs, held: 0, heldAt: 0, inCommit: 0 };
      agenda.add(random() * BATCH_DELAY_MS, (now) => {
        stream.heldAt = now;
        agenda.add(now + BATCH_DELAY_MS, (later) => begin(stream, later));
      });
    }
  }
  agenda.runUntil(endMs);
  const measuredMs = endMs - fromMs;
  const sorted = commitTimes.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return {
    pagesPerSecond: (pages * 1_000) / measuredMs,
    commitMs: { p50: at(0.5), p99: at(0.99) },
    pagesPerCommit: pages / commitTimes.length,
    busy:
      shards.reduce((sum, { busyMs }) => sum + busyMs, 0) / (measuredMs * fleet.coresPerShard * fleet.shards),
  };
}

type Step = (at: number) => void;

/** Steps in the order of their times: a binary heap. */
function createAgenda() {
  const heap: { readonly at: number; readonly step: Step }[] = [];
  const isBefore = (a: number, b: number) => (heap[a]?.at ?? Infinity) < (heap[b]?.at ?? Infinity);
  const swap = (a: number, b: number) => {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  };
  return {
    add(at: number, step: Step): void {
      heap.push({ at, step });
      for (let child = heap.length - 1; child > 0; ) {
        const parent = (child - 1) >> 1;
        if (!isBefore(child, parent)) return;
        swap(child, parent);
        child = parent;
      }
    },
    runUntil(end: number): void {
      for (let first = heap[0]; first !== undefined && first.at <= end; first = heap[0]) {
        swap(0, heap.length - 1);
        heap.pop();
        for (let parent = 0; ; ) {
          const [left, right] = [2 * parent + 1, 2 * parent + 2];
          const least = isBefore(right, left) ? right : left;
          if (least >= heap.length || !isBefore(least, parent)) break;
          swap(least, parent);
          parent = least;
        }
        first.step(first.at);
      }
    },
  };
}
