import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { proxyOutcomeOf } from '../../src/crawl/plan/outcome.ts';
import { parseProxyFile } from '../../src/crawl/plan/proxies/proxy-file.ts';
import { ProxyPool, type ProxyQuery } from '../../src/crawl/plan/proxies/proxy-pool.ts';
import { EXECUTABLE } from '../../src/fetch/browser/browser.fixture.ts';
import { createBrowserEngine } from '../../src/fetch/browser/browser-engine.ts';
import { createBrowserRuntime } from '../../src/fetch/browser/browser-runtime.ts';
import type { Engine } from '../../src/fetch/engine.ts';
import { createHttpEngine } from '../../src/fetch/http/http-engine.ts';
import { get } from '../../src/fetch/http/loopback.fixture.ts';
import { faultOf } from '../../src/fetch/proxy/proxy-failure.ts';
import { createProxyHealth } from '../../src/fetch/proxy/proxy-health.ts';
import { type ForwardingProxy, startProxy } from './forwarding-proxy.ts';
import { startSite, type TargetSite } from './target-site.ts';

const USER_AGENT = 'TestBot/1';
/** The proxies stand on loopback; the site has names that only they know. */
const allowPrivate = (address: string): boolean => address === '127.0.0.1';

/** Engines that differ in everything but the proxies they are given. */
const ENGINES: readonly { readonly name: string; readonly open: () => Engine }[] = [
  {
    name: 'the HTTP engine',
    open: () =>
      createHttpEngine({
        userAgent: USER_AGENT,
        allowPrivate,
        connectTimeoutMs: 300,
        headersTimeoutMs: 1_500,
      }),
  },
  {
    name: 'Chromium',
    open: () => {
      const runtime = createBrowserRuntime({ executablePath: EXECUTABLE, allowPrivate, maxBrowsers: 1 });
      return createBrowserEngine({ runtime, userAgent: USER_AGENT });
    },
  },
];

/** Everything is real but the time, which passes when a test says so. */
let now = 0;
let site: TargetSite;
beforeEach(async () => {
  now = 1_000_000;
  site = await startSite();
});

const names = { 'shop.example': '127.0.0.1', 'other.example': '127.0.0.1', 'check.example': '127.0.0.1' };
/** Proxy n goes out by 127.0.0.(10 + n); HTTP and SOCKS5 in turn, all with a login. */
const startProxies = (count: number, base = 10): Promise<ForwardingProxy[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      startProxy({
        names,
        protocol: index % 2 === 0 ? 'http' : 'socks5',
        login: ['user', `p@ss:${index}`],
        exit: `127.0.0.${base + index}`,
      }),
    ),
  );

interface Listed {
  readonly name: string;
  readonly proxies: readonly Pick<ForwardingProxy, 'url'>[];
}
function poolOf(lists: readonly Listed[], cooldownMs = 0): ProxyPool {
  const text = [
    `cooldownMs: ${cooldownMs}`,
    `checkUrl: http://check.example:${site.port}/`,
    'providers:',
    ...lists.flatMap(({ name, proxies }) => [
      `  - { kind: list, name: ${name}, tier: datacenter, proxies: [${proxies.map((proxy) => `"${proxy.url()}"`).join(', ')}] }`,
    ]),
  ].join('\n');
  return new ProxyPool(parseProxyFile(text), () => 0);
}

/** One attempt as a worker makes it: the address the site saw, or what went wrong. */
async function visit(
  engine: Engine,
  pool: ProxyPool,
  host = 'shop.example',
  more: Partial<ProxyQuery> = {},
): Promise<string> {
  const decision = pool.choose({ host, tier: null, country: null, session: null, ...more }, now);
  if (decision.kind !== 'use') return decision.kind;
  const { use } = decision;
  const report = (end: Parameters<typeof proxyOutcomeOf>[0], bytes: number) =>
    pool.ended(use, { outcome: proxyOutcomeOf(end), ms: 5, bytes }, now);
  try {
    const response = await get(engine, `http://${host}:${site.port}/`, { proxy: use.proxy });
    const { statusCode, wireBytes } = response;
    const outcome = statusCode === 403 ? 'blocked' : statusCode >= 500 ? 'error' : 'ok';
    report({ outcome, statusCode, errorCode: null, fault: null }, wireBytes);
    const [address = 'nobody'] = /127\.0\.0\.\d+/.exec(Buffer.from(response.body).toString()) ?? [];
    return outcome === 'ok' ? address : String(statusCode);
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    report({ outcome: 'error', statusCode: null, errorCode: error.code, fault: faultOf(error) }, 0);
    return 'failed';
  }
}

