import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AccountId, DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import { listen } from '../../fetch/http/loopback.fixture.ts';
import { selfSigned } from '../../fetch/http/self-signed.fixture.ts';
import { createRemoteCredentials, type RemoteCredentialsOptions } from './credentials.ts';

const certificate = selfSigned();
const LOGIN = { kind: 'login', hosts: ['shop.example'], username: 'ann', password: 'a-very-secret-password' };
const TOKEN = 'a-very-secret-token';
const FRESH_MS = 300_000;

interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
}

/** A credential service on loopback; `answer` gives a status and a body for each request. */
async function open(
  answer: (count: number) => readonly [number, unknown] | 'break',
  more: Partial<RemoteCredentialsOptions> = {},
) {
  const asked: Asked[] = [];
  const pauses: number[] = [];
  const clock = { now: 0 };
  const respond: RequestListener = (request, response) => {
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization });
    const result = answer(asked.length);
    if (result === 'break') request.socket.destroy();
    else
      response
        .writeHead(result[0])
        .end(typeof result[1] === 'string' ? result[1] : JSON.stringify(result[1]));
  };
  const { origin } = await listen(createServer(certificate, respond), 'https');
  const remote = createRemoteCredentials({
    url: `${origin}/v1/credentials/`,
    token: TOKEN,
    now: () => clock.now,
    pause: async (ms) => void pauses.push(ms),
    tls: { ca: certificate.cert },
    ...more,
  });
  onTestFinished(() => remote.close());
  return { remote, asked, pauses, clock };
}

describe('the credential service', () => {
  it('is asked again when the time of the settings is over', async () => {
    const { remote, asked, clock } = await open(() => [200, LOGIN], { freshMs: 5_000 });
    await remote.find(DEFAULT_ACCOUNT, 'shop');
    clock.now += 4_999;
    await remote.find(DEFAULT_ACCOUNT, 'shop');
    expect(asked).toHaveLength(1);
    clock.now += 1;
    await remote.find(DEFAULT_ACCOUNT, 'shop');
    expect(asked).toHaveLength(2);
  });

  it('is asked by name with the token', async () => {
    const { remote, asked } = await open(() => [200, LOGIN]);
    expect(await remote.find(DEFAULT_ACCOUNT, 'my-shop.1')).toEqual(LOGIN);
    expect(asked).toEqual([{ path: '/v1/credentials/my-shop.1', authorization: `Bearer ${TOKEN}` }]);
  });

  it('is asked for each account by itself, and nothing of one account answers another', async () => {
    const { remote, asked } = await open((count) => [200, { ...LOGIN, username: `user ${count}` }]);
    const names = ['team-a', 'team-b', 'team-a'] as AccountId[];
    const users: unknown[] = [];
    for (const account of [DEFAULT_ACCOUNT, ...names]) users.push(await remote.find(account, 'shop'));
    expect(users).toMatchObject([1, 2, 3, 2].map((count) => ({ username: `user ${count}` })));
    expect(asked.map(({ path }) => path)).toEqual([
      '/v1/credentials/shop',
      '/v1/credentials/team-a/shop',
      '/v1/credentials/team-b/shop',
    ]);
  });

  it('property 30: is asked again when its answer is five minutes old, and not before', async () => {
    const { remote, asked, clock } = await open(() => [200, LOGIN]);
    await fc.assert(
      fc.asyncProperty(fc.nat(2 * FRESH_MS), async (laterMs) => {
        // Whatever is known is old by then.
        clock.now += FRESH_MS;
        await remote.find(DEFAULT_ACCOUNT, 'shop');
        const before = asked.length;
        clock.now += laterMs;
        await remote.find(DEFAULT_ACCOUNT, 'shop');
        expect(asked.length - before).toBe(laterMs < FRESH_MS ? 0 : 1);
      }),
      { numRuns: 20 },
    );
  });

  it('is asked once by many at the same time', async () => {
    const { remote, asked } = await open(() => [200, LOGIN]);
    await Promise.all(Array.from({ length: 8 }, () => remote.find(DEFAULT_ACCOUNT, 'shop')));
    expect(asked).toHaveLength(1);
  });

  it('that knows no such name is not believed to say so for ever', async () => {
    const { remote, asked } = await open((count) => (count === 1 ? [404, {}] : [200, LOGIN]));
    expect(await remote.find(DEFAULT_ACCOUNT, 'shop')).toBeNull();
    expect(await remote.find(DEFAULT_ACCOUNT, 'shop')).toEqual(LOGIN);
    expect(asked).toHaveLength(2);
  });

  it('that does not answer is asked again after one, two and four seconds', async () => {
    const answers = ['break', [503, {}], [429, {}], [200, LOGIN]] as const;
    const { remote, pauses } = await open((count) => answers[count - 1] ?? 'break');
    expect(await remote.find(DEFAULT_ACCOUNT, 'shop')).toEqual(LOGIN);
    expect(pauses).toEqual([1_000, 2_000, 4_000]);
  });

  it('that never answers is given up after that', async () => {
    const { remote, pauses, asked } = await open(() => [500, 'password=x']);
    const error = await remote.find(DEFAULT_ACCOUNT, 'shop').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CREDENTIALS_UNAVAILABLE' });
    expect(String(error)).toContain('4 times (status 500)');
    expect([pauses.length, asked.length]).toEqual([3, 4]);
  });

  it.each([
    [[401, {}], /status 401.*TOKEN/],
    [[302, {}], /status 302/],
    [[200, 'no json a-very-secret-password'], /no JSON/],
    [[200, { ...LOGIN, hosts: [] }], /wrong: hosts/],
    [[200, { ...LOGIN, 'a-very-secret-password': 1 }], /wrong: its fields/],
  ] as const)('that answers %j is not asked again, and no secret is told', async (answer, message) => {
    const { remote, asked } = await open(() => answer);
    const error = await remote.find(DEFAULT_ACCOUNT, 'shop').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'INVALID_SETTINGS' });
    expect(String(error)).toMatch(message);
    expect(`${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toMatch(/very-secret/);
    expect(asked).toHaveLength(1);
  });

  it('is spoken to by HTTPS and with a certificate that holds only', async () => {
    const options = { token: undefined, now: () => 0, pause: async () => undefined };
    expect(() => createRemoteCredentials({ ...options, url: 'http://127.0.0.1/' })).toThrow('https');
    const { remote, asked } = await open(() => [200, LOGIN], { tls: {} });
    await expect(remote.find(DEFAULT_ACCOUNT, 'shop')).rejects.toMatchObject({
      code: 'CREDENTIALS_UNAVAILABLE',
    });
    expect(asked).toEqual([]);
  });
});
