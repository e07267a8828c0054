import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { codeOfFailure, get, serve, testEngine, textOf } from '../http/loopback.fixture.ts';
import { openRemotePair } from './remote.fixture.ts';
import { createRemoteEngine } from './remote-engine.ts';
import { contentHashOf } from './render-message.ts';
import { createParcels } from './sealed-calls.ts';

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 20_000, interval: 5 });

/** Never answers; `cut` counts the clients that went away. */
async function serveNothing() {
  const held = new Set<ServerResponse>();
  let cut = 0;
  const site = await serve((_, response) => {
    held.add(response);
    response.on('close', () => {
      cut += 1;
    });
  });
  return { origin: site.origin, held, cut: () => cut };
}

describe('an attempt can be ended', () => {
  test('by its signal: the site sees its client go, and the reason is newCookies', async () => {
    const site = await serveNothing();
    const { remote } = await openRemotePair(testEngine());
    const plain = new AbortController();
    const reasoned = new AbortController();
    const attempts = [plain, reasoned].map(({ signal }) =>
      codeOfFailure(get(remote, site.origin, { signal })),
    );
    await until(() => expect(site.held.size).toBe(2));
    plain.abort();
    reasoned.abort(new ScrapifieError('BUDGET_SPENT', 'enough'));
    expect(await Promise.all(attempts)).toEqual(['CANCELLED', 'BUDGET_SPENT']);
    await until(() => expect(site.cut()).toBe(2));
    expect(await codeOfFailure(get(remote, site.origin, { signal: plain.signal }))).toBe('CANCELLED');
  });

  test('by its time, with all its redirects', async () => {
    const site = await serveNothing();
    const { remote } = await openRemotePair(testEngine());
    expect(await codeOfFailure(get(remote, site.origin, { timeoutMs: 2_000 }))).toBe('TASK_TIMEOUT');
    await until(() => expect(site.cut()).toBe(1));
  });

  test('by its time while it waits for a worker, and is then never made', async () => {
    const busy = await serveNothing();
    const site = await serve((_, response) => response.end('ok'));
    const { remote } = await openRemotePair(testEngine(), 1);
    const first = codeOfFailure(get(remote, busy.origin));
    await until(() => expect(busy.held.size).toBe(1));
    expect(await codeOfFailure(get(remote, site.origin, { timeoutMs: 100 }))).toBe('TASK_TIMEOUT');
    for (const response of busy.held) response.end('at last');
    expect(await first).toBe('none 200');
    await get(remote, busy.origin, { timeoutMs: 50 }).catch(() => undefined);
    expect(site.accepted()).toBe(0);
  });

  test('by closing the engine, which then takes no more', async () => {
    const site = await serveNothing();
    const { remote } = await openRemotePair(testEngine());
    const attempt = codeOfFailure(get(remote, site.origin));
    await until(() => expect(site.held.size).toBe(1));
    await remote.close();
    expect(await attempt).toBe('SHUTTING_DOWN');
    await until(() => expect(site.cut()).toBe(1));
    expect(await codeOfFailure(get(remote, site.origin))).toBe('SHUTTING_DOWN');
  });

  test('before anything is sent, by whoever may no longer start it', async () => {
    const site = await serve((request, response) => {
      response.writeHead(302, { location: `${request.url}next` }).end();
    });
    const { remote, messages } = await openRemotePair(testEngine());
    let leaves = 3;
    const mayStart = () => {
      leaves -= 1;
      return leaves >= 0;
    };
    expect(await codeOfFailure(get(remote, site.origin, { mayStart }))).toBe('CANCELLED');
    expect(site.accepted()).toBe(1);
    expect(messages).toHaveLength(1);
    expect(await codeOfFailure(get(remote, site.origin, { mayStart: () => false }))).toBe('CANCELLED');
    expect(messages).toHaveLength(1);
  });
});

