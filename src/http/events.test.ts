import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { parseEventStream, type StreamEvent } from '../capabilities/events/stream-frames.ts';
import type { HostKey } from '../core/model/ids.ts';
import { defined } from '../lib/defined.ts';

let platform: Platform;
let origin: string;

async function open(settings: Parameters<typeof openPlatform>[0] = {}): Promise<void> {
  platform = await openPlatform({ rateLimitPerMinute: 100_000, ...settings });
  await platform.api.listen({ port: 0, host: '127.0.0.1' });
  origin = `http://127.0.0.1:${(platform.api.server.address() as AddressInfo).port}`;
}
beforeEach(() => open());
afterEach(() => platform.close());

/** An opened stream; each of its events comes with `next`. */
async function listen(
  path: string,
  { lastEventId, key = platform.secret }: { lastEventId?: string; key?: string } = {},
) {
  const leave = new AbortController();
  const response = await fetch(`${origin}${path}`, {
    headers: { 'x-api-key': key, ...defined({ 'last-event-id': lastEventId }) },
    signal: leave.signal,
  });
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  const events = parseEventStream(response.body.pipeThrough(new TextDecoderStream()));
  return { response, events, leave: () => leave.abort() };
}

async function startBatch(count: number, host = 'a.test'): Promise<string> {
  const urls = Array.from({ length: count }, (_, n) => `https://${host}/${n}`);
  const answer = await platform.call({ method: 'POST', url: '/v1/batch', payload: { urls } });
  return String(answer.at('data.id'));
}

const stored = (events: readonly StreamEvent[]) =>
  events.filter(({ type }) => !['progress', 'log', 'end', 'gap'].includes(type));
const types = (events: readonly StreamEvent[]) => stored(events).map(({ type }) => type);

