import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { serve } from '../../http/loopback.fixture.ts';
import { failureOf, render, testBrowser, textOf, until } from '../browser.fixture.ts';
import { treeBytes, treePids } from './process-tree.ts';

const html = (body: string) =>
  serve((_, response) => response.setHeader('content-type', 'text/html').end(`<!doctype html><body>${body}`));

/** What has ended and waits for the system to take note of it is not alive. */
const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
  } catch {
    return false;
  }
};

/** Children of this process that have ended and were not waited for. */
const zombies = (): string[] =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' && Number(parent) === process.pid;
    } catch {
      return false;
    }
  });

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
};
const isRenderer = (pid: number): boolean => commandOf(pid).includes('--type=renderer');

describe('isolation', () => {
  test('pages of one key share cookies and storage, pages of another see neither', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 2 });
    const site = await serve((request, response) => {
      const body =
        '<p id=a></p><script>a.textContent = document.cookie + "|" + localStorage.x + "|" + sessionStorage.y + "|" + name;' +
        'if (location.search) { document.cookie = "c=1"; localStorage.x = 2; sessionStorage.y = 3; name = "n" }</script>';
      response
        .setHeader('content-type', 'text/html')
        .end(`<!doctype html><body>${body}${request.headers.cookie}`);
    });
    const look = async (key: string, query = '') =>
      textOf(await render(engine, `${site.origin}/${query}`, { key })).match(/<p id="a">(.*)<\/p>/)?.[1];
    await look('one', '?set');
    expect(await look('one')).toMatch(/^c=1\|2/);
    expect(await look('two')).toBe('|undefined|undefined|');
    expect(await look('one')).toMatch(/^c=1\|2/);
    expect(runtime.running?.pool.stats).toMatchObject({ contexts: 2, pagesOpen: 2 });
  });

  test('what differs in cookies, agent or jar differs in context, the jar only where no key is given', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 8, pagesEach: 8 });
    const { origin } = await html('x');
    const { createCookieJar } = await import('../../cookies/cookie-jar.ts');
    const variants = [
      {},
      { cookies: { a: '1' } },
      { jar: createCookieJar() },
      { jar: createCookieJar() },
      { userAgent: 'B' },
      { key: 'same' },
      { key: 'same', cookies: { a: '1' } },
    ];
    for (const more of variants) await render(engine, `${origin}/`, more);
    expect(runtime.running?.pool.stats.contexts).toBe(variants.length);
    await render(engine, `${origin}/`, { key: 'same' });
    await render(engine, `${origin}/`, { key: 'same', jar: createCookieJar() });
    await render(engine, `${origin}/`, { key: 'same', jar: createCookieJar() });
    expect(runtime.running?.pool.stats).toMatchObject({
      contexts: variants.length,
      pagesOpen: variants.length,
    });
  });

  test('contexts are bounded, and the one used longest ago goes first', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 8, pagesEach: 8, maxContexts: 2 });
    const site = await serve((request, response) => {
      response.setHeader('set-cookie', 'seen=1').setHeader('content-type', 'text/html');
      response.end(`<!doctype html><body>${request.headers.cookie ?? 'new'}`);
    });
    const look = async (key: string) => textOf(await render(engine, `${site.origin}/`, { key }));
    await look('a');
    await look('b');
    expect(await look('a')).toContain('seen=1');
    expect(await look('c')).toContain('new');
    expect(runtime.running?.pool.stats.contexts).toBe(2);
    expect(await look('a')).toContain('seen=1');
    expect(await look('b')).toContain('new');
    expect(runtime.running?.proxy.admitted).toBe(2);
  });
});

