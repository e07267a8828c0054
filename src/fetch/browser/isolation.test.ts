import { afterAll, describe, expect, test } from 'vitest';
import { createIdentity, seededRandom } from '../../crawl/plan/identity/identity.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import type { FetchRequest } from '../engine.ts';
import { serve } from '../http/loopback.fixture.ts';
import { BROWSER_VERSION, lastingStealth } from '../stealth/stealth.fixture.ts';
import { lastingBrowser, render, requestFor, testBrowser, textOf } from './browser.fixture.ts';

const { engine } = lastingBrowser({ pagesAtOnce: 6, pagesEach: 6, maxBrowsers: 1 });
const stealth = lastingStealth({ pagesAtOnce: 6, pagesEach: 6, maxBrowsers: 1 });
afterAll(() => Promise.all([engine.close(), stealth.engine.close()]));

/** Keeps something in every place that a browser has, and says what was there before. */
const LEAVE_TRACES = `(async () => {
  const open = () => new Promise((resolve, reject) => {
    const request = indexedDB.open('traces', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('kept');
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
  const kept = async (mode, work) => {
    const database = await open();
    const request = work(database.transaction('kept', mode).objectStore('kept'));
    return new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  };
  const workers = await navigator.serviceWorker.getRegistrations();
  const directory = await navigator.storage.getDirectory();
  const before = {
    cookie: document.cookie,
    localStorage: localStorage.length,
    sessionStorage: sessionStorage.length,
    database: (await kept('readonly', (store) => store.count())),
    caches: (await caches.keys()).length,
    workers: workers.length,
    files: (await Array.fromAsync(directory.keys())).length,
    controller: navigator.serviceWorker.controller === null ? 0 : 1,
    answer: await (await fetch('/cached')).text(),
  };
  document.cookie = 'trace=1; max-age=1000';
  localStorage.trace = 1;
  sessionStorage.trace = 1;
  await kept('readwrite', (store) => store.put(1, 'trace'));
  await (await caches.open('traces')).put('/trace', new Response('1'));
  await directory.getFileHandle('trace', { create: true });
  const registration = await navigator.serviceWorker.register('/service.js');
  if (registration !== undefined) await navigator.serviceWorker.ready;
  return before;
})()`;

async function tracingSite() {
  let answers = 0;
  const shown: string[] = [];
  const site = await serve((request, response) => {
    const { url = '' } = request;
    if (url === '/cached') {
      answers += 1;
      response.writeHead(200, { 'cache-control': 'max-age=1000' }).end(String(answers));
    } else if (url === '/service.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' });
      response.end(
        "oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim()); onfetch = (event) => event.respondWith(new Response('from the worker'));",
      );
    } else {
      shown.push(url);
      response.setHeader('content-type', 'text/html').end(`<p>${'Something to read. '.repeat(9)}</p>`);
    }
  });
  return { ...site, shown };
}

const NOTHING = {
  cookie: '',
  localStorage: 0,
  sessionStorage: 0,
  database: 0,
  caches: 0,
  workers: 0,
  files: 0,
  controller: 0,
};
const identity = createIdentity({
  region: 'de',
  browserVersion: BROWSER_VERSION,
  random: seededRandom('one'),
});

describe.each([
  ['plain', engine, undefined],
  ['disguised', stealth.engine, identity],
] as const)('in a %s browser', (_, shown, who) => {
  test('pages of another key find nothing of what a page has left, in the cache and in workers either', async () => {
    const { origin } = await tracingSite();
    const look = async (key: string): Promise<unknown> => {
      const actions = [{ type: 'evaluate' as const, script: LEAVE_TRACES }];
      const { extra, failure } = await render(shown, `${origin}/`, { key, actions, identity: who });
      expect(failure).toBeNull();
      return extra.actions[0]?.value;
    };
    expect(await look('one')).toEqual({ ...NOTHING, answer: '1' });
    expect(await look('two')).toEqual({ ...NOTHING, answer: '2' });
    expect(await look('one')).toMatchObject({
      cookie: 'trace=1',
      localStorage: 1,
      database: 1,
      caches: 1,
      files: 1,
      answer: '1',
    });
    expect(await look('three')).toEqual({ ...NOTHING, answer: '3' });
  });

  test('no worker of an earlier page answers for the server', async () => {
    const { origin, shown: asked } = await tracingSite();
    const actions = [{ type: 'evaluate' as const, script: LEAVE_TRACES }];
    for (let count = 0; count < 3; count += 1) {
      const { body } = await render(shown, `${origin}/page`, { key: 'worker', actions, identity: who });
      expect(Buffer.from(body).toString()).toContain('Something to read');
    }
    expect(asked).toEqual(['/page', '/page', '/page']);
  });
});

