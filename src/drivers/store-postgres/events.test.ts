import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventsUntil, readEvents } from '../../../test/contract/store/events-contract.ts';
import { at, createJob, done, T0, take, urlsOn } from '../../../test/contract/store/fixtures.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { NewEvent, PagesEventData, StoredEvent } from '../../core/ports/event-store.ts';
import { openStores } from './open-stores.fixture.ts';
import { restoreIncarnation, type Schema } from './schema.fixture.ts';

const named = (name: string, jobId: JobId | null = null): NewEvent => ({
  type: 'export.ready',
  accountId: 'default' as AccountId,
  jobId,
  data: { name },
});
const names = (events: readonly StoredEvent[]) => events.map(({ data }) => data.name);

/** A transaction beside the store that is kept open and has its number already. */
async function openTransaction(schema: Schema) {
  const client = new pg.Client({ connectionString: schema.url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN; SELECT pg_current_xact_id()');
  return client;
}

describe('events of transactions that overtake each other', () => {
  it('are read when all that began before have ended, in one order for good', async () => {
    const { schema, stores } = await openStores(1);
    const store = at(stores, 0);
    const slow = await openTransaction(schema);
    await store.appendEvents([named('overtakes')]);
    const head = await store.eventHead();
    expect(await readEvents(store)).toEqual([]);
    await slow.query(`SELECT write_event('export.ready', 'default', NULL, 1, '{"name": "slow"}')`);
    expect(await readEvents(store)).toEqual([]);
    await slow.query('COMMIT');
    const events = await eventsUntil(store, ({ length }) => length === 2);
    expect(names(events)).toEqual(['slow', 'overtakes']);
    // The cursor of now came before both: neither could be read then.
    expect(await readEvents(store, { after: head })).toEqual(events);
  });

  it('are in the order of the commits within a job, also where the numbers are not', async () => {
    const { schema, stores } = await openStores(1);
    const store = at(stores, 0);
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test');
    const slow = await openTransaction(schema);
    await store.commit([done(lease, at(tasks, 0))], T0 + 1);
    await slow.query(`UPDATE jobs SET stop_reason = 'slow' WHERE id = $1`, [id]);
    await slow.query('COMMIT');
    await store.commit([done(lease, at(tasks, 1)), done(lease, at(tasks, 2))], T0 + 2);
    const events = await eventsUntil(store, (all) => all.some(({ type }) => type === 'job.completed'));
    expect(events.map(({ type }) => type)).toEqual([
      'job.created',
      'job.started',
      'pages.committed',
      'job.stopping',
      'pages.committed',
      'job.completed',
    ]);
  });

  it('are neither missed nor repeated by a reader that follows while many write', async () => {
    const { schema, stores } = await openStores(4);
    const store = at(stores, 0);
    const jobs = await Promise.all(
      stores.map((each, n) => createJob(each, [...urlsOn(`h${n}.test`, 12), ...urlsOn(`g${n}.test`, 12)])),
    );
    let isOver = false;
    const follow = async () => {
      const seen: StoredEvent[] = [];
      for (let cursor = null as StoredEvent['cursor'] | null; ; ) {
        const wasOver = isOver;
        const { items, next } = await store.listEvents({ after: cursor, limit: 5 });
        seen.push(...items);
        if (items.length === 0 && wasOver) return seen;
        cursor = next;
      }
    };
    const following = follow();
    const work = async (host: string, n: number) => {
      const { lease, tasks } = await take(at(stores, n), host);
      // Transactions that began before the commit and end at any time after it.
      for (const [turn, task] of tasks.entries()) {
        const slow = turn % 4 === 0 ? await openTransaction(schema) : null;
        await at(stores, n).commit([done(lease, task)], T0 + turn);
        await slow?.query(`SELECT write_event('export.ready', 'default', NULL, 1, '{"name": "slow"}')`);
        if (slow !== null) void slow.query('SELECT pg_sleep(0.02 * random()); COMMIT');
      }
    };
    await Promise.all(stores.flatMap((_, n) => [work(`h${n}.test`, n), work(`g${n}.test`, (n + 1) % 4)]));
    const expected = 4 * (3 + 24) + 4 * 2 * 3;
    await eventsUntil(store, ({ length }) => length === expected);
    isOver = true;
    const seen = await following;
    expect(seen.map(({ id }) => id)).toEqual((await readEvents(store, { limit: 100 })).map(({ id }) => id));
    for (const { id } of jobs) {
      const ofJob = seen.filter(({ jobId }) => jobId === id);
      expect(ofJob.map(({ type }) => type)).toEqual([
        'job.created',
        'job.started',
        ...Array(24).fill('pages.committed'),
        'job.completed',
      ]);
      const stored = ofJob.flatMap(({ data }) => (data as unknown as PagesEventData).pages ?? []);
      expect(new Set(stored).size).toBe(24);
    }
  });

  it('can be read in a database that was restored elsewhere, where transactions have smaller numbers', async () => {
    const { schema, stores } = await openStores(1);
    const store = at(stores, 0);
    await store.appendEvents([named('old'), named('older')]);
    await eventsUntil(store, ({ length }) => length === 2);
    await schema.query('UPDATE events SET tx = tx + 1000000000');
    expect(await readEvents(store)).toEqual([]);
    await restoreIncarnation(schema);
    expect(names(await readEvents(store))).toEqual(['old', 'older']);
    await store.appendEvents([named('new')]);
    const events = await eventsUntil(store, ({ length }) => length === 3);
    expect(names(events)).toEqual(['old', 'older', 'new']);
  });

  it('are not written for rows that are copied from another store', async () => {
    const { schema, stores } = await openStores(1);
    const store = at(stores, 0);
    await schema.query(
      `SET scrapifie.events = 'off';
       INSERT INTO jobs (id, account_id, kind, status, options, seeds, created_at)
       VALUES ('copied', 'default', 'crawl', 'completed', '{}', '[]', 1)`,
    );
    await store.appendEvents([named('only')]);
    expect(names(await eventsUntil(store, ({ length }) => length > 0))).toEqual(['only']);
  });
});
