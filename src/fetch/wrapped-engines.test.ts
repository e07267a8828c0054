import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Engine, FetchRequest, FetchResponse } from './engine.ts';
import { createHttpEngine } from './http/http-engine.ts';
import { limitConcurrency, withOwnPages } from './wrapped-engines.ts';

const WAIT_MS = 10_000;

/** Engines with one place, whose fetches end when the test says so. */
function onePlace() {
  const started: string[] = [];
  const ends: ((response: FetchResponse) => void)[] = [];
  const engine: Engine = {
    name: 'browser',
    fetch: ({ url }) => {
      started.push(url);
      return new Promise((resolve) => void ends.push(resolve));
    },
    close: async () => undefined,
  };
  const { browser } = limitConcurrency({ browser: engine }, 1, WAIT_MS);
  const fetch = (url: string) => browser.fetch({ url } as FetchRequest);
  const end = () => ends.shift()?.({} as FetchResponse);
  return { end, fetch, started };
}

describe('a request for which no place is free', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends with BROWSERS_BUSY after its wait, and is never begun', async () => {
    const { end, fetch, started } = onePlace();
    const first = fetch('first');
    const second = expect(fetch('second')).rejects.toMatchObject({
      code: 'BROWSERS_BUSY',
      retryAfterMs: WAIT_MS,
    });
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    await second;
    end();
    await first;
    const third = fetch('third');
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['first', 'third']);
    end();
    await third;
  });

  it('is begun when one becomes free, and has all its time then', async () => {
    const { end, fetch, started } = onePlace();
    const first = fetch('first');
    const second = fetch('second');
    await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
    end();
    await first;
    await vi.advanceTimersByTimeAsync(2 * WAIT_MS);
    expect(started).toEqual(['first', 'second']);
    end();
    await second;
  });
});

describe('pages of our own', () => {
  const options = { userAgent: 'test', allowPrivate: false };
  let server: Server;
  let origin: string;
  let engine: Engine;
  let seen: string[];

  beforeEach(async () => {
    seen = [];
    server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['x-from'] ?? '-'}`);
      if (request.url === '/away') response.writeHead(302, { location: '/secret' });
      response.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    engine = withOwnPages(createHttpEngine(options), {
      urls: () => [`${origin}/sample`, `${origin}/away`],
      open: () => createHttpEngine({ ...options, allowPrivate: true }),
    });
  });
  afterEach(async () => {
    await engine.close();
    await new Promise((resolve) => server.close(resolve));
  });

  const get = (url: string, more: Partial<FetchRequest> = {}) =>
    engine.fetch({
      url,
      method: 'GET',
      headers: {},
      cookies: {},
      body: null,
      timeoutMs: 5_000,
      maxBodyBytes: 10_000,
      maxRedirects: 5,
      conditional: null,
      onRedirect: async () => 'follow',
      ...more,
    });

  it('can be fetched although their address is refused to everybody else', async () => {
    expect(Buffer.from((await get(`${origin}/sample`)).body).toString()).toBe('hello');
  });

  it('do not open the rest of the server', async () => {
    const others = ['/', '/secret', '/sample/', '/sample?x=1', '/sample/../secret', '//sample'];
    for (const path of others) {
      await expect(get(`${origin}${path}`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    }
    expect(seen).toEqual([]);
  });

  it('do not open another port of the machine, nor another name for it', async () => {
    const port = Number(new URL(origin).port);
    for (const url of [`http://127.0.0.1:${port + 1}/sample`, `http://localhost:${port}/sample`]) {
      await expect(get(url)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    }
  });

  it('are only read: what else a caller sends does not reach them', async () => {
    await expect(get(`${origin}/sample`, { method: 'POST', body: 'x' })).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
    });
    await get(`${origin}/sample`, { headers: { 'x-from': 'caller' } });
    expect(seen).toEqual(['GET /sample -']);
  });

  it('lead nowhere else', async () => {
    await expect(get(`${origin}/away`)).rejects.toMatchObject({ code: 'TOO_MANY_REDIRECTS' });
    expect(seen).toEqual(['GET /away -']);
  });
});
