import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  at,
  completion,
  createJob,
  DONE,
  done,
  ledger as entries,
  entryOf,
  expectExact,
  foundOn,
  job as jobNow,
  newPage,
  T0,
  take,
  urlsOn,
} from '../../../test/contract/store/fixtures.ts';
import { openTimed, type TimedStore } from '../../../test/contract/store/timed-store.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { TaskId } from '../../core/model/ids.ts';
import type { Task } from '../../core/model/task.ts';
import { createLogger } from '../../core/observe/logger.ts';
import { createMetrics } from '../../core/observe/metrics.ts';
import { PUT_TO_COMMIT_MS } from '../../core/ports/blobs.ts';
import type { LeaseRef } from '../../core/ports/host-store.ts';
import type { Completion, LedgerStore, Receipt } from '../../core/ports/ledger-store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import { createKnownUrls } from '../frontier/known-urls.ts';
import { createLedger, type LedgerOptions } from './ledger.ts';

const NEVER_MS = 1_000_000;
const NOTHING: Receipt = {
  rejected: [],
  readyHosts: [],
  changedJobs: [],
  finishedJobs: [],
  stoppedJobs: [],
  duplicates: [],
};

/** A store whose commits begin when the test says so, and may fail before they reach the real one. */
function heldStore(real: Pick<LedgerStore, 'commit'>) {
  const batches: (readonly Completion[])[] = [];
  const held: { run: () => void; fail: (error: unknown) => void }[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const store: LedgerStore = {
    reserveUrl: async () => false,
    async commit(completions) {
      batches.push(completions);
      running += 1;
      mostAtOnce = Math.max(mostAtOnce, running);
      try {
        await new Promise<void>((run, fail) => held.push({ run, fail }));
        return await real.commit(completions);
      } finally {
        running -= 1;
      }
    },
  };
  const next = async () => {
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), { interval: 1 });
    const first = held.shift();
    if (first === undefined) throw new Error('No commit has begun.');
    return first;
  };
  return {
    store,
    batches,
    mostAtOnce: () => mostAtOnce,
    isHeld: () => held.length > 0,
    let: async () => (await next()).run(),
    fail: async (error: unknown) => (await next()).fail(error),
  };
}

function ledgerOver(store: LedgerStore, changes: Partial<LedgerOptions> = {}) {
  const lines: string[] = [];
  const receipts: Receipt[] = [];
  const ledger = createLedger({
    store,
    now: () => T0,
    known: createKnownUrls(),
    onCommit: (receipt) => void receipts.push(receipt),
    logger: createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } }),
    metrics: createMetrics({ withProcess: false }),
    batchDelayMs: 1,
    ...changes,
  });
  return { ledger, lines, receipts };
}

const numbered = (id: number): Completion => ({
  lease: { hostId: 1 as LeaseRef['hostId'], epoch: 1, incarnation: 'a' as LeaseRef['incarnation'] },
  taskId: id as TaskId,
  jobSeq: 1 as Completion['jobSeq'],
  end: DONE,
  trace: [],
  bytes: 0,
  page: null,
  discovered: [],
});
const idsOf = (batch: readonly Completion[] | undefined) => batch?.map(({ taskId }) => Number(taskId));

