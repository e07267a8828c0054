import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { at, done, newTask, OPTIONS, T0, take } from '../../../test/contract/store/fixtures.ts';
import { openTimed, type TimedStore } from '../../../test/contract/store/timed-store.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { EventCursor, StoredEvent } from '../../core/ports/event-store.ts';
import { createBusLocal } from '../../drivers/bus-local/bus-local.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import { createEventReader, type EventReaderDeps, LONGEST_WAIT_MS } from './event-reader.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openStore(): Promise<TimedStore> {
  const store = await openTimed((now) => createSqliteStore({ path: ':memory:', now }));
  closers.push(() => store.close());
  await store.migrate();
  return store;
}

async function crawl(store: TimedStore, host: string, option: 'snapshots' | 'lake' = 'lake'): Promise<JobId> {
  const id = randomUUID() as string as JobId;
  const job = {
    id,
    accountId: await store.defaultAccount(),
    kind: 'crawl',
    seeds: [],
    createdAt: T0,
  } as const;
  await store.createJob({ ...job, options: { ...OPTIONS, [option]: true } }, [newTask(`https://${host}/`)]);
  const { lease, tasks } = await take(store, host);
  await store.commit([done(lease, at(tasks, 0))], T0 + 1);
  return id;
}

function read(store: TimedStore, given: Partial<EventReaderDeps> = {}) {
  const lines: string[] = [];
  const seen: StoredEvent[] = [];
  const bus = createBusLocal({ onListenerError: () => undefined });
  const reader = createEventReader({
    name: 'lake',
    store: store.plain,
    bus,
    logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    clock: () => performance.now(),
    owner: null,
    async apply(events, range) {
      const isMoved = await store.plain.advanceReader('lake', range);
      if (isMoved) seen.push(...events);
      return isMoved;
    },
    ...given,
  });
  reader.start();
  closers.push(() => reader.stop(5_000));
  return { reader, seen, lines };
}

const ENDS = ['job.created', 'job.started', 'pages.committed', 'job.completed'];

describe('a reader of events', () => {
  it('hands over every event of the jobs that ask for it once, and rests afterwards', async () => {
    const store = await openStore();
    await crawl(store, 'a.test');
    const { reader, seen } = read(store);
    await reader.settle();
    expect(seen.map(({ type }) => type)).toEqual(ENDS);
    expect(await store.readerCursor('lake')).toBeNull();
    const second = await crawl(store, 'b.test');
    await reader.settle();
    expect(seen.slice(4).map(({ jobId }) => jobId)).toEqual([second, second, second, second]);
  });

  it('passes over an event that fails each time, and hands over those before and behind it', async () => {
    const store = await openStore();
    await crawl(store, 'a.test');
    const applied: string[] = [];
    const { reader, lines } = read(store, {
      async apply(events, range) {
        if (events.some(({ type }) => type === 'pages.committed')) throw new Error('poison');
        applied.push(...events.map(({ type }) => type));
        return store.plain.advanceReader('lake', range);
      },
    });
    await reader.settle();
    expect(applied).toEqual(ENDS.filter((type) => type !== 'pages.committed'));
    expect(lines.filter((line) => line.includes('an event was passed over'))).toHaveLength(1);
  });

  it('passes over nothing while a server is away', async () => {
    const store = await openStore();
    await crawl(store, 'a.test');
    let calls = 0;
    const { reader, seen } = read(store, {
      async apply(events, range) {
        calls += 1;
        if (calls < 5) throw new ScrapifieError('BLOBS_UNAVAILABLE', 'The object store is away.');
        seen.push(...events);
        return store.plain.advanceReader('lake', range);
      },
    });
    await reader.settle();
    expect([calls, seen.map(({ type }) => type)]).toEqual([5, ENDS]);
  });

  it('waits for the reader that it follows', async () => {
    const store = await openStore();
    const id = randomUUID() as string as JobId;
    const options = { ...OPTIONS, lake: true, snapshots: true } as const;
    const accountId = await store.defaultAccount();
    await store.createJob({ id, accountId, kind: 'crawl', seeds: [], createdAt: T0, options }, []);
    const batch = await store.readEvents('snapshots', 100);
    const { reader, seen } = read(store, { follows: 'snapshots' });
    const settled = reader.settle();
    const first = batch?.events[0]?.cursor as EventCursor;
    const after = batch?.after as EventCursor;
    await store.plain.advanceReader('snapshots', { after, next: first });
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(1);
    await store.plain.advanceReader('snapshots', { after: first, next: batch?.next as EventCursor });
    await settled;
    expect(seen.map(({ type }) => type)).toEqual(['job.created', 'job.completed']);
  });

  it('waits for more urgent work, no longer than is promised, and tells how far it is behind', async () => {
    const store = await openStore();
    let [time, asked] = [0, 0];
    const bus = createBusLocal({ onListenerError: () => undefined });
    // A job that goes on keeps the reader from resting.
    const id = randomUUID() as string as JobId;
    const accountId = await store.defaultAccount();
    const options = { ...OPTIONS, lake: true } as const;
    await store.createJob({ id, accountId, kind: 'crawl', seeds: [], createdAt: T0, options }, [
      newTask('https://a.test/'),
    ]);
    const { reader, seen } = read(store, {
      bus,
      clock: () => time,
      isBusy: () => {
        asked += 1;
        return true;
      },
    });
    await reader.settle();
    await crawl(store, 'b.test');
    bus.publish('job.changed', { jobs: [id], finished: [] });
    const before = asked;
    await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(before + 2);
    time = LONGEST_WAIT_MS - 1;
    expect([seen.length, reader.lagMs()]).toEqual([1, LONGEST_WAIT_MS - 1]);
    time = LONGEST_WAIT_MS;
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(1 + ENDS.length);
    await expect.poll(() => reader.lagMs(), { timeout: 20_000 }).toBe(0);
  });

  it('lets the first events of a job wait for more urgent work as well', async () => {
    const store = await openStore();
    await crawl(store, 'a.test');
    let [asked, isBusy] = [0, true];
    const { seen } = read(store, {
      isBusy: () => {
        asked += 1;
        return isBusy;
      },
    });
    await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(2);
    expect(seen).toEqual([]);
    isBusy = false;
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(ENDS.length);
  });

  it('does not wait for other work once a command waits for the end', async () => {
    const store = await openStore();
    await crawl(store, 'a.test');
    const { reader, seen } = read(store, { isBusy: () => true });
    await reader.settle();
    expect(seen).toHaveLength(ENDS.length);
  });

  it('is one process at a time where several share the store', async () => {
    const store = await openStore();
    const first = read(store, { owner: 'one' });
    await first.reader.settle();
    const second = read(store, { owner: 'two' });
    await crawl(store, 'a.test');
    await first.reader.settle();
    expect([first.seen.length, second.seen.length]).toEqual([4, 0]);
    await first.reader.stop(1_000);
    await crawl(store, 'b.test');
    await second.reader.settle();
    expect([first.seen.length, second.seen.length]).toEqual([4, 4]);
  });
});
