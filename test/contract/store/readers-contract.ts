import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { ReaderName } from '../../../src/core/model/derived.ts';
import type { JobId } from '../../../src/core/model/ids.ts';
import type { Job, JobOptions } from '../../../src/core/model/job.ts';
import type { EventCursor, StoredEvent } from '../../../src/core/ports/event-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import { at, createJob, done, newTask, OPTIONS, T0, take } from './fixtures.ts';
import type { TimedStore, TimelessStore } from './timed-store.ts';

async function askFor(store: TimedStore, host: string, derived: Partial<JobOptions>): Promise<Job> {
  const id = randomUUID() as string as JobId;
  const accountId = await store.defaultAccount();
  const job = { id, accountId, kind: 'crawl', seeds: [], createdAt: T0 } as const;
  return store.createJob({ ...job, options: { ...OPTIONS, ...derived } }, [newTask(`https://${host}/`)]);
}

async function end(store: TimedStore, host: string): Promise<void> {
  const { lease, tasks } = await take(store, host);
  await store.commit([done(lease, at(tasks, 0))], T0 + 1);
}

/** Everything that the reader finds, with its cursor moved on; waits until the condition holds. */
async function readAll(
  store: TimelessStore,
  name: ReaderName,
  isWhole: (events: readonly StoredEvent[]) => boolean,
): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  await vi.waitFor(
    async () => {
      for (let batch = await store.readEvents(name, 2); batch !== null && batch.looked > 0; ) {
        found.push(...batch.events);
        expect(await store.advanceReader(name, batch)).toBe(true);
        batch = await store.readEvents(name, 2);
      }
      if (!isWhole(found)) throw new Error(`Only ${found.map(({ type }) => type).join(', ')}.`);
    },
    { timeout: 20_000, interval: 20 },
  );
  return found;
}

const hasEnd = (id: JobId) => (events: readonly StoredEvent[]) =>
  events.some(({ type, jobId }) => jobId === id && type === 'job.completed');