describe('the order of writing', () => {
  it('does not hold back what somebody waits for', async () => {
    const held = heldStore({ commit: async () => NOTHING });
    const { ledger } = ledgerOver(held.store, { batchDelayMs: NEVER_MS });
    const written = ledger.write(numbered(1), true);
    await held.let();
    expect(await written).toBe(true);
  });

  it('what nobody waits for goes along with what somebody does', async () => {
    const held = heldStore({ commit: async () => NOTHING });
    const { ledger } = ledgerOver(held.store, { batchDelayMs: NEVER_MS });
    const writes = [ledger.write(numbered(1), false), ledger.write(numbered(2), true)];
    await held.let();
    expect(await Promise.all(writes)).toEqual([true, true]);
    expect(held.batches.map(idsOf)).toEqual([[1, 2]]);
  });

  it('gathers the others for a moment and then writes them together', async () => {
    const held = heldStore({ commit: async () => NOTHING });
    const { ledger } = ledgerOver(held.store);
    const writes = [1, 2, 3].map((id) => ledger.write(numbered(id), false));
    await held.let();
    await Promise.all(writes);
    expect(held.batches.map(idsOf)).toEqual([[1, 2, 3]]);
  });

  it('a full batch waits for nobody', async () => {
    const held = heldStore({ commit: async () => NOTHING });
    const { ledger } = ledgerOver(held.store, { batchDelayMs: NEVER_MS, maxBatch: 2 });
    const writes = [1, 2].map((id) => ledger.write(numbered(id), false));
    await held.let();
    expect(await Promise.all(writes)).toEqual([true, true]);
  });

  it('has one transaction under way at a time and keeps the order', async () => {
    const held = heldStore({ commit: async () => NOTHING });
    const { ledger } = ledgerOver(held.store, { maxBatch: 3 });
    const order: number[] = [];
    const write = (id: number) => ledger.write(numbered(id), true).then(() => order.push(id));
    const writes = [write(1)];
    await vi.waitFor(() => expect(held.isHeld()).toBe(true), { interval: 1 });
    for (const id of [2, 3, 4, 5, 6]) writes.push(write(id));
    expect(ledger.backlog).toBe(6);
    for (let batch = 0; batch < 3; batch += 1) await held.let();
    await Promise.all(writes);
    expect(held.batches.map(idsOf)).toEqual([[1], [2, 3, 4], [5, 6]]);
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
    expect(held.mostAtOnce()).toBe(1);
    expect(ledger.backlog).toBe(0);
  });

  it('tells of a commit before the writers learn of it', async () => {
    const told: string[] = [];
    const { ledger } = ledgerOver(
      { commit: async () => NOTHING, reserveUrl: async () => false },
      { onCommit: () => void told.push('everybody') },
    );
    await ledger.write(numbered(1), true).then(() => told.push('the writer'));
    expect(told).toEqual(['everybody', 'the writer']);
  });
});

describe('a store that fails', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const inTurn = () => new Promise((resolve) => setImmediate(resolve));

  /** Fails so often and then takes everything. */
  function failing(code: ErrorCode, times: number) {
    const taken: number[] = [];
    const asked: number[][] = [];
    const store: LedgerStore = {
      reserveUrl: async () => false,
      async commit(completions) {
        asked.push(idsOf(completions) ?? []);
        if (asked.length <= times) throw new ScrapifieError(code, 'not now');
        taken.push(...(idsOf(completions) ?? []));
        return NOTHING;
      },
    };
    return { store, taken, asked };
  }

  it.each(['DISK_FULL', 'STORE_UNAVAILABLE', 'STORE_REFUSED'] as const)(
    'is asked again after %s, with the same batch before all others, and nothing is dropped',
    async (code) => {
      const { store, taken, asked } = failing(code, 3);
      const { ledger, lines } = ledgerOver(store, { maxBatch: 2 });
      const writes = [1, 2, 3].map((id) => ledger.write(numbered(id), true));
      for (let failure = 1; failure <= 3; failure += 1) {
        await inTurn();
        expect(ledger.backlog).toBe(3);
        await vi.advanceTimersByTimeAsync(1_000);
      }
      expect(await Promise.all(writes)).toEqual([true, true, true]);
      expect(asked).toEqual([[1, 2], [1, 2], [1, 2], [1, 2], [3]]);
      expect(taken).toEqual([1, 2, 3]);
      expect(lines.filter((line) => line.includes(code) && line.includes('not now'))).toHaveLength(3);
    },
  );

  it('that was away for so long that bodies may be gone gets those pages as tasks to be done again', async () => {
    const { store, asked } = failing('STORE_UNAVAILABLE', 2);
    let now = T0;
    const taken: Completion[] = [];
    const taking: LedgerStore = {
      ...store,
      async commit(completions) {
        const receipt = await store.commit(completions);
        taken.push(...completions);
        return receipt;
      },
    };
    const { ledger } = ledgerOver(taking, { now: () => now });
    const page = (fetchedAt: number) => ({ fetchedAt }) as Completion['page'];
    const writes = [page(T0), page(T0 + 1_000), null].map((each, id) =>
      ledger.write({ ...numbered(id), page: each, bytes: 7 }, true),
    );
    await inTurn();
    now = T0 + 1_000 + PUT_TO_COMMIT_MS;
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(writes)).toEqual([false, true, true]);
    expect(asked).toEqual([
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
    ]);
    expect(taken[0]).toMatchObject({ end: { state: 'ready' }, page: null, bytes: 0, discovered: [] });
    expect(taken[1]).toMatchObject({ page: { fetchedAt: T0 + 1_000 }, bytes: 7 });
  });

  it('that will never take a batch refuses that batch and goes on with the next', async () => {
    const { store, taken } = failing('DATABASE_CORRUPT', 1);
    const { ledger } = ledgerOver(store, { maxBatch: 1 });
    const [first, second] = [ledger.write(numbered(1), true), ledger.write(numbered(2), true)];
    await expect(first).rejects.toMatchObject({ code: 'DATABASE_CORRUPT' });
    expect(await second).toBe(true);
    expect(taken).toEqual([2]);
  });

  it('is given up by close, and whoever waits is told', async () => {
    const { store, taken } = failing('DISK_FULL', Number.POSITIVE_INFINITY);
    const { ledger } = ledgerOver(store, { maxBatch: 1 });
    const outcomes = Promise.allSettled([1, 2].map((id) => ledger.write(numbered(id), true)));
    const flushed = ledger.flush();
    await inTurn();
    ledger.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await flushed;
    expect([taken, ledger.backlog]).toEqual([[], 0]);
  });
});

