import { describe, expect, test } from 'vitest';
import { createCallSeal } from '../../capabilities/sessions/vault.ts';
import type { Engine } from '../engine.ts';
import { codeOfFailure, get, serve, testEngine } from '../http/loopback.fixture.ts';
import { openRemotePair, type Seals } from './remote.fixture.ts';

const seal = () => createCallSeal('a1'.repeat(32));
const STORED = `hush ${'what the page has stored '.repeat(4_000)}`;

/** Answers like a browser whose page has stored more than fits into a message. */
function showing(): Engine {
  const engine = testEngine();
  return {
    ...engine,
    fetch: async (request) => ({
      ...(await engine.fetch(request)),
      rendered: {
        rawBody: null,
        extra: {
          screenshot: null,
          pdf: null,
          xhr: [],
          actions: [],
          consoleErrors: [],
          storage: { cookies: [], localStorage: { 'http://a.test': { token: STORED } } },
        },
        failure: null,
      },
    }),
  };
}

/** A page fetched through a worker, and what lay in transit for it. */
async function fetchOver(seals: Seals) {
  const { origin } = await serve((_, response) => response.end('page'));
  const pair = await openRemotePair(showing(), 4, seals);
  const sent: string[] = [];
  const put = pair.transit.put.bind(pair.transit);
  pair.transit.put = async (blobs) => {
    for (const { bytes } of blobs) sent.push(Buffer.from(bytes).toString('latin1'));
    await put(blobs);
  };
  const response = await get(pair.remote, origin, { method: 'POST', body: `hush ${'x'.repeat(100_000)}` });
  return { ...pair, sent, stored: response.rendered?.extra.storage?.localStorage };
}

const left = async (blobs: { list(): AsyncIterable<unknown> }) =>
  (await Array.fromAsync(blobs.list())).length;

describe('what travels beside the messages', () => {
  test.each([
    ['sealed where both have the key', { owner: seal(), worker: seal() }, true],
    ['plain where no one has a key', { owner: null, worker: null }, false],
  ])('is %s, arrives whole, and is gone when it was read', async (_, seals, isSealed) => {
    const { sent, stored, transit, blobs } = await fetchOver(seals);
    expect(stored).toEqual({ 'http://a.test': { token: STORED } });
    // What was posted and what came back; the body of the page is stored as such.
    expect(sent).toHaveLength(2);
    for (const bytes of sent) expect(bytes.includes('hush')).toBe(!isSealed);
    await expect.poll(() => left(transit)).toBe(0);
    expect(await left(blobs)).toBe(1);
  });

  test('is not among the bodies when its receiver never came for it', async () => {
    const { origin } = await serve((_, response) => response.end('page'));
    const { remote, transit, blobs } = await openRemotePair(showing(), 4);
    const forgetting = Promise.withResolvers<void>();
    transit.get = () => forgetting.promise.then(() => null);
    transit.delete = async () => undefined;
    const ended = codeOfFailure(get(remote, origin, { timeoutMs: 5_000 }));
    await expect.poll(() => left(transit)).toBe(1);
    await remote.close();
    forgetting.resolve();
    expect(await ended).toBe('SHUTTING_DOWN');
    expect([await left(transit), await left(blobs)]).toEqual([1, 1]);
  });
});
