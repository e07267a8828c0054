import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createJob, done, take, urlsOn } from '../../../test/contract/store/fixtures.ts';
import { openTimed, type TimedStore } from '../../../test/contract/store/timed-store.ts';
import type { Job } from '../../core/model/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { createBusLocal } from '../../drivers/bus-local/bus-local.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import type { DropReason, EventSink } from './event-listener.ts';
import {
  createEventStreams,
  type EventStreams,
  type EventStreamsOptions,
  type StreamRequest,
} from './event-streams.ts';
import { parseEventStream } from './stream-frames.ts';

const bus = createBusLocal({ onListenerError: () => undefined });
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A client that takes what is sent, or stops doing so. */
class Client implements EventSink {
  text = '';
  takes = true;
  isDestroyed = false;
  isEnded = false;
  readonly #gone = new AbortController();
  readonly gone = this.#gone.signal;
  open() {}
  write(bytes: Buffer | string): boolean {
    this.text += String(bytes);
    return this.takes;
  }
  drained = () => (this.takes ? Promise.resolve() : new Promise<void>(() => undefined));
  end() {
    this.isEnded = true;
  }
  destroy() {
    this.isDestroyed = true;
    this.#gone.abort();
  }
  async events() {
    const { text } = this;
    return Array.fromAsync(
      parseEventStream(
        (async function* () {
          yield text;
        })(),
      ),
    );
  }
}

async function openStore(): Promise<{ store: TimedStore; reads: () => number; counted: Store }> {
  const store = await openTimed((now) => createSqliteStore({ path: ':memory:', now }));
  closers.push(() => store.close());
  await store.migrate();
  let reads = 0;
  const counted: Store = {
    ...store.plain,
    listEvents(query) {
      reads += 1;
      return store.plain.listEvents(query);
    },
  };
  return { store, counted, reads: () => reads };
}

function openStreams(
  store: Store,
  given: Partial<Pick<EventStreamsOptions, 'drainMs' | 'onDropped' | 'now'>> = {},
) {
  const streams = createEventStreams({
    store,
    bus,
    now: Date.now,
    links: { job: (id) => id, page: (id, seq) => `${id} ${seq}` },
    maxStreams: 1_000,
    maxPerAccount: 1_000,
    pollMs: 50,
    ...given,
  });
  closers.push(() => streams.close());
  return streams;
}

const requestOf = (job: Job, sink: EventSink): StreamRequest => ({
  accountId: job.accountId,
  jobId: job.id,
  types: null,
  after: null,
  mayReadPrivate: true,
  sink,
  isAllowed: async () => true,
});

async function crawl(store: TimedStore, host: string): Promise<void> {
  const { lease, tasks } = await take(store, host, 1_000, Date.now());
  for (const task of tasks) await store.commit([done(lease, task)], Date.now());
}

const listenAll = (streams: EventStreams, job: Job, clients: readonly Client[]) =>
  Promise.all(clients.map((client) => streams.listen(requestOf(job, client))));