describe('a batch that the store refuses', () => {
  /** Refuses every list in which one of these tasks ends as the crawl would have it. */
  function picky(bad: readonly number[], error: unknown) {
    const asked: number[] = [];
    const kept: Completion[] = [];
    const store: LedgerStore = {
      reserveUrl: async () => false,
      async commit(completions) {
        asked.push(completions.length);
        const isRefused = completions.some(({ taskId, end }) => bad.includes(taskId) && end.state === 'done');
        if (isRefused) throw error;
        kept.push(...completions);
        return NOTHING;
      },
    };
    return { store, asked, kept };
  }

  it.each([
    ['UNSTORABLE', new ScrapifieError('UNSTORABLE', 'a key of 3,600 characters')],
    ['an error that nobody knows', new TypeError('a bug in the driver')],
  ])(
    'with %s is halved: the bad ones end with UNSTORABLE, the others are committed',
    async (_what, error) => {
      const { store, asked, kept } = picky([5, 14], error);
      const { ledger } = ledgerOver(store);
      const written = await Promise.allSettled(
        Array.from({ length: 16 }, (_, index) => ledger.write(numbered(index + 1), false)),
      );
      for (const [index, outcome] of written.entries()) {
        if (index + 1 === 5 || index + 1 === 14) {
          expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'UNSTORABLE', cause: error } });
        } else expect(outcome).toEqual({ status: 'fulfilled', value: true });
      }
      expect(idsOf(kept)?.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n + 1));
      const failed = kept.filter(({ end }) => end.state === 'failed');
      expect(idsOf(failed)).toEqual([5, 14]);
      expect(failed[0]?.end).toEqual({ state: 'failed', rule: 'store.refused', errorCode: 'UNSTORABLE' });
      expect(asked.length).toBeLessThan(20);
      expect(ledger.backlog).toBe(0);
    },
  );

  it('whatever is in it, is not taken apart to the last: its writers are told', async () => {
    const asked: number[] = [];
    const error = new TypeError('a bug in the driver');
    const store: LedgerStore = {
      reserveUrl: async () => false,
      commit(completions) {
        asked.push(completions.length);
        return Promise.reject(error);
      },
    };
    const { ledger } = ledgerOver(store);
    const written = await Promise.allSettled(
      Array.from({ length: 64 }, (_, index) => ledger.write(numbered(index + 1), false)),
    );
    expect(new Set(written.map((one) => one.status === 'rejected' && one.reason))).toEqual(new Set([error]));
    expect(asked).toEqual([64, 32, 16, 8, 4, 2, 1, 1]);
  });

  it('says nothing of a lost lease that it does not know', async () => {
    const error = new ScrapifieError('UNSTORABLE', 'a key of 3,600 characters');
    const { store } = picky([1], error);
    const lost: LedgerStore = {
      ...store,
      commit: async (completions) => ({
        ...(await store.commit(completions)),
        rejected: completions.map(({ taskId }) => taskId),
      }),
    };
    expect(await ledgerOver(lost).ledger.write(numbered(1), true)).toBe(false);
  });

  it('what listeners make of a commit does not undo it', async () => {
    const { store, kept } = picky([], null);
    const { ledger, lines } = ledgerOver(store, {
      onCommit: () => {
        throw new TypeError('a listener with a bug');
      },
    });
    expect(await ledger.write(numbered(1), true)).toBe(true);
    expect(kept).toHaveLength(1);
    expect(lines.join()).toContain('a listener with a bug');
  });

  it('is kept small enough for one statement', async () => {
    const { store, asked } = picky([], null);
    const { ledger } = ledgerOver(store, { maxBatchBytes: 1_000 });
    const withRecord = (id: number, bytes: number): Completion => ({
      ...numbered(id),
      page: newPage({ url: 'https://a.test/' } as Task, { record: new Uint8Array(bytes) }),
    });
    const sizes = [400, 400, 400, 5_000, 10, 10];
    await Promise.all(sizes.map((bytes, index) => ledger.write(withRecord(index + 1, bytes), false)));
    expect(asked).toEqual([2, 1, 1, 2]);
  });
});