/** How far the readers of events have come. */
export function readersContract(holds: Claim<TimedStore>): void {
  holds('lets readers rest until a job has their option, and then begin with that job', async (store) => {
    await createJob(store, []);
    await eventsUntil(store, (events) => events.length === 2);
    expect(await store.readEvents('snapshots', 10)).toBeNull();
    expect(await store.readerCursor('snapshots')).toBeNull();
    const asking = await askFor(store, 'a.test', { snapshots: true });
    await createJob(store, []);
    await end(store, 'a.test');
    const events = await readAll(store, 'snapshots', hasEnd(asking.id));
    expect(events.map(({ type }) => type)).toEqual([
      'job.created',
      'job.started',
      'pages.committed',
      'job.completed',
    ]);
    expect(new Set(events.map(({ jobId }) => jobId))).toEqual(new Set([asking.id]));
    expect(await store.readEvents('lake', 10)).toBeNull();
  });

  holds('wakes the reader of each option that a job has', async (store) => {
    await askFor(store, 'a.test', { search: true, exports: [{ type: 'full', format: 'csv' }] });
    await askFor(store, 'b.test', { monitorId: 'mon_1', lake: true });
    const names: ReaderName[] = ['snapshots', 'search', 'lake', 'exports', 'monitors'];
    const awake = await Promise.all(names.map((name) => store.readerCursor(name)));
    expect(names.filter((_, index) => awake[index] !== null)).toEqual(names.slice(1));
  });

  holds('moves a cursor for one of two processes only', async (store) => {
    const { id } = await askFor(store, 'a.test', { lake: true });
    await end(store, 'a.test');
    await eventsUntil(store, hasEnd(id));
    const batch = await store.readEvents('lake', 2);
    if (batch === null) throw new Error('The reader rests.');
    const moved = await Promise.all([1, 2, 3].map(() => store.advanceReader('lake', batch)));
    expect(moved.filter(Boolean)).toHaveLength(1);
    expect(await store.readerCursor('lake')).toBe(batch.next);
    expect(await store.advanceReader('snapshots', batch)).toBe(false);
  });

  holds('lets a reader rest only when its jobs have ended and it has read their events', async (store) => {
    const { id } = await askFor(store, 'a.test', { search: true });
    const rest = async () => store.restReader('search', (await store.readerCursor('search')) as EventCursor);
    await readAll(store, 'search', (events) => events.length > 0);
    expect(await rest()).toBe(false);
    await end(store, 'a.test');
    // The job has ended, and its last events are unread.
    expect(await rest()).toBe(false);
    const before = (await store.readerCursor('search')) as EventCursor;
    await readAll(store, 'search', hasEnd(id));
    expect(await store.restReader('search', before)).toBe(false);
    // Events of others do not keep it awake.
    await createJob(store, []);
    expect(await rest()).toBe(true);
    expect(await store.readEvents('search', 10)).toBeNull();
  });

  holds('wakes a reader for a job that goes on after its end', async (store) => {
    const { id } = await askFor(store, 'a.test', { search: true });
    await store.cancelJob(id, T0 + 1);
    await readAll(store, 'search', (events) => events.some(({ type }) => type === 'job.cancelled'));
    expect(await store.restReader('search', (await store.readerCursor('search')) as EventCursor)).toBe(true);
    await store.resumeJob(id, T0 + 2);
    await end(store, 'a.test');
    const events = await readAll(store, 'search', hasEnd(id));
    expect(events.map(({ type }) => type)).toContain('pages.committed');
  });

  holds('keeps the events that a reader has not read, and none for one that rests', async (store) => {
    await createJob(store, []);
    const asking = await askFor(store, 'a.test', { lake: true });
    await end(store, 'a.test');
    const all = await eventsUntil(store, hasEnd(asking.id));
    const before = Date.now() + 1_000_000;
    const first = all.findIndex(({ jobId }) => jobId === asking.id);
    expect(await store.deleteEvents({ before, limit: 100 })).toBeLessThanOrEqual(first);
    const batch = await store.readEvents('lake', 100);
    expect(batch?.events.map(({ type }) => type)).toEqual(all.slice(first).map(({ type }) => type));
    if (batch !== null) await store.advanceReader('lake', batch);
    await store.deleteEvents({ before, limit: 100 });
    expect((await store.listEvents({ after: null, limit: 100 })).items).toEqual([]);
  });

  holds('keeps the cursors of readers when it is opened again', async (store, opened) => {
    const { id } = await askFor(store, 'a.test', { lake: true });
    await end(store, 'a.test');
    await readAll(store, 'lake', hasEnd(id));
    const cursor = await store.readerCursor('lake');
    await afterKill(opened, async (again) => {
      expect(await again.readerCursor('lake')).toBe(cursor);
      const other = await askFor(again, 'b.test', { lake: true });
      await end(again, 'b.test');
      const events = await readAll(again, 'lake', hasEnd(other.id));
      expect(new Set(events.map(({ jobId }) => jobId))).toEqual(new Set([other.id]));
    });
  });

  holds('misses no job that begins while the reader goes to rest', async (store) => {
    const ended = new Set<JobId>();
    let isOver = false;
    /** Reads and tries to rest as often as it can. */
    const reading = (async () => {
      const seen = new Set<JobId>();
      for (let looks = 0; !isOver || looks < 2; ) {
        const batch = await store.readEvents('search', 50);
        if (isOver) looks += batch === null ? 1 : 0;
        if (batch === null) continue;
        for (const { jobId, type } of batch.events)
          if (type === 'job.completed' && jobId !== null) seen.add(jobId);
        if (batch.looked > 0) await store.advanceReader('search', batch);
        else await store.restReader('search', batch.after);
      }
      return seen;
    })();
    const accountId = await store.defaultAccount();
    const begin = async () => {
      for (let n = 0; n < 8; n += 1) {
        const id = randomUUID() as string as JobId;
        const job = { id, accountId, kind: 'crawl', seeds: [] } as const;
        // Without a task: it has ended when it is made.
        await store.plain.createJob({ ...job, options: { ...OPTIONS, search: true } }, []);
        ended.add(id);
      }
    };
    await Promise.all([begin(), begin(), begin()]);
    isOver = true;
    expect(await reading).toEqual(ended);
  });
}