// Contexts of Chromium take their time on a busy machine.
describe.each(ENGINES)('with real proxies, by $name', { timeout: 120_000 }, ({ name, open }) => {
  const engine = open();
  afterAll(() => engine.close());
  const visits = async (count: number, pool: ProxyPool, host?: string, more?: Partial<ProxyQuery>) => {
    const seen: string[] = [];
    for (let index = 0; index < count; index++) seen.push(await visit(engine, pool, host, more));
    return seen;
  };

  test('requests rotate, and the site sees nobody but the proxies', async () => {
    const pool = poolOf([{ name: 'a', proxies: await startProxies(3) }]);
    expect(await visits(6, pool)).toEqual([10, 11, 12, 10, 11, 12].map((last) => `127.0.0.${last}`));
    expect(site.visitors).not.toContain('127.0.0.1');
    const [tier] = pool.figures(now).tiers;
    expect(tier).toMatchObject({ requests: 6, successes: 6 });
    // Chromium counts heads too.
    expect(tier?.bytes).toBeGreaterThanOrEqual(6 * '127.0.0.10'.length);
    expect(pool.figures(now).proxies.map(({ requests, successes }) => [requests, successes])).toEqual(
      new Array(3).fill([2, 2]),
    );
    expect(site.headers()['user-agent']).toBe(USER_AGENT);
    expect(Object.keys(site.headers())).not.toContain('proxy-authorization');
  });

  test('a proxy rests from a host for 30 s, not from others', async () => {
    const pool = poolOf([{ name: 'a', proxies: await startProxies(2) }], 30_000);
    expect(await visits(3, pool)).toEqual(['127.0.0.10', '127.0.0.11', 'wait']);
    expect(await visit(engine, pool, 'other.example')).toBe('127.0.0.10');
    now += 30_000;
    expect(await visits(3, pool)).toEqual(['127.0.0.11', '127.0.0.10', 'wait']);
  });

  test('a session keeps its address until its proxy dies', async () => {
    const proxies = await startProxies(3);
    const pool = poolOf([{ name: 'a', proxies }], 30_000);
    const session = { id: 'visitor', proxyId: null };
    expect(await visits(4, pool, undefined, { session })).toEqual(new Array(4).fill('127.0.0.10'));
    proxies[0]?.behave('hang-up');
    expect(await visit(engine, pool, 'other.example', { session })).toBe('failed');
    expect(await visit(engine, pool, undefined, { session })).toBe('failed');
    expect(await visits(3, pool, undefined, { session })).toEqual(new Array(3).fill('127.0.0.11'));
  });

  test('dead, locked and lying proxies are passed over; the rest go on', async () => {
    const [good, lying] = await startProxies(2);
    if (good === undefined || lying === undefined) throw new Error('no proxies');
    // Chromium has no limit of its own for one that swallows everything; the other way of lying is as good.
    lying.behave(name === 'Chromium' ? 'gateway-error' : 'swallow');
    const dead = { url: () => 'http://127.0.0.1:1' };
    const locked = { url: () => good.url().replace('user:', 'someone:') };
    const pool = poolOf([{ name: 'a', proxies: [dead, locked, lying, good] }]);
    const seen = [...(await visits(4, pool)), ...(await visits(4, pool, 'other.example'))];
    expect(seen.filter((each) => each === 'failed')).toHaveLength(4);
    expect(await visits(5, pool)).toEqual(new Array(5).fill('127.0.0.10'));
    expect(pool.figures(now).proxies.map(({ isHealthy, failures }) => [isHealthy, failures])).toEqual([
      [false, 1],
      [false, 1],
      [false, 2],
      [true, 0],
    ]);
  });

  test('a banned address is not shown to that site again, and nobody else suffers', async () => {
    site.ban('127.0.0.11');
    const pool = poolOf([{ name: 'a', proxies: await startProxies(3) }]);
    expect(await visits(3, pool)).toEqual(['127.0.0.10', '403', '127.0.0.12']);
    expect(await visits(4, pool)).not.toContain('403');
    expect(pool.figures(now)).toMatchObject({
      providers: [{ bans: 1, failures: 0, healthy: 3, breaker: 'closed' }],
    });
  });

  test('a site that is down is nobody else’s fault', async () => {
    site.isDown = true;
    const pool = poolOf([{ name: 'a', proxies: await startProxies(2) }]);
    expect(new Set(await visits(12, pool))).toEqual(new Set(['503']));
    expect(pool.figures(now)).toMatchObject({
      providers: [{ targetFailures: 12, failures: 0, healthy: 2, breaker: 'closed' }],
    });
  });

  test('a provider that dies is replaced by the next, and comes back by checks and probes', async () => {
    const first = await startProxies(8);
    const second = await startProxies(1, 40);
    const pool = poolOf([
      { name: 'first', proxies: first },
      { name: 'second', proxies: second },
    ]);
    for (const proxy of first) proxy.behave('hang-up');
    // A proxy that hangs up is found out at the second host; half of enough failing opens the breaker.
    const seen = [...(await visits(8, pool)), ...(await visits(8, pool, 'other.example'))];
    expect(pool.figures(now).providers[0]?.breaker).toBe('open');
    expect(seen.slice(0, 14)).toEqual(new Array(14).fill('failed'));
    expect(seen.slice(14)).toEqual(['127.0.0.40', '127.0.0.40']);

    for (const proxy of first) proxy.behave('forward');
    now += 120_000;
    const health = createProxyHealth({
      pool,
      url: `http://check.example:${site.port}/`,
      userAgent: USER_AGENT,
      allowPrivate,
      lookEveryMs: 3_600_000,
      now: () => now,
    });
    await health.run();
    await health.close();
    expect(pool.figures(now).providers).toMatchObject([{ healthy: 8 }, { healthy: 1 }]);
    const back = await visits(4, pool);
    expect(back).not.toContain('127.0.0.40');
    expect(pool.figures(now).providers[0]?.breaker).toBe('closed');
  });

  test('when no proxy is left there is none, rather than a request without one', async () => {
    const pool = poolOf([{ name: 'a', proxies: [{ url: () => 'socks5://127.0.0.1:1' }] }]);
    expect(await visits(2, pool)).toEqual(['failed', 'none']);
    expect(site.visitors).toEqual([]);
  });
});