test('one key is one warm context, whichever jars its requests bring, and their cookies are in place', async () => {
  const { origin } = await serve((request, response) =>
    response.setHeader('content-type', 'text/html').end(`<p>${request.headers.cookie ?? 'none'}`),
  );
  const { engine, runtime } = testBrowser({ maxBrowsers: 1, pagesAtOnce: 4, pagesEach: 4 });
  const seen: (string | undefined)[] = [];
  for (let count = 0; count < 3; count += 1) {
    const jar = createCookieJar();
    jar.store(new URL(`${origin}/`), [`turn=${count}; HttpOnly`, 'elsewhere=1; Path=/other'], Date.now());
    const response = await render(engine, `${origin}/`, { key: 'jars', jar });
    seen.push(/<p>(.*)<\/p>/.exec(textOf(response))?.[1]);
    expect(jar.list(Date.now()).map(({ name, path }) => `${name} ${path}`)).toEqual([
      'turn /',
      'elsewhere /other',
    ]);
  }
  expect(seen).toEqual(['turn=0', 'turn=1', 'turn=2']);
  expect(runtime.running?.pool.stats).toMatchObject({ contexts: 1, pagesOpen: 1, launched: 1 });
});

describe('a session, by way of fetch,', () => {
  const PAGE = `<p id=a></p><script>
    a.textContent = JSON.stringify([document.cookie, { ...localStorage }]);
    if (location.search === '?leave') { localStorage.clear(); document.cookie = 'login=; max-age=0'; }
    else localStorage.visits = Number(localStorage.visits ?? 0) + 1;
    if (location.search === '?onwards') location.href = '/next';
  </script><iframe src=/frame></iframe>`;
  const answer = (url: string, more: Partial<FetchRequest>) =>
    engine.fetch({ ...requestFor(url), wantsStorage: true, key: 'session', ...more });
  const shownIn = (body: Uint8Array): unknown =>
    JSON.parse(/<p id="a">(.*?)<\/p>/.exec(Buffer.from(body).toString())?.[1] ?? 'null');

  test('brings its cookies and local storage along and gets them back as the page left them', async () => {
    const { origin } = await serve((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: '/there' }).end();
      else response.setHeader('content-type', 'text/html').end(request.url === '/frame' ? '<p>x' : PAGE);
    });
    const cookie = { name: 'login', value: 'me', domain: '127.0.0.1', path: '/', expires: -1 } as const;
    const cookies = [{ ...cookie, httpOnly: false, secure: false, sameSite: 'Lax' as const }];
    const storage = { cookies, localStorage: { [origin]: { theme: 'dark' } } };

    const first = await answer(`${origin}/`, { storage });
    expect(shownIn(first.body)).toEqual(['login=me', { theme: 'dark' }]);
    const kept = first.rendered?.extra.storage;
    expect(kept?.localStorage).toEqual({ [origin]: { theme: 'dark', visits: '1' } });
    expect(kept?.cookies).toMatchObject([{ name: 'login', value: 'me' }]);

    const second = await answer(`${origin}/?leave`, { storage: kept ?? storage });
    expect(shownIn(second.body)).toEqual(['login=me', { theme: 'dark', visits: '1' }]);
    expect(second.rendered?.extra.storage).toEqual({ cookies: [], localStorage: { [origin]: {} } });

    const onwards = await answer(`${origin}/?onwards`, { storage });
    expect(onwards.finalUrl).toBe(`${origin}/next`);
    expect(shownIn(onwards.body)).toMatchObject(['login=me', { theme: 'dark' }]);
    const { visits = '0' } = onwards.rendered?.extra.storage?.localStorage[origin] ?? {};
    expect(Number(visits)).toBeGreaterThanOrEqual(2);

    // The session may have lost elsewhere what the warm context still has.
    await answer(`${origin}/`, { storage });
    const third = await answer(`${origin}/`, { storage: { cookies: [], localStorage: {} } });
    expect(shownIn(third.body)).toMatchObject({ 0: '' });

    const stopped = await answer(`${origin}/away`, { storage, onRedirect: async () => 'stop' });
    expect(stopped.redirectedTo).toBe(`${origin}/there`);
    expect(stopped.rendered?.extra.storage?.cookies).toMatchObject([{ name: 'login' }]);
  });
});