describe('limits', () => {
  test('more pages than allowed wait their turn, of many keys too', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 2, pagesEach: 2 });
    let now = 0;
    let most = 0;
    const { origin } = await serve((_, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        response.setHeader('content-type', 'text/html').end('<!doctype html><body>x');
      }, 50);
    });
    const all = Array.from({ length: 9 }, (_, index) =>
      render(engine, `${origin}/`, { key: `k${index % 4}` }),
    );
    const answers = await Promise.all(all);
    expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true);
    expect(most).toBeLessThanOrEqual(2);
    expect(runtime.running?.pool.stats).toMatchObject({ pagesInUse: 0, waiting: 0 });
    expect(runtime.running?.pool.stats.pagesOpen).toBeLessThanOrEqual(2);
  });

  test('whoever waits too long, or is called off, leaves the line', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1 });
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const { origin } = await serve((request, response) => {
      if (request.url === '/slow') resolve();
      else response.setHeader('content-type', 'text/html').end('<!doctype html><body>x');
    });
    const slow = new AbortController();
    const first = failureOf(render(engine, `${origin}/slow`, { signal: slow.signal }));
    await isAsked;
    expect((await failureOf(render(engine, `${origin}/`, { timeoutMs: 300 }))).code).toBe('TASK_TIMEOUT');
    const called = new AbortController();
    const second = failureOf(render(engine, `${origin}/`, { signal: called.signal }));
    await until(() => runtime.running?.pool.stats.waiting === 1);
    called.abort();
    expect((await second).code).toBe('CANCELLED');
    slow.abort();
    expect((await first).code).toBe('CANCELLED');
    expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
  });

  test('a browser is replaced after so many pages (property 12), and when it holds too much', async () => {
    const { origin } = await html('x');
    const counted = testBrowser({ maxBrowsers: 1, pagesAtOnce: 2, pagesPerBrowser: 3 });
    for (let count = 0; count < 7; count += 1) await render(counted.engine, `${origin}/`);
    expect(counted.runtime.running?.pool.stats).toMatchObject({ launched: 3, recycled: 2, crashed: 0 });
    const heavy = testBrowser({ maxBrowsers: 1, pagesAtOnce: 2, maxBrowserBytes: 1_000, measureEveryMs: 0 });
    await render(heavy.engine, `${origin}/`);
    await until(() => heavy.runtime.running?.pool.stats.recycled === 1);
    expect((await render(heavy.engine, `${origin}/`)).statusCode).toBe(200);
  });

  test('an idle browser is closed, with all its processes', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, idleMs: 1_500 });
    const { origin } = await html('x');
    await render(engine, `${origin}/`);
    const pool = runtime.running?.pool;
    const pids = await treePids(pool?.pids[0] ?? 0);
    expect(pids.length).toBeGreaterThan(2);
    expect(await treeBytes(pids[0] ?? 0)).toBeGreaterThan(50_000_000);
    await until(() => pool?.stats.browsers === 0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
  });
});