describe('flush', () => {
  it('has nothing to wait for when nothing was handed in', async () => {
    await ledgerOver({ commit: async () => NOTHING, reserveUrl: async () => false }).ledger.flush();
  });

  it('does not wait for company', async () => {
    const taken: number[] = [];
    const commit = async (batch: readonly Completion[]) => {
      taken.push(...(idsOf(batch) ?? []));
      return NOTHING;
    };
    const { ledger } = ledgerOver({ commit, reserveUrl: async () => false }, { batchDelayMs: NEVER_MS });
    void ledger.write(numbered(1), false);
    await ledger.flush();
    expect(taken).toEqual([1]);
  });

  it('resolves when what was handed in before it is committed, also while more arrives', async () => {
    const held = heldStore({ commit: async () => NOTHING });
    const { ledger } = ledgerOver(held.store, { maxBatch: 2, batchDelayMs: NEVER_MS });
    let isFlushed = false;
    for (const id of [1, 2, 3]) void ledger.write(numbered(id), false);
    const flushed = ledger.flush().then(() => {
      isFlushed = true;
    });
    await held.let();
    void ledger.write(numbered(4), false);
    await vi.waitFor(() => expect(held.isHeld()).toBe(true), { interval: 1 });
    expect(isFlushed).toBe(false);
    await held.let();
    await flushed;
    expect(held.batches.flatMap((batch) => idsOf(batch) ?? [])).toEqual(expect.arrayContaining([1, 2, 3]));
  });
});