describe('the events of a job', () => {
  it('are replayed from the store, and end after the last one', async () => {
    await platform.work((task) =>
      task.url.endsWith('/1')
        ? {
            end: { state: 'failed', rule: 'attempt.error', errorCode: 'HTTP_ERROR' },
            statusCode: 500,
            errorMessage: 'no',
          }
        : DONE,
    );
    const id = await startBatch(3);
    await platform.jobs.waitFor(id as never, 60_000);
    const { response, events } = await listen(`/v1/jobs/${id}/events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const all = await Array.fromAsync(events);
    expect(types(all)).toEqual([
      'job.created',
      'job.started',
      'page.done',
      'page.failed',
      'page.done',
      'job.partially_completed',
    ]);
    expect(all.at(-1)).toMatchObject({ type: 'end', data: { jobId: id, status: 'partially_completed' } });
    expect(all.find(({ type }) => type === 'progress')?.data).toMatchObject({
      progress: { pages: 2, failed: 1 },
    });
    const failed = all.find(({ type }) => type === 'page.failed');
    expect(failed?.data).toMatchObject({
      jobId: id,
      url: 'https://a.test/1',
      statusCode: 500,
      title: 'A page',
      errorCode: 'HTTP_ERROR',
      errorMessage: 'no',
    });
    const { result = '' } = (failed?.data.links ?? {}) as { result?: string };
    const page = await platform.call({ url: result });
    expect(page.at('data.items.0.url')).toBe('https://a.test/1');
    expect(page.at('data.items.1')).toBeUndefined();
  });

  it('come as they are committed, and progress at most four times a second', async () => {
    const id = await startBatch(120);
    const { events } = await listen(`/v1/jobs/${id}/events`);
    const first = await events.next();
    expect(first.value).toMatchObject({ type: 'job.created' });
    const begunAt = performance.now();
    await platform.work(async () => {
      await delay(5);
      return DONE;
    });
    const rest = await Array.fromAsync(events);
    const seconds = (performance.now() - begunAt) / 1_000;
    expect(types(rest).filter((type) => type === 'page.done')).toHaveLength(120);
    expect(rest.filter(({ type }) => type === 'progress').length).toBeLessThanOrEqual(4 * seconds + 2);
    expect(rest.at(-1)?.type).toBe('end');
  });

  it('are neither missed nor repeated by a client that loses the connection at any event', async () => {
    const id = await startBatch(60);
    const seen: StreamEvent[] = [];
    let lastEventId: string | undefined;
    const follow = async () => {
      for (let turn = 0; ; turn += 1) {
        const { events, leave } = await listen(
          `/v1/jobs/${id}/events`,
          lastEventId === undefined ? {} : { lastEventId },
        );
        let left = 1 + ((turn * 7) % 11);
        for await (const event of events) {
          if (event.type === 'end') return;
          if (event.id !== null) lastEventId = event.id;
          seen.push(event);
          left -= 1;
          if (left === 0) break;
        }
        leave();
      }
    };
    const following = follow();
    await platform.work(async () => {
      await delay(3);
      return DONE;
    });
    await following;
    const whole = await Array.fromAsync((await listen(`/v1/jobs/${id}/events`)).events);
    expect(stored(seen).map((event) => event.id)).toEqual(stored(whole).map((event) => event.id));
    expect(new Set(stored(seen).map((event) => event.id)).size).toBe(63);
    // A client that has the last event is told that there is nothing more.
    const { events } = await listen(`/v1/jobs/${id}/events?after=${stored(whole).at(-1)?.id}`);
    expect(stored(await Array.fromAsync(events))).toEqual([]);
  });

  it('can be chosen by type', async () => {
    await platform.work(() => DONE);
    const id = await startBatch(3);
    await platform.jobs.waitFor(id as never, 60_000);
    const chosen = async (list: string) =>
      (await Array.fromAsync((await listen(`/v1/jobs/${id}/events?types=${list}`)).events)).map(
        ({ type }) => type,
      );
    expect(await chosen('job.*')).toEqual(['job.created', 'job.started', 'job.completed', 'end']);
    expect(await chosen('page.failed,job.completed')).toEqual(['job.completed', 'end']);
    expect(await chosen('schedule.*,export.*,account.*,webhook.*,monitor.*')).toEqual(['end']);
    expect(await chosen('progress')).toEqual(['progress', 'end']);
    for (const query of [
      'types=page.gone',
      'types=,',
      'types=pages.committed',
      'types=pages.*',
      'after=abc',
      'after=0-0-0.0',
      'other=1',
    ]) {
      expect((await platform.call({ url: `/v1/jobs/${id}/events?${query}` })).statusCode).toBe(422);
    }
    const headers = { 'last-event-id': 'x' };
    const answer = await platform.call({ url: `/v1/jobs/${id}/events`, headers });
    expect([answer.statusCode, answer.at('error.details.0.field')]).toEqual([422, 'Last-Event-ID']);
  });

  it('are of the account: a job of another account and one that does not exist answer alike', async () => {
    const answers = await Promise.all(
      ['0197a000-0000-7000-8000-000000000000', 'nonsense'].map((id) =>
        platform.call({ url: `/v1/jobs/${id}/events` }),
      ),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404]);
    expect((await platform.call({ url: '/v1/events', headers: { 'x-api-key': 'wrong' } })).statusCode).toBe(
      401,
    );
  });

  it('say what the job waits for', async () => {
    const id = await startBatch(2, 'held.test');
    const lease = await platform.store.acquireHost('held.test' as HostKey, 'test', 30_000);
    if (lease === null) throw new Error('The host was not acquired.');
    const until = Date.now() + 3_600_000;
    await platform.store.releaseHost(lease, { ...lease.state, hold: { rule: 'breaker.open', until } }, until);
    const { events, leave } = await listen(`/v1/jobs/${id}/events?types=log`);
    const { value } = await events.next();
    expect(value).toMatchObject({ type: 'log', data: { code: 'CIRCUIT_OPEN', host: 'held.test', tasks: 2 } });
    expect(value?.data.message).toMatch(/^held\.test failed too often; the next request is sent at 20/);
    leave();
  });
});

describe('the events of an account', () => {
  it('begin with what happens from now on, or where the client says', async () => {
    await platform.work(() => DONE);
    const before = await startBatch(1);
    await platform.jobs.waitFor(before as never, 60_000);
    const { events, leave } = await listen('/v1/events?types=job.*,page.*');
    const id = await startBatch(2);
    const seen: StreamEvent[] = [];
    for await (const event of events) {
      seen.push(event);
      if (event.type === 'job.completed') break;
    }
    leave();
    expect(seen.map(({ data }) => data.jobId)).toEqual(Array(5).fill(id));
    const replayed = await listen('/v1/events?types=job.*&after=0-0-0');
    const { value } = await replayed.events.next();
    expect(value).toMatchObject({ type: 'job.created', data: { jobId: before } });
    replayed.leave();
  });
});

describe('streams', () => {
  it('are refused beyond the limits of the account and of the process', async () => {
    await platform.close();
    await open({ maxEventStreams: 3, maxEventStreamsPerAccount: 2 });
    const streams = [await listen('/v1/events'), await listen('/v1/events')];
    const answer = await platform.call({ url: '/v1/events' });
    expect([answer.statusCode, answer.at('error.code')]).toEqual([429, 'TOO_MANY_STREAMS']);
    expect(answer.headers['retry-after']).toBe('10');
    streams[0]?.leave();
    // The stream is over once the server has noticed.
    await expect
      .poll(async () => (await listen('/v1/events').catch(() => null)) !== null, { timeout: 20_000 })
      .toBe(true);
  });

  it('end when their key is revoked', async () => {
    const made = await platform.call({
      method: 'POST',
      url: '/v1/keys',
      payload: { name: 'k', scopes: ['jobs:read'] },
    });
    const [key, id] = [String(made.at('data.secret') ?? made.at('data.key')), String(made.at('data.id'))];
    const { events } = await listen('/v1/events', { key });
    const ended = Array.fromAsync(events);
    await platform.call({ method: 'DELETE', url: `/v1/keys/${id}` });
    await ended;
    await expect(listen('/v1/events', { key })).rejects.toThrow('401');
  });

  it('end when the server stops, before the requests that it waits for', async () => {
    const { events } = await listen('/v1/events');
    const ended = Array.fromAsync(events);
    await platform.api.close();
    expect(await ended).toEqual([]);
  });

  it('begin with the time after which clients come back, and need no event to begin', async () => {
    const { port } = platform.api.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: a\r\nX-API-Key: ${platform.secret}\r\n\r\n`);
    let text = '';
    while (!text.includes('\n\n')) text += String((await once(socket, 'data'))[0]);
    expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe('retry: 2000\n\n');
    expect(text).not.toMatch(/transfer-encoding/i);
    socket.destroy();
  });
});