describe('recovery', () => {
  test('a renderer that is killed in the middle is an error, and the next page is well', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 2 });
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const { origin } = await serve((request, response) => {
      if (request.url === '/hang') resolve();
      else response.setHeader('content-type', 'text/html').end('<!doctype html><body>x<img src=/hang>');
    });
    const attempt = failureOf(render(engine, `${origin}/`));
    await isAsked;
    const pids = await treePids(runtime.running?.pool.pids[0] ?? 0);
    for (const pid of pids.filter(isRenderer)) process.kill(pid, 'SIGKILL');
    expect((await attempt).message).toMatch(/ended unexpectedly/);
    expect(
      (await render(engine, `${origin}/again`, { blockResources: [], wait: { until: 'domcontentloaded' } }))
        .statusCode,
    ).toBe(200);
    expect(runtime.running?.pool.stats).toMatchObject({ pagesInUse: 0, launched: 1, crashed: 0 });
  });

  test.each([
    ['renderer', '--type=renderer', 'BROWSER_CRASHED'],
    ['network service', 'NetworkService', 'BROWSER_LOST'],
  ])('a %s that is killed before the server answers is no fault of the host', async (_, mark, code) => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 2 });
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const { origin } = await serve((request, response) => {
      if (request.url === '/hang') resolve();
      else response.setHeader('content-type', 'text/html').end('<!doctype html><body>x');
    });
    const attempt = failureOf(render(engine, `${origin}/hang`));
    await isAsked;
    const pids = await treePids(runtime.running?.pool.pids[0] ?? 0);
    const victims = pids.filter((pid) => commandOf(pid).includes(mark));
    expect(victims.length).toBeGreaterThan(0);
    for (const pid of victims) process.kill(pid, 'SIGKILL');
    expect(await attempt).toMatchObject({ code });
    expect((await render(engine, `${origin}/`, { key: 'other' })).statusCode).toBe(200);
    expect(runtime.running?.pool.stats).toMatchObject({ pagesInUse: 0 });
  });

  test('a browser that is killed in the middle is an error, leaves nothing behind and is replaced', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 3 });
    let asked = 0;
    const { origin } = await serve((request, response) => {
      if (request.url === '/hang') asked += 1;
      else response.setHeader('content-type', 'text/html').end('<!doctype html><body>x');
    });
    const attempts = ['a', 'b'].map((key) => failureOf(render(engine, `${origin}/hang`, { key })));
    await until(() => asked === 2);
    const [main = 0, ...others] = await treePids(runtime.running?.pool.pids[0] ?? 0);
    process.kill(main, 'SIGKILL');
    for (const attempt of attempts) expect((await attempt).message).toMatch(/ended unexpectedly/);
    await until(() => ![main, ...others].some(isAlive));
    expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
    expect(runtime.running?.pool.stats).toMatchObject({
      crashed: 1,
      launched: 2,
      browsers: 1,
      contexts: 1,
      pagesInUse: 0,
    });
    expect(runtime.running?.proxy.admitted).toBe(1);
    expect(zombies()).toEqual([]);
  });

  test('a page that never comes to rest is closed, by force if need be', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 2, closeTimeoutMs: 1_000 });
    const { origin } = await serve((request, response) => {
      const body = request.url === '/loop' ? '<script>for(;;);</script>' : 'well';
      response.setHeader('content-type', 'text/html').end(`<!doctype html><body>${body}`);
    });
    const failure = await failureOf(render(engine, `${origin}/loop`, { timeoutMs: 4_000 }));
    expect(failure.code).toBe('TASK_TIMEOUT');
    expect(textOf(await render(engine, `${origin}/`))).toContain('well');
    await until(() => runtime.running?.pool.stats.pagesInUse === 0);
    expect(runtime.running?.pool.stats.pagesOpen).toBeLessThanOrEqual(2);
  });

  test('a browser that does not start is an error that says so, and is not tried again at once', async () => {
    const { engine, runtime } = testBrowser({ executablePath: '/bin/false', maxBrowsers: 1 });
    const first = await failureOf(render(engine, 'http://127.0.0.1:8000/'));
    expect(first.message).toMatch(/No browser is available: it does not start/);
    expect(first.retryAfterMs).toBeGreaterThan(0);
    const second = await failureOf(render(engine, 'http://127.0.0.1:8000/'));
    expect(second.code).toBe(first.code);
    expect(runtime.running?.pool.stats).toMatchObject({ launched: 0, waiting: 0 });
  });

  test('random killing leaves every page with a result or an error, and nothing behind', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 2, pagesAtOnce: 4, pagesEach: 2 });
    const { origin } = await serve((_, response) => {
      setTimeout(() => response.setHeader('content-type', 'text/html').end('<!doctype html><body>x'), 30);
    });
    const seen = new Set<number>();
    let done = 0;
    const codes = new Map<string, number>();
    const work = Array.from({ length: 4 }, async (_, worker) => {
      for (let count = 0; count < 8; count += 1) {
        const outcome = await render(engine, `${origin}/`, { key: `k${worker}` }).then(
          () => 'ok',
          (error: { code: string }) => error.code,
        );
        codes.set(outcome, (codes.get(outcome) ?? 0) + 1);
        done += 1;
        if (done % 6 !== 0) continue;
        const [main = 0] = runtime.running?.pool.pids ?? [];
        const pids = main === 0 ? [] : await treePids(main);
        for (const pid of pids) seen.add(pid);
        const victim = done % 12 === 0 ? main : (pids.find(isRenderer) ?? main);
        if (victim > 0 && isAlive(victim)) process.kill(victim, 'SIGKILL');
      }
    });
    await Promise.all(work);
    const expected = ['ok', 'BROWSER_CRASHED', 'BROWSER_LOST'];
    expect([...codes.keys()].filter((code) => !expected.includes(code))).toEqual([]);
    expect(codes.get('ok')).toBeGreaterThan(8);
    await until(() => runtime.running?.pool.stats.pagesInUse === 0);
    await engine.close();
    await until(() => ![...seen].some(isAlive));
    expect(runtime.running?.proxy.admitted).toBe(0);
    expect(zombies()).toEqual([]);
  }, 90_000);
});

describe('browsers that are kept ready', () => {
  test('are launched with the pool, and stay when they have nothing to do', async () => {
    const { engine, runtime } = testBrowser({ maxBrowsers: 3, pagesEach: 1, minBrowsers: 2, idleMs: 50 });
    const { pool } = await runtime.ready();
    await until(() => pool.stats.browsers === 2);
    const { origin } = await html('x');
    await Promise.all(['a', 'b', 'c'].map((key) => render(engine, `${origin}/`, { key })));
    await until(() => pool.stats.browsers === 2 && pool.stats.pagesInUse === 0);
    expect(pool.stats.crashed).toBe(0);
  });
});
