import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { RobotsEntry } from '../../core/ports/host-store.ts';
import { serve, serveRaw, testEngine } from '../../fetch/http/loopback.fixture.ts';
import { T0 } from '../host/process/claimed-task.fixture.ts';
import { createRobotsCache } from './robots-cache.ts';

/** The two methods of the store that are needed here, over a map. */
function entryStore() {
  const entries = new Map<string, RobotsEntry>();
  const calls: string[] = [];
  return {
    entries,
    calls,
    async getRobots(origin: string) {
      calls.push('get');
      return entries.get(origin) ?? null;
    },
    async putRobots(entry: RobotsEntry) {
      calls.push('put');
      entries.set(entry.origin, entry);
    },
  };
}
/** The gate admits every redirect at once. */
const ADMITTED = { admitRedirect: async () => true };

function cacheOver(store = entryStore()) {
  const clock = { now: T0 };
  return { store, clock, cache: createRobotsCache({ store, engine: testEngine(), now: () => clock.now }) };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
async function site(answer: Answer) {
  const paths: string[] = [];
  const { origin } = await serve((request, response) => {
    paths.push(request.url ?? '');
    answer(request, response);
  });
  return { origin, paths };
}
const text =
  (body: string): Answer =>
  (_request, response) =>
    void response.end(body);
const status = (code: number, headers: Record<string, string> = {}): Answer => {
  return (_request, response) => void response.writeHead(code, headers).end();
};

describe('what is known of a robots.txt', () => {
  it('is nothing at first, in memory and in the store', async () => {
    const { cache } = cacheOver();
    expect([cache.recall('http://a.test'), (await cache.lookUp('http://a.test')).robots]).toEqual([
      null,
      null,
    ]);
  });

  it('is told with a rule that is short enough to stand beside every URL it keeps out', async () => {
    const { origin } = await site(text(`User-agent: *\nDisallow: /x${'y*'.repeat(50_000)}`));
    const robots = await cacheOver().cache.ask(origin, ADMITTED);
    const { allowed, rule } = robots.allows(`/x${'y'.repeat(50_000)}`);
    expect(allowed).toBe(false);
    expect(rule?.length).toBeLessThan(1_000);
  });

  it.each([false, true])(
    'is read as far as the limit of a file of 7 MB; compressed: %s',
    async (isCompressed) => {
      const line = `Disallow: /${'x'.repeat(100)}\n`;
      const file = `User-agent: *\nDisallow: /first\n${line.repeat(65_000)}Disallow: /last\n`;
      expect(file.length).toBeGreaterThan(7_000_000);
      const { origin } = await site((_request, response) => {
        if (isCompressed) response.setHeader('content-encoding', 'gzip');
        response.end(isCompressed ? gzipSync(file) : file);
      });
      const robots = await cacheOver().cache.ask(origin, ADMITTED);
      expect(robots.entry.status).toBe('ok');
      expect([robots.allows('/first').allowed, robots.allows('/last').allowed]).toEqual([false, true]);
      expect(robots.entry.body.length).toBeLessThanOrEqual(512_000);
    },
  );

  it('is remembered in memory where the store cannot keep it', async () => {
    const { origin } = await site(text('User-agent: *\nDisallow: /x'));
    const store = {
      ...entryStore(),
      putRobots: () => Promise.reject(new ScrapifieError('UNSTORABLE', 'too long')),
    };
    const { cache } = cacheOver(store);
    await cache.ask(origin, ADMITTED);
    expect(cache.recall(origin)?.allows('/x').allowed).toBe(false);
  });

  it('that a fault of the program keeps from being read is unreachable for a while, unless it was read before', async () => {
    const { cache, clock } = cacheOver();
    cache.giveUp('http://a.test');
    expect(cache.recall('http://a.test')?.entry).toMatchObject({ status: 'unreachable', reason: 'INTERNAL' });
    clock.now += 60_000;
    expect(cache.recall('http://a.test')).toBeNull();
    const { origin } = await site(text('User-agent: *\nDisallow: /x'));
    await cache.ask(origin, ADMITTED);
    cache.giveUp(origin);
    expect(cache.recall(origin)?.allows('/x').rule).toContain('disallow: /x');
  });

  it('is remembered after asking, in memory and in the store', async () => {
    const { origin, paths } = await site(
      text('User-agent: *\nDisallow: /x\nCrawl-delay: 3\nSitemap: http://a.test/s'),
    );
    const { cache, store } = cacheOver();
    const asked = await cache.ask(origin, ADMITTED);
    expect(asked).toMatchObject({ crawlDelayMs: 3_000, sitemaps: ['http://a.test/s'] });
    expect([asked.allows('/x').allowed, asked.allows('/y').allowed]).toEqual([false, true]);
    expect(cache.recall(origin)).toBe(asked);
    expect(store.entries.get(origin)).toMatchObject({ status: 'ok', reason: 'HTTP 200', fetchedAt: T0 });
    expect(paths).toEqual(['/robots.txt']);
  });

  it('is found in the store by the next process, without asking the host', async () => {
    const { origin, paths } = await site(text('User-agent: *\nDisallow: /x'));
    const { store, cache } = cacheOver();
    await cache.ask(origin, ADMITTED);
    const next = cacheOver(store).cache;
    expect(next.recall(origin)).toBeNull();
    expect((await next.lookUp(origin)).robots?.allows('/x').allowed).toBe(false);
    expect(next.recall(origin)).not.toBeNull();
    expect(paths).toHaveLength(1);
  });

  it('is no longer fresh when its time is over', async () => {
    const { origin } = await site((_request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=600' }).end('');
    });
    const { cache, clock } = cacheOver();
    await cache.ask(origin, ADMITTED);
    clock.now += 599_999;
    expect(cache.recall(origin)).not.toBeNull();
    clock.now += 1;
    expect([cache.recall(origin), (await cache.lookUp(origin)).robots]).toEqual([null, null]);
  });

  it('is asked for once at a time, however many want to know', async () => {
    const { origin, paths } = await site(text(''));
    const { cache } = cacheOver();
    const [one, other] = await Promise.all([cache.ask(origin, ADMITTED), cache.ask(origin, ADMITTED)]);
    expect(one).toBe(other);
    expect(paths).toHaveLength(1);
    await cache.ask(origin, ADMITTED);
    expect(paths).toHaveLength(2);
  });

  it('is not believed kept before the store has it', async () => {
    const { origin } = await site(text(''));
    const store = {
      ...entryStore(),
      putRobots: () => Promise.reject(new ScrapifieError('DISK_FULL', 'full')),
    };
    const cache = createRobotsCache({ store, engine: testEngine(), now: () => T0 });
    await expect(cache.ask(origin, ADMITTED)).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(cache.recall(origin)).toBeNull();
  });
});

describe('an answer that is not the file', () => {
  it.each([
    [404, 'absent', true],
    [403, 'absent', true],
    [429, 'unreachable', false],
    [500, 'unreachable', false],
    [503, 'unreachable', false],
  ] as const)('%i is %s', async (code, expected, isAllowed) => {
    const { origin } = await site(status(code));
    const robots = await cacheOver().cache.ask(origin, ADMITTED);
    expect(robots.entry).toMatchObject({ status: expected, reason: `HTTP ${code}` });
    expect(robots.allows('/').allowed).toBe(isAllowed);
  });

  it('says by its code what kept it from arriving', async () => {
    const reset = await serveRaw((socket) => void socket.destroy());
    const { cache } = cacheOver();
    expect((await cache.ask(reset.origin, ADMITTED)).entry).toMatchObject({
      status: 'unreachable',
      reason: 'CONNECTION_RESET',
    });
    expect((await cache.ask('http://127.0.0.1:1', ADMITTED)).entry.reason).toBe('CONNECT_FAILED');
  });

  it('says nothing about the host when whoever asked has lost it meanwhile', async () => {
    let isOurs = true;
    const { origin } = await serveRaw((socket) => {
      isOurs = false;
      socket.destroy();
    });
    const { cache, store } = cacheOver();
    await expect(cache.ask(origin, { ...ADMITTED, isOurs: () => isOurs })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect([cache.recall(origin), store.entries.size]).toEqual([null, 0]);
  });

  it('says nothing about the host when this side could not ask', async () => {
    const store = entryStore();
    const engine = {
      ...testEngine(),
      async fetch() {
        throw new ScrapifieError('OUT_OF_FILES', 'no connection can be opened');
      },
    };
    const cache = createRobotsCache({ store, engine, now: () => T0 });
    await expect(cache.ask('http://a.test', ADMITTED)).rejects.toMatchObject({ code: 'OUT_OF_FILES' });
    expect([cache.recall('http://a.test'), store.entries.size]).toEqual([null, 0]);
  });

  it('leaves yesterday’s rules in force', async () => {
    let isDown = false;
    const { origin } = await site((request, response) =>
      (isDown ? status(500) : text('User-agent: *\nDisallow: /x'))(request, response),
    );
    const { cache, clock } = cacheOver();
    await cache.ask(origin, ADMITTED);
    isDown = true;
    clock.now += 86_400_000;
    const robots = await cache.ask(origin, ADMITTED);
    expect(robots.entry.reason).toBe('stale: HTTP 500');
    expect([robots.allows('/x').allowed, robots.allows('/y').allowed]).toEqual([false, true]);
  });
});

describe('a robots.txt elsewhere', () => {
  it('is read where redirects lead, and holds for the origin that was asked', async () => {
    const there = await site(text('User-agent: *\nDisallow: /x'));
    const { origin } = await site(status(301, { location: `${there.origin}/rules.txt` }));
    const { cache } = cacheOver();
    const robots = await cache.ask(origin, ADMITTED);
    expect(robots.entry).toMatchObject({ origin, status: 'ok' });
    expect(robots.allows('/x').allowed).toBe(false);
    expect(there.paths).toEqual(['/rules.txt']);
    expect(cache.recall(there.origin)).toBeNull();
  });

  it('that fails behind a redirect has a reason that is not taken for a failure of the pages here', async () => {
    const { origin } = await site(status(302, { location: 'http://10.0.0.1/robots.txt' }));
    const store = entryStore();
    const engine = testEngine({ allowPrivate: (address) => address === '127.0.0.1' });
    const { entry } = await createRobotsCache({ store, engine, now: () => T0 }).ask(origin, ADMITTED);
    expect(entry).toMatchObject({ status: 'unreachable', reason: 'redirected, then ADDRESS_REFUSED' });
  });

  it('that is never reached, by a loop or more than five redirects, counts as absent', async () => {
    const loop = await site(status(302, { location: '/robots.txt' }));
    let hops = 0;
    const endless = await site((_request, response) => {
      hops += 1;
      response.writeHead(302, { location: `/${hops}` }).end();
    });
    const { cache } = cacheOver();
    expect((await cache.ask(loop.origin, ADMITTED)).entry.status).toBe('absent');
    expect((await cache.ask(endless.origin, ADMITTED)).entry.status).toBe('absent');
    expect(endless.paths).toHaveLength(6);
  });
});

describe('a large robots.txt', () => {
  it('is cut, not refused: what stands in its first 500 KiB holds', async () => {
    const filler = `# ${'x'.repeat(97)}\n`.repeat(6_000);
    const { origin } = await site(
      text(`User-agent: *\nDisallow: /early\n${filler}Disallow: /late\n${filler}`),
    );
    const robots = await cacheOver().cache.ask(origin, ADMITTED);
    expect(robots.entry.status).toBe('ok');
    expect(robots.entry.body.length).toBeLessThanOrEqual(512_000);
    expect([robots.allows('/early').allowed, robots.allows('/late').allowed]).toEqual([false, true]);
  });
});

describe('a request for a robots.txt that is recorded', () => {
  it('is in the store before the host is asked, and no longer when the answer is', async () => {
    const counts: (number | undefined)[] = [];
    const { store, cache } = cacheOver();
    const { origin } = await site((_request, response) => {
      counts.push(store.entries.get(origin)?.interruptions);
      response.end('');
    });
    await cache.ask(origin, { ...ADMITTED, isRecorded: true });
    expect([...counts, store.entries.get(origin)?.interruptions]).toEqual([1, 0]);
  });

  it('that a process did not survive is known to the next one', async () => {
    const { store, cache } = cacheOver();
    const { origin } = await site(() => undefined);
    const dying = new AbortController();
    const asked = cache.ask(origin, { ...ADMITTED, isRecorded: true, signal: dying.signal });
    await vi.waitFor(() => expect(store.entries.get(origin)?.interruptions).toBe(1), { timeout: 20_000 });
    const dead = { ...entryStore(), entries: new Map(store.entries) };
    const heir = cacheOver({ ...dead, getRobots: async (at) => dead.entries.get(at) ?? null });
    expect(await heir.cache.lookUp(origin)).toEqual({ robots: null, interruptions: 1 });
    dying.abort();
    await expect(asked).rejects.toThrow();
  });

  it('through a proxy of a caller leaves the entry that all jobs share as it is', async () => {
    const { store, cache } = cacheOver();
    const { origin } = await site(text('User-agent: *\nDisallow: /x'));
    await cache.ask(origin, ADMITTED);
    const shared = store.entries.get(origin);
    const alone = 'a-job' as JobId;
    await cache.ask(origin, { ...ADMITTED, isRecorded: true, alone });
    expect(store.entries.get(origin)).toEqual(shared);
    expect((await cache.lookUp(origin, alone)).interruptions).toBe(0);
  });

  it('through a proxy of a caller that no process survives ends for that job alone', async () => {
    const { store, cache } = cacheOver();
    const { origin } = await site(() => undefined);
    const alone = 'a-job' as JobId;
    const dying = new AbortController();
    const asked = cache.ask(origin, { ...ADMITTED, isRecorded: true, alone, signal: dying.signal });
    await vi.waitFor(
      () => expect([...store.entries.values()].map((entry) => entry.interruptions)).toEqual([1]),
      { timeout: 20_000 },
    );
    const dead = { ...entryStore(), entries: new Map(store.entries) };
    const heir = cacheOver({ ...dead, getRobots: async (at) => dead.entries.get(at) ?? null }).cache;
    expect((await heir.lookUp(origin, alone)).interruptions).toBe(1);
    expect(await heir.lookUp(origin)).toEqual({ robots: null, interruptions: 0 });
    dying.abort();
    await expect(asked).rejects.toThrow();
    for (const [key, entry] of dead.entries) dead.entries.set(key, { ...entry, interruptions: 3 });
    expect((await heir.lookUp(origin, alone)).robots?.entry.reason).toBe('WORKER_DIED');
    expect((await heir.lookUp(origin)).robots).toBeNull();
  });

  it('counts nothing when it is told to stop', async () => {
    const { store, cache } = cacheOver();
    const { origin, paths } = await site(() => undefined);
    const stop = new AbortController();
    const asked = cache.ask(origin, { ...ADMITTED, isRecorded: true, signal: stop.signal });
    await vi.waitFor(() => expect(paths).toHaveLength(1), { timeout: 20_000 });
    stop.abort();
    await expect(asked).rejects.toThrow();
    expect(store.entries.get(origin)?.interruptions).toBe(0);
    expect((await cache.lookUp(origin)).robots).toBeNull();
  });

  it('is not made after three deaths: the file is unreachable, which the store knows too', async () => {
    const { store, cache } = cacheOver();
    const origin = 'http://deadly.test';
    store.entries.set(origin, {
      ...{ origin, status: 'unreachable', body: '', reason: '' },
      ...{ fetchedAt: T0, expiresAt: T0, interruptions: 3, failures: 0 },
    });
    const { robots } = await cache.lookUp(origin);
    expect(robots?.allows('/')).toEqual({ allowed: false, rule: 'unreachable: WORKER_DIED' });
    expect(store.entries.get(origin)).toMatchObject({ reason: 'WORKER_DIED', interruptions: 2 });
  });
});
