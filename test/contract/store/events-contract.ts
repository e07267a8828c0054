import { expect, vi } from 'vitest';
import type { AccountId, JobId } from '../../../src/core/model/ids.ts';
import {
  compareCursors,
  type EventCursor,
  type EventQuery,
  type PagesEventData,
  type StoredEvent,
} from '../../../src/core/ports/event-store.ts';
import type { ListPage } from '../../../src/core/ports/store.ts';
import { afterKill, type Claim, type Opened } from '../contract.ts';
import {
  at,
  completion,
  createJob,
  done,
  FAILED,
  foundOn,
  job,
  newPage,
  own,
  pages,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { OpenedStore } from './incarnation-contract.ts';
import type { TimedStore, TimelessStore } from './timed-store.ts';

/** Every event that the query finds, read in slices of `limit`. */
export async function readEvents(
  store: TimelessStore,
  query: Partial<EventQuery> = {},
): Promise<StoredEvent[]> {
  const { after = null, limit = 3, ...which } = query;
  const found: StoredEvent[] = [];
  for (let cursor = after; ; ) {
    const { items, next } = await store.listEvents({ ...which, after: cursor, limit });
    if (items.length === 0) return found;
    found.push(...items);
    cursor = next;
  }
}

/** Reads until the condition holds: a transaction of another case on the same server may delay readers for a moment. */
export async function eventsUntil(
  store: TimelessStore,
  isWhole: (events: readonly StoredEvent[]) => boolean,
  query: Partial<EventQuery> = {},
): Promise<StoredEvent[]> {
  return vi.waitFor(
    async () => {
      const events = await readEvents(store, query);
      if (!isWhole(events)) throw new Error(`Only ${events.map(({ type }) => type).join(', ')}.`);
      return events;
    },
    { timeout: 20_000, interval: 20 },
  );
}

const ends = (type: string) => (events: readonly StoredEvent[]) => events.some((each) => each.type === type);
const types = (events: readonly StoredEvent[]) => events.map(({ type }) => type);
const pagesIn = (events: readonly StoredEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'pages.committed' ? (data as unknown as PagesEventData).pages : [],
  );

async function afterComingBack(opened: Opened<TimedStore>, show: (store: TimedStore) => Promise<void>) {
  const again = await (opened as OpenedStore).comeBack();
  try {
    await show(again.driver);
  } finally {
    await again.close();
  }
}

/** What happened, written with what it tells, in an order that readers can follow. */
export function eventsContract(holds: Claim<TimedStore>): void {
  holds(
    'recent events come newest first, without those of pages, and only of their account',
    async (store) => {
      const accountId = await store.defaultAccount();
      const { id } = await createJob(store, urlsOn('a.test', 2));
      const { lease, tasks } = await take(store, 'a.test');
      await store.commit(
        tasks.map((task) => done(lease, task)),
        T0,
      );
      await store.appendEvents([
        { type: 'export.ready', accountId, jobId: null, data: { n: 1 } },
        { type: 'export.failed', accountId: 'another' as AccountId, jobId: null, data: {} },
      ]);
      const seen: string[] = [];
      let before: EventCursor | null = null;
      do {
        const slice: ListPage<StoredEvent> = await store.listRecentEvents({ accountId, before, limit: 2 });
        seen.push(...slice.items.map(({ type }) => type));
        before = slice.nextCursor as EventCursor | null;
      } while (before !== null);
      expect(seen).toEqual(['export.ready', 'job.completed', 'job.started', 'job.created']);
      const [newest] = (await store.listRecentEvents({ accountId, before: null, limit: 1 })).items;
      expect(newest).toMatchObject({ type: 'export.ready', data: { n: 1 } });
      expect(newest?.jobId).not.toBe(id);
    },
  );

  holds('gives the events of one job times that never go back, whatever clocks say', async (store) => {
    const created = await createJob(store, urlsOn('a.test', 4));
    const { lease, tasks } = await take(store, 'a.test', 1);
    await store.commit([done(lease, at(tasks, 0))], T0 + 5_000);
    // The clock was set back, or this transaction began long before the other.
    const second = await store.claimTasks(lease, 1, T0 + 5_000, []);
    await store.commit([done(lease, at(second, 0))], T0 + 1_000);
    await store.cancelJob(created.id, T0 + 2_000);
    const events = await eventsUntil(store, ends('job.cancelled'), { jobId: created.id });
    const times = events.map((event) => event.at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThanOrEqual(T0 + 5_000);
    expect(types(events).slice(0, 4)).toEqual([
      'job.created',
      'job.started',
      'pages.committed',
      'pages.committed',
    ]);
  });

  holds(
    'tells the life of a job in the order of its commits, the end after the last pages',
    async (store) => {
      const created = await createJob(store, urlsOn('a.test', 3));
      const { lease, tasks } = await take(store, 'a.test', 1);
      const first = at(tasks, 0);
      await store.commit([done(lease, first, [foundOn(first, 'https://a.test/found')])], T0 + 1);
      const rest = await store.claimTasks(lease, 10, T0 + 2, []);
      await store.commit(
        rest.map((task) => done(lease, task)),
        T0 + 3,
      );
      const events = await eventsUntil(store, ends('job.completed'), { jobId: created.id });
      expect(types(events)).toEqual([
        'job.created',
        'job.started',
        'pages.committed',
        'pages.committed',
        'job.completed',
      ]);
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      expect(events.map(({ accountId, jobId }) => [accountId, jobId])).toEqual(
        events.map(() => [created.accountId, created.id]),
      );
      expect(at(events, 0)).toMatchObject({
        at: T0,
        data: { kind: 'crawl', status: 'queued', stopReason: null, counters: { known: 0, open: 0 } },
      });
      const { counters } = await job(store, created.id);
      const { claimed, browserMs, proxyBytes, ...shown } = counters;
      expect([claimed, browserMs, proxyBytes]).toEqual([0, 0, 0]);
      expect(at(events, 4)).toMatchObject({ at: T0 + 3, data: { status: 'completed' } });
      expect(at(events, 4).data.counters).toEqual(shown);
      const named = await store.listEventPages(created.id, pagesIn(events));
      expect(named.map(({ url, taskId }) => [url, taskId])).toEqual(
        (await pages(store, created.id)).map(({ url, taskId }) => [url, taskId]),
      );
    },
  );

  holds(
    'tells of pages that failed, of jobs that end that way, and of pages that are stored again',
    async (store) => {
      const { id } = await createJob(store, urlsOn('a.test', 2));
      const { lease, tasks } = await take(store, 'a.test');
      const error = {
        errorCode: 'CONNECT_FAILED',
        errorMessage: 'refused',
        contentHash: null,
        title: null,
      } as const;
      const failed = tasks.map((task) => completion(lease, task, FAILED, { page: newPage(task, error) }));
      await store.commit(failed, T0 + 1);
      const events = await eventsUntil(store, ends('job.failed'), { jobId: id });
      expect(types(events)).toEqual(['job.created', 'job.started', 'pages.committed', 'job.failed']);
      const [page] = await store.listEventPages(id, pagesIn(events));
      expect(page).toMatchObject({
        errorCode: 'CONNECT_FAILED',
        errorMessage: 'refused',
        url: 'https://a.test/0',
      });
      await store.retryJob(id, T0 + 2);
      const again = await store.claimTasks(lease, 10, T0 + 3, []);
      await store.commit(
        again.map((task) => done(lease, task)),
        T0 + 3,
      );
      const after = at(events, 3).cursor;
      const more = await eventsUntil(store, ends('job.completed'), { jobId: id, after });
      expect(types(more)).toEqual(['job.resumed', 'pages.committed', 'job.completed']);
      // The pages of the first time are gone.
      expect(await store.listEventPages(id, pagesIn(events))).toEqual([]);
      expect(await store.listEventPages(id, pagesIn(more))).toHaveLength(2);
    },
  );

  holds('tells that a job is stopping before it has ended, and that it goes on', async (store) => {
    const cancelled = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test', 1);
    await store.cancelJob(cancelled.id, T0 + 1);
    await store.commit([done(lease, at(tasks, 0))], T0 + 2);
    await store.resumeJob(cancelled.id, T0 + 3);
    await store.plain.stopJob(cancelled.id, 'login-walls');
    const events = await eventsUntil(store, ends('job.completed'), { jobId: cancelled.id });
    expect(types(events)).toEqual([
      'job.created',
      'job.started',
      'job.stopping',
      'pages.committed',
      'job.cancelled',
      'job.resumed',
      'job.stopping',
      'job.completed',
    ]);
    expect(at(events, 6).data).toMatchObject({ stopReason: 'login-walls', status: 'running' });
    expect(at(events, 7).data).toMatchObject({
      stopReason: 'login-walls',
      counters: { pages: 1, skipped: 2 },
    });
  });

  holds(
    'has one event for the pages of a job in a commit, and none for a commit that is void',
    async (store) => {
      const one = await createJob(store, urlsOn('a.test', 30));
      const two = await createJob(store, ['https://a.test/other', ...urlsOn('b.test', 1)]);
      const { lease, tasks } = await take(store, 'a.test');
      const batch = tasks.map((task) => done(lease, task));
      await store.commit(batch, T0 + 1);
      await store.commit(
        tasks.map((task) => done(lease, task)),
        T0 + 2,
      );
      const events = await eventsUntil(store, ends('job.completed'));
      const stored = events.filter(({ type }) => type === 'pages.committed');
      expect(stored.map(({ jobId }) => jobId).sort()).toEqual([one.id, two.id].sort());
      expect(pagesIn(events)).toHaveLength(31);
      const other = stored.find(({ jobId }) => jobId === two.id);
      // The pages of another job are not found under this one.
      expect(await store.listEventPages(one.id, pagesIn(other === undefined ? [] : [other]))).toEqual([]);
    },
  );

  holds(
    'lists the events of one account, of one job and of all, each as a part of one order',
    async (store) => {
      const mine = await createJob(store, []);
      const other = { accountId: 'other' as AccountId, jobId: null, data: { name: 'nightly', text: 'a\0b' } };
      await store.appendEvents([
        { ...other, type: 'schedule.missed' },
        { ...other, type: 'export.ready' },
      ]);
      await createJob(store, []);
      const isWhole = (events: readonly StoredEvent[]) => events.length === 6;
      const all = await eventsUntil(store, isWhole);
      expect(types(all).slice(2, 4)).toEqual(['schedule.missed', 'export.ready']);
      expect(at(all, 2).data.name).toBe('nightly');
      expect(await readEvents(store, { accountId: other.accountId })).toEqual(all.slice(2, 4));
      expect(await readEvents(store, { accountId: mine.accountId })).toEqual([
        ...all.slice(0, 2),
        ...all.slice(4),
      ]);
      expect(await readEvents(store, { jobId: mine.id })).toEqual(all.slice(0, 2));
      expect(await readEvents(store, { jobId: mine.id, accountId: other.accountId })).toEqual([]);
      expect(await readEvents(store, { jobId: '00000000-0000-7000-8000-000000000000' as JobId })).toEqual([]);
      const cursors = all.map(({ cursor }) => cursor);
      expect(cursors.toSorted(compareCursors)).toEqual(cursors);
    },
  );

  holds('goes on after any cursor, and after that of now with what comes then', async (store) => {
    const first = await createJob(store, []);
    const before = await eventsUntil(store, ends('job.completed'));
    const head = await store.eventHead();
    expect(await readEvents(store, { after: head })).toEqual([]);
    expect((await store.listEvents({ after: head, limit: 5 })).next).toBe(head);
    const second = await createJob(store, []);
    const after = await eventsUntil(store, ends('job.completed'), { after: head });
    expect(after.map(({ jobId }) => jobId)).toEqual([second.id, second.id]);
    const middle = at(before, 0).cursor;
    const rest = await readEvents(store, { after: middle, limit: 1 });
    expect(rest.map(({ jobId }) => jobId)).toEqual([first.id, second.id, second.id]);
    for (const cursor of ['', 'x', '1-2', '1-2-3-4', 'zzzzzzzzzzz-0-0', "0-0-0'"]) {
      const asked = store.listEvents({ after: cursor as EventCursor, limit: 5 });
      await expect(asked).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    }
  });

  holds('keeps events and cursors when it is opened again', async (store, opened) => {
    await createJob(store, []);
    const before = await eventsUntil(store, ends('job.completed'));
    const head = await store.eventHead();
    await afterKill(opened, async (again) => {
      expect(await readEvents(again)).toEqual(before);
      const { id } = await createJob(again, []);
      const events = await eventsUntil(again, ends('job.completed'), { after: head });
      expect(events.map(({ jobId }) => jobId)).toEqual([id, id]);
    });
  });

  holds('has new events after every cursor that another incarnation gave out', async (store, opened) => {
    await createJob(store, []);
    const [, last] = await eventsUntil(store, ends('job.completed'));
    // What the former incarnation wrote and this one never had: readers were further than the store is now.
    const lost = last?.cursor.replace(/-[^-]+-[^-]+$/, '-zzzzzz-zzzzzz') as EventCursor;
    const head = await store.eventHead();
    await afterComingBack(opened, async (again) => {
      const { id } = await createJob(again, []);
      const isNew = (events: readonly StoredEvent[]) => events.length === 2;
      for (const after of [lost, head]) {
        const events = await eventsUntil(again, isNew, { after });
        expect(events.map(({ jobId }) => jobId)).toEqual([id, id]);
      }
      expect(await readEvents(again)).toHaveLength(4);
    });
  });

  holds('keeps the events of a job that is deleted, without its pages', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 1));
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([done(lease, at(tasks, 0))], T0 + 1);
    const events = await eventsUntil(store, ends('job.completed'), { jobId: id });
    await store.deleteJob(id);
    expect(await readEvents(store, { jobId: id })).toEqual(events);
    expect(await store.listEventPages(id, pagesIn(events))).toEqual([]);
  });

  holds('removes the oldest events and tells readers that come from before them', async (store) => {
    for (const moment of [T0, T0 + 10, T0 + 20, T0 + 30]) await createJob(store, [], { at: moment });
    const all = await eventsUntil(store, (events) => events.length === 8);
    const gapAfter = async (after: EventCursor | null) =>
      (await store.listEvents({ after, limit: 1 })).hasGap;
    expect(await gapAfter(at(all, 0).cursor)).toBe(false);
    const second = at(all, 3).cursor;
    expect(await store.deleteEvents({ before: T0 + 25, through: second, limit: 3 })).toBe(3);
    expect(await store.deleteEvents({ before: T0 + 25, through: second, limit: 3 })).toBe(1);
    expect(await store.deleteEvents({ before: T0 + 25, through: second, limit: 3 })).toBe(0);
    expect(await readEvents(store)).toEqual(all.slice(4));
    expect([await gapAfter(null), await gapAfter(at(all, 2).cursor), await gapAfter(second)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(await store.deleteEvents({ before: T0 + 25, limit: 100 })).toBe(2);
    expect(await store.deleteEvents({ before: T0 + 100, limit: 100 })).toBe(2);
    // Numbers are not given out again when all events are gone.
    const { id } = await createJob(store, [], { at: T0 + 40 });
    const after = at(all, 7).cursor;
    const events = await eventsUntil(store, ends('job.completed'), { after });
    expect(events.map(({ jobId }) => jobId)).toEqual([id, id]);
  });

  holds('writes no event of a call that failed', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 1));
    await own(store, 'a.test');
    await expect(store.deleteJob(id)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(
      store.plain.createJob(
        { ...(await job(store, id)), accountId: 'missing' as AccountId, id: 'other' as JobId },
        [],
      ),
    ).rejects.toThrow();
    expect(types(await eventsUntil(store, ends('job.created')))).toEqual(['job.created']);
  });
}