describe('without', () => {
  test('a worker there is NO_WORKER, until one comes', async () => {
    const site = await serve((_, response) => response.end('ok'));
    const { remote, startWorker } = await openRemotePair(null);
    expect(await remote.countWorkers()).toBe(0);
    expect(await codeOfFailure(get(remote, site.origin))).toBe('NO_WORKER');
    const worker = await startWorker(testEngine());
    expect(await remote.countWorkers()).toBe(1);
    expect(await codeOfFailure(get(remote, site.origin))).toBe('none 200');
    await worker.stop();
    expect(await codeOfFailure(get(remote, site.origin))).toBe('NO_WORKER');
  });

  test('the body where it was put, the attempt fails for now; late ones are waited for', async () => {
    const site = await serve((request, response) => response.end(`page ${request.url}`));
    const { queue, blobs, transit } = await openRemotePair(testEngine());
    let missing = 0;
    const forgetful = createRemoteEngine({
      name: 'browser',
      queue,
      blobs: {
        delete: (hashes) => blobs.delete(hashes),
        async get(hash) {
          missing -= 1;
          return missing >= 0 ? null : blobs.get(hash);
        },
      },
      parcels: createParcels(transit, null),
    });
    missing = 2;
    expect(textOf(await get(forgetful, `${site.origin}/late`))).toBe('page /late');
    missing = Number.POSITIVE_INFINITY;
    const failure = await get(forgetful, `${site.origin}/gone`).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'BLOBS_UNAVAILABLE', spec: { retry: 'later' } });
  });

  test('a place for the body, the attempt fails with what the place said', async () => {
    const site = await serve((_, response) => response.end('ok'));
    const { remote, blobs, troubles } = await openRemotePair(testEngine());
    blobs.put = () => Promise.reject(new ScrapifieError('DISK_FULL', 'No space left'));
    expect(await codeOfFailure(get(remote, site.origin))).toBe('DISK_FULL');
    expect(troubles.join()).toContain('could not be kept');
  });
});

describe('what is not a message', () => {
  const how = { rank: 0, timeoutMs: 10_000 };
  const proper = {
    url: 'http://127.0.0.1:1/',
    method: 'GET',
    headers: {},
    cookies: [],
    body: null,
    timeoutMs: 1_000,
    maxBodyBytes: 1_000,
  };

  test.each([
    null,
    'text',
    {},
    { ...proper, url: 'hunter2' },
    { ...proper, method: 'DELETE' },
    { ...proper, headers: { authorization: ['hunter2'] } },
    { ...proper, cookies: { session: 'hunter2' } },
    { ...proper, body: { contentHash: '../hunter2' } },
    { ...proper, timeoutMs: '1' },
    { ...proper, maxBodyBytes: null },
  ])('is refused by the worker without repeating it: %j', async (message) => {
    const { queue, troubles } = await openRemotePair(testEngine());
    const failure = await queue.call('scrape-browser', message, how).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'INTERNAL' });
    expect(`${failure} ${troubles.join()}`).not.toContain('hunter2');
    expect(troubles.join()).toContain('refused');
  });

  test.each([
    ['fetches files', 'file:///etc/passwd', 'INVALID_URL'],
    ['fetches private addresses', proper.url, 'ADDRESS_REFUSED'],
  ])('no message %s', async (_, url, code) => {
    const { queue } = await openRemotePair(testEngine({ allowPrivate: false }));
    await expect(queue.call('scrape-browser', { ...proper, url }, how)).rejects.toMatchObject({ code });
  });

  const answer = {
    finalUrl: 'http://a.example/',
    statusCode: 200,
    headers: {},
    contentType: null,
    contentHash: null,
    wireBytes: 0,
    ms: 1,
    httpVersion: '1.1',
    setCookies: [],
  };

  test.each([
    null,
    { statusCode: 200 },
    { ...answer, contentHash: '../../etc/passwd' },
    { ...answer, statusCode: 0 },
    { ...answer, headers: { a: 1 } },
    { ...answer, httpVersion: '3' },
    { ...answer, ms: null },
  ])('is refused by who asked: %j', async (wrong) => {
    const { remote, queue } = await openRemotePair(null);
    let reply: unknown = answer;
    await queue.answer('scrape-browser', 1, async () => reply);
    expect(await codeOfFailure(get(remote, answer.finalUrl))).toBe('none 200');
    reply = wrong;
    expect(await codeOfFailure(get(remote, answer.finalUrl))).toBe('INTERNAL');
  });

  test('a field that another version adds is no harm', async () => {
    const { remote, queue } = await openRemotePair(null);
    await queue.answer('scrape-browser', 1, async () => ({ ...answer, screenshot: null }));
    expect(await codeOfFailure(get(remote, answer.finalUrl))).toBe('none 200');
  });

  test('a body larger than was asked for is not taken', async () => {
    const { remote, queue, blobs } = await openRemotePair(null);
    const bytes = Buffer.alloc(2_000, 'x');
    const contentHash = contentHashOf(bytes);
    await blobs.put([{ hash: contentHash, bytes }]);
    await queue.answer('scrape-browser', 1, async () => ({ ...answer, contentHash }));
    const attempt = get(remote, answer.finalUrl, { maxBodyBytes: 1_999 });
    expect(await codeOfFailure(attempt)).toBe('BODY_LIMIT_EXCEEDED');
  });
});