describe('the listeners of one stream', () => {
  it('cost about as many readings of the store as one listener', async () => {
    const { store, counted, reads } = await openStore();
    const job = await createJob(store, urlsOn('a.test', 40));
    const clients = Array.from({ length: 200 }, () => new Client());
    const ended = listenAll(openStreams(counted), job, clients);
    await crawl(store, 'a.test');
    await ended;
    const [first] = clients;
    const events = (await first?.events()) ?? [];
    expect(events.filter(({ type }) => type === 'page.done')).toHaveLength(40);
    const stored = ({ text }: Client) => text.split('\n').filter((line) => line.startsWith('id: '));
    for (const client of clients) expect(stored(client)).toEqual(first === undefined ? [] : stored(first));
    expect(clients.every(({ isEnded }) => isEnded)).toBe(true);
    expect(reads()).toBeLessThan(100);
  });

  it('are dropped when they do not take what is sent, and harm neither the others nor the job', async () => {
    const { store } = await openStore();
    const job = await createJob(store, urlsOn('a.test', 10));
    const dropped: DropReason[] = [];
    const streams = openStreams(store.plain, { drainMs: 20, onDropped: (why) => dropped.push(why) });
    const [slow, quick] = [new Client(), new Client()];
    slow.takes = false;
    const ended = listenAll(streams, job, [slow, quick]);
    await crawl(store, 'a.test');
    await ended;
    expect([dropped, slow.isDestroyed, quick.isEnded, quick.isDestroyed]).toEqual([
      ['slow'],
      true,
      true,
      false,
    ]);
    expect((await quick.events()).at(-1)?.type).toBe('end');
    expect(streams.count()).toBe(0);
  });

  it('go on from their position after the store was away', async () => {
    const { store } = await openStore();
    const job = await createJob(store, urlsOn('a.test', 3));
    let isAway = true;
    const away: Store = {
      ...store.plain,
      listEvents: (query) => (isAway ? Promise.reject(new Error('away')) : store.plain.listEvents(query)),
    };
    const client = new Client();
    const ended = listenAll(openStreams(away), job, [client]);
    await crawl(store, 'a.test');
    isAway = false;
    await ended;
    expect((await client.events()).filter(({ type }) => type === 'page.done')).toHaveLength(3);
  });

  it('get the end of a job that has just ended, although the store shows it long after the job', async () => {
    const { store } = await openStore();
    const job = await createJob(store, urlsOn('a.test', 3));
    await crawl(store, 'a.test');
    const { finishedAt } = (await store.getJob(job.id)) ?? {};
    let looks = 0;
    const late: Store = {
      ...store.plain,
      async listEvents(query) {
        looks += 1;
        const found = await store.plain.listEvents(query);
        if (looks > 10) return found;
        return { ...found, items: found.items.filter(({ type }) => type !== 'job.completed') };
      },
    };
    const client = new Client();
    await openStreams(late, { now: () => (finishedAt ?? 0) + 1_000 }).listen(requestOf(job, client));
    const types = (await client.events()).map(({ type }) => type);
    expect(types.filter((type) => !/^(?:page\.|progress$|log$)/.test(type)).slice(-2)).toEqual([
      'job.completed',
      'end',
    ]);
  });

  it('are told of events that were removed before they came', async () => {
    const { store } = await openStore();
    const job = await createJob(store, urlsOn('a.test', 2));
    const [first] = (await store.listEvents({ after: null, limit: 1 })).items;
    await crawl(store, 'a.test');
    await store.deleteEvents({ before: Date.now() + 1_000, limit: 2 });
    const client = new Client();
    const after = first === undefined ? null : { cursor: first.cursor, taken: 0 };
    await openStreams(store.plain).listen({ ...requestOf(job, client), after });
    const types = (await client.events()).map(({ type }) => type);
    expect(types.filter((type) => type === 'gap')).toHaveLength(1);
    expect(types).toContain('job.completed');
  });

  it('end with a job that is deleted, and with the rights of the client', async () => {
    const { store } = await openStore();
    const job = await createJob(store, []);
    await store.deleteEvents({ before: Number.MAX_SAFE_INTEGER, limit: 100 });
    const quiet = new Client();
    // Its last event is gone, so that nothing tells the end of the stream but the job.
    await openStreams(store.plain).listen(requestOf(job, quiet));
    expect((await quiet.events()).at(-1)).toMatchObject({ type: 'end', data: { status: 'completed' } });
    await store.deleteJob(job.id);
    const late = new Client();
    await openStreams(store.plain).listen(requestOf(job, late));
    expect((await late.events()).at(-1)).toMatchObject({ type: 'end', data: { status: 'deleted' } });
  });

  it('get a sign of life while nothing happens', async () => {
    const { store } = await openStore();
    const job = await createJob(store, urlsOn('a.test', 1));
    const streams = createEventStreams({
      store: store.plain,
      bus,
      now: Date.now,
      links: { job: String, page: String },
      maxStreams: 1,
      maxPerAccount: 1,
      heartbeatMs: 30,
    });
    closers.push(() => streams.close());
    const client = new Client();
    const ended = streams.listen(requestOf(job, client));
    await vi.waitFor(() => expect(client.text).toContain(':\n\n'), { timeout: 20_000 });
    streams.close();
    await ended;
    await delay(0);
    expect(client.isEnded).toBe(true);
  });
});