describe('with the real store', () => {
  let store: TimedStore;
  beforeAll(async () => {
    store = await openTimed((now) => createSqliteStore({ path: ':memory:', now }));
    await store.migrate();
  });
  afterAll(() => store.close());

  it('everything written is committed, the job ends, and the counters are exact', async () => {
    const { id } = await createJob(store, urlsOn('a1.test', 50));
    const { lease, tasks } = await take(store, 'a1.test');
    const { ledger, receipts } = ledgerOver(store.plain, { maxBatch: 16 });
    const kept = await Promise.all(tasks.map((task) => ledger.write(done(lease, task), false)));
    expect(kept).toEqual(tasks.map(() => true));
    expect(receipts.flatMap(({ finishedJobs }) => finishedJobs)).toEqual([id]);
    expect((await expectExact(store, id)).counters.done).toBe(50);
  });

  it('a completion of a lost lease is false, the others of its batch are kept', async () => {
    const { id } = await createJob(store, ['https://a2.test/', 'https://b2.test/']);
    const old = await take(store, 'a2.test');
    const good = await take(store, 'b2.test');
    const LATER = T0 + 600_000;
    await take(store, 'a2.test', 10, LATER);
    const { ledger } = ledgerOver(store.plain);
    const late = done(old.lease, at(old.tasks, 0), [foundOn(at(old.tasks, 0), 'https://a2.test/new')]);
    const writes = [ledger.write(late, false), ledger.write(done(good.lease, at(good.tasks, 0)), false)];
    expect(await Promise.all(writes)).toEqual([false, true]);
    expect((await entries(store, id)).map(({ url }) => url)).not.toContain('https://a2.test/new');
  });

  it('what a rejected completion found is not taken for known', async () => {
    const { id } = await createJob(store, ['https://a3.test/']);
    const old = await take(store, 'a3.test');
    const now = await take(store, 'a3.test', 10, T0 + 600_000);
    const { ledger } = ledgerOver(store.plain);
    const found = [foundOn(at(old.tasks, 0), 'https://a3.test/new')];
    expect(await ledger.write(done(old.lease, at(old.tasks, 0), found), true)).toBe(false);
    expect(await ledger.write(done(now.lease, at(now.tasks, 0), found), true)).toBe(true);
    expect((await entryOf(store, id, 'https://a3.test/new')).state).toBe('ready');
  });

  it('URLs that were committed are not written again', async () => {
    await createJob(store, urlsOn('a4.test', 2));
    const { lease, tasks } = await take(store, 'a4.test');
    const asked: string[][] = [];
    const watched: LedgerStore = {
      reserveUrl: store.plain.reserveUrl,
      commit(completions) {
        asked.push(completions.flatMap(({ discovered }) => discovered.map(({ url }) => url)));
        return store.plain.commit(completions);
      },
    };
    const { ledger } = ledgerOver(watched);
    const [first, second] = [at(tasks, 0), at(tasks, 1)];
    const menu = foundOn(first, 'https://a4.test/menu');
    const skipped = foundOn(first, 'https://b4.test/', { state: 'skipped', rule: 'scope.domain' });
    await ledger.write(done(lease, first, [menu, skipped]), true);
    await ledger.write(done(lease, second, [menu, skipped, foundOn(second, 'https://a4.test/new')]), true);
    expect(asked).toEqual([['https://a4.test/menu', 'https://b4.test/'], ['https://a4.test/new']]);
  });

  it('a URL kept out by a provisional rule is written again, and a better way to it makes it ready', async () => {
    const { id } = await createJob(store, urlsOn('a5.test', 2));
    const { lease, tasks } = await take(store, 'a5.test');
    const { ledger } = ledgerOver(store.plain);
    const [first, second] = [at(tasks, 0), at(tasks, 1)];
    const url = 'https://a5.test/page';
    const hidden = foundOn(first, url, { state: 'skipped', rule: 'scope.nofollow' });
    await ledger.write(done(lease, first, [hidden]), true);
    expect(await entryOf(store, id, url)).toMatchObject({ state: 'skipped', rule: 'scope.nofollow' });
    await ledger.write(done(lease, second, [foundOn(second, url)]), true);
    expect(await entryOf(store, id, url)).toMatchObject({ state: 'ready', rule: null });
    expect((await jobNow(store, id)).counters.open).toBe(1);
  });

  it('a task that waits stays open', async () => {
    const { id } = await createJob(store, ['https://a6.test/']);
    const { lease, tasks } = await take(store, 'a6.test');
    const { ledger } = ledgerOver(store.plain);
    const end = { state: 'waiting', readyAt: T0 + 5_000, rule: 'retry:CONNECT_FAILED' } as const;
    expect(await ledger.write(completion(lease, at(tasks, 0), end), true)).toBe(true);
    expect((await expectExact(store, id)).counters.open).toBe(1);
  });
});
