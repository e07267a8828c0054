import { describe, expect, test } from 'vitest';
import { createCallSeal } from '../../capabilities/sessions/vault.ts';
import { codeOfFailure, get, serve, testEngine, textOf } from '../http/loopback.fixture.ts';
import { openRemotePair } from './remote.fixture.ts';
import { MOST_REQUEST_BYTES } from './sealed-calls.ts';

const KEY = 'a1'.repeat(32);
const seal = () => createCallSeal(KEY);
const other = () => createCallSeal('b2'.repeat(32));

/** Sets a cookie, sends on once, and then says what it was sent. */
const site = () =>
  serve((request, response) => {
    if (request.url === '/first') {
      response.writeHead(302, {
        location: '/second?token=hush-redirect',
        'set-cookie': 'answered=hush-answer',
      });
    }
    response.end(JSON.stringify(request.headers));
  });
const headers = { authorization: 'Bearer hush-header' };

describe('calls that are sealed', () => {
  test('do what others do, and nothing of them can be read on the way', async () => {
    const { origin } = await site();
    const { remote, messages } = await openRemotePair(testEngine(), 4, { owner: seal(), worker: seal() });
    const asked: string[] = [];
    const answer = await get(remote, `${origin}/first`, {
      headers,
      cookies: { session: 'hush-cookie' },
      onRedirect: async (target) => {
        asked.push(target);
        return 'follow';
      },
    });
    expect(asked).toEqual([`${origin}/second?token=hush-redirect`]);
    expect(textOf(answer)).toContain('hush-header');
    expect(textOf(answer)).toContain('hush-cookie');
    expect(messages.length).toBeGreaterThanOrEqual(2);
    for (const message of messages) {
      expect(message).not.toContain('hush');
      expect(message).not.toContain(origin);
      const { sealed } = JSON.parse(message) as { sealed: string };
      expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('hush');
    }
  });

  test('are the only ones that a worker with a key answers', async () => {
    const { origin, accepted } = await site();
    const { remote } = await openRemotePair(testEngine(), 4, { owner: null, worker: seal() });
    expect(await codeOfFailure(get(remote, origin, { headers }))).toBe('NO_WORKER');
    expect(accepted()).toBe(0);
  });

  test.each([
    ['none', null],
    ['another', other()],
  ])('are left to others by a worker whose key is %s', async (_, worker) => {
    const { origin } = await site();
    const { remote } = await openRemotePair(testEngine(), 4, { owner: seal(), worker });
    expect(await codeOfFailure(get(remote, origin))).toBe('NO_WORKER');
  });

  test('are as large as others, or refused as those are', async () => {
    const { origin } = await site();
    const { remote } = await openRemotePair(testEngine(), 4, { owner: seal(), worker: seal() });
    const large = (length: number) => get(remote, origin, { headers: { 'x-large': 'a'.repeat(length) } });
    // The site takes less than a message does, and it is the site that ends this one.
    expect(await codeOfFailure(large(MOST_REQUEST_BYTES - 2_000))).toMatch(/^none 4|CONNECTION_RESET/);
    expect(await codeOfFailure(large(MOST_REQUEST_BYTES))).toBe('UNSUPPORTED_OPTION');
  });
});
