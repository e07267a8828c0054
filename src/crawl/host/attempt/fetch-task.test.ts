import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewTask, Task } from '../../../core/model/task.ts';
import type { Store } from '../../../core/ports/store.ts';
import { serve, testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { createRobotsCache } from '../../robots/robots-cache.ts';
import {
  claimSeed,
  hostOf,
  type JobChanges,
  openStore,
  seedOf,
  T0,
} from '../process/claimed-task.fixture.ts';
import { type FetchContext, fetchTask, MAX_REDIRECTS } from './fetch-task.ts';

let store: Store;
beforeEach(async () => {
  store = await openStore();
});
afterEach(() => store.close());

interface Heard {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/** A site that answers by path; everything else is a page. */
async function site(answers: Record<string, (response: ServerResponse) => void> = {}) {
  const heard: Heard[] = [];
  const { origin } = await serve((request, response) => {
    const { url: path = '', method = '', headers } = request;
    heard.push({ path, method, headers });
    const answer = answers[path];
    if (answer === undefined) response.end(`page ${path}`);
    else answer(response);
  });
  return { origin, heard, paths: () => heard.map(({ path }) => path) };
}
const to =
  (location: string, status = 302) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { location, 'set-cookie': 'seen=1' }).end();

/** Claims the URL as a job's only seed and fetches it as the owner of its host would. */
async function fetchAs(
  url: string,
  changes: JobChanges = {},
  more: Partial<FetchContext> = {},
  at: Partial<Task> = {},
  others: readonly NewTask[] = [],
) {
  const { job, lease, task, running } = await claimSeed(store, url, changes, others);
  let passes = 0;
  const context: FetchContext = {
    hostKey: hostOf(at.atUrl ?? url),
    lease,
    store,
    signal: new AbortController().signal,
    mayStart: () => true,
    mayDisguise: false,
    robotsFor: () => null,
    pass: async () => {
      passes += 1;
    },
    admittedForMs: () => Number.POSITIVE_INFINITY,
    timeoutMs: running.job.options.page.timeoutMs,
    ...more,
  };
  const fetched = await fetchTask({ ...task, ...at }, running, testEngine(), context);
  const urls = (await store.listTasks({ jobId: job.id, limit: 100 })).items;
  return { fetched, job, running, urls, passes };
}

const described = ({ fetched }: Awaited<ReturnType<typeof fetchAs>>) =>
  fetched.kind === 'response'
    ? `${fetched.response.statusCode} ${Buffer.from(fetched.response.body).toString()}`
    : fetched.kind === 'error'
      ? fetched.error.code
      : fetched.end;

describe('a redirect within the host', () => {
  it('is followed, and the next request waits for its turn', async () => {
    const { origin, paths } = await site({ '/a': to('/b') });
    const result = await fetchAs(`${origin}/a`);
    expect(described(result)).toBe('200 page /b');
    expect([paths(), result.passes]).toEqual([['/a', '/b'], 1]);
  });

  it('makes the job know the target, so that nobody else fetches it', async () => {
    const { origin } = await site({ '/a': to('/b') });
    const { urls } = await fetchAs(`${origin}/a`);
    expect(urls.find(({ url }) => url === `${origin}/b`)).toMatchObject({
      state: 'skipped',
      rule: 'duplicate.redirect',
      foundBy: 'redirect',
      foundOn: `${origin}/a`,
    });
  });

  it('to what the job knows already ends the task as a duplicate, and asks for nothing', async () => {
    const { origin, paths } = await site({ '/a': to('/b') });
    const known = seedOf(`${origin}/b`, { depth: 1, foundBy: 'link' });
    const result = await fetchAs(`${origin}/a`, {}, {}, {}, [known]);
    expect(described(result)).toEqual({ state: 'skipped', rule: `duplicate.redirect:${origin}/b` });
    expect(paths()).toEqual(['/a']);
  });

  it('of a scrape or batch asks nobody: the caller wants what is there', async () => {
    const { origin } = await site({ '/a': to('/b') });
    const result = await fetchAs(`${origin}/a`, { kind: 'batch' });
    expect(described(result)).toBe('200 page /b');
    expect(result.urls).toHaveLength(1);
  });

  it('that only adds a cookie and leads back is followed', async () => {
    let visits = 0;
    const { origin } = await site({
      '/a': (response) => {
        visits += 1;
        if (visits === 1) to('/a')(response);
        else response.end('welcome');
      },
    });
    expect(described(await fetchAs(`${origin}/a`))).toBe('200 welcome');
  });

  it('without end fails', async () => {
    const { origin } = await site({ '/a': to('/b'), '/b': to('/a') });
    expect(described(await fetchAs(`${origin}/a`))).toBe('REDIRECT_LOOP');
  });

  it('that cannot be followed is an error of the page', async () => {
    const { origin } = await site({ '/a': to('mailto:a@site.test') });
    expect(described(await fetchAs(`${origin}/a`))).toBe('BAD_REDIRECT');
  });

  it('counts together with those that led from other hosts', async () => {
    const { origin } = await site({ '/a': to('/b') });
    const last = { hops: MAX_REDIRECTS - 1 };
    expect(described(await fetchAs(`${origin}/a`, {}, {}, last))).toBe('200 page /b');
    const { origin: again } = await site({ '/a': to('/b') });
    expect(described(await fetchAs(`${again}/a`, {}, {}, { hops: MAX_REDIRECTS }))).toBe(
      'TOO_MANY_REDIRECTS',
    );
  });
});

describe('a redirect out of scope', () => {
  it('ends the task with the rule, unasked', async () => {
    const { origin, paths } = await site({ '/a': to('/private/x') });
    const result = await fetchAs(`${origin}/a`, { scope: { exclude: ['/private/*'] } }, {}, { depth: 1 });
    expect(described(result)).toEqual({
      state: 'skipped',
      rule: 'scope.exclude:/private/* (redirect)',
    });
    expect(paths()).toEqual(['/a']);
    expect(result.urls).toHaveLength(1);
  });

  it('is followed for a seed: it may lead to its real address', async () => {
    const { origin } = await site({ '/a': to('/private/x') });
    const result = await fetchAs(`${origin}/a`, { scope: { exclude: ['/private/*'] } });
    expect(described(result)).toBe('200 page /private/x');
  });
});

describe('a redirect to another host', () => {
  it('hands the task over, with the redirects so far', async () => {
    const there = await site();
    const { origin } = await site({ '/a': to('/b'), '/b': to(`${there.origin}/c`) });
    const result = await fetchAs(`${origin}/a`, {}, {}, { hops: 2 });
    expect(described(result)).toEqual({
      state: 'moved',
      atUrl: `${there.origin}/c`,
      hostKey: hostOf(there.origin),
      hops: 4,
    });
    expect(there.heard).toEqual([]);
    expect(result.fetched).toMatchObject({ response: { redirectedTo: `${there.origin}/c` } });
  });

  it('keeps the address as it was written, not its canonical form', async () => {
    const { origin } = await site({ '/a': to('http://127.0.0.1:9/x?b=2&a=1&utm_source=s') });
    const { fetched } = await fetchAs(`${origin}/a`);
    expect(fetched).toMatchObject({ end: { atUrl: 'http://127.0.0.1:9/x?b=2&a=1&utm_source=s' } });
  });

  it('of a link outside the job’s hosts ends it', async () => {
    const { origin } = await site({ '/a': to('http://127.0.0.1:9/x') });
    const result = await fetchAs(`${origin}/a`, {}, {}, { depth: 1 });
    expect(described(result)).toEqual({ state: 'skipped', rule: 'scope.domain (redirect)' });
  });

  it('does not post again what was posted', async () => {
    const [form, there] = [await site(), await site()];
    const changes: JobChanges = { kind: 'scrape', page: { method: 'POST', body: 'secret=1' } };
    await fetchAs(`${form.origin}/form`, changes);
    await fetchAs(`${there.origin}/led-here`, changes, {}, { hops: 1 });
    const heard = [...form.heard, ...there.heard];
    expect(heard.map(({ method, headers }) => [method, headers['content-length']])).toEqual([
      ['POST', '8'],
      ['GET', undefined],
    ]);
  });
});

describe('robots.txt of a redirect’s target', () => {
  it('is obeyed', async () => {
    const { origin, paths } = await site({
      '/robots.txt': (response) => void response.end('User-agent: *\nDisallow: /b'),
      '/a': to('/b'),
    });
    const cache = createRobotsCache({ store, engine: testEngine(), now: () => T0 });
    const robots = await cache.ask(origin, { admitRedirect: async () => true });
    const denied = await fetchAs(`${origin}/a`, {}, { robotsFor: () => robots });
    expect(described(denied)).toEqual({ state: 'denied', rule: 'robots: disallow: /b (line 2)' });
    expect(paths()).toEqual(['/robots.txt', '/a']);
  });

  it('that nobody has read yet is read before: the task goes back to its host', async () => {
    const { origin, paths } = await site({ '/a': to('/b') });
    const result = await fetchAs(`${origin}/a`, {}, { robotsFor: () => 'unknown' });
    expect(described(result)).toEqual({
      state: 'moved',
      atUrl: `${origin}/b`,
      hostKey: hostOf(origin),
      hops: 1,
    });
    expect(paths()).toEqual(['/a']);
  });
});

describe('what proves who the caller is', () => {
  const secrets: JobChanges = {
    kind: 'batch',
    page: {
      headers: { Authorization: 'Bearer secret', Cookie: 'h=1', 'X-Api-Key': 'yes', 'X-Trace': 'yes' },
      crossOriginHeaders: ['x-trace'],
      cookies: { session: 'secret' },
    },
  };
  const sentTo = (heard: readonly Heard[]) => {
    const { authorization, cookie, 'x-api-key': key, 'x-trace': trace } = heard.at(-1)?.headers ?? {};
    return { authorization, hasCookie: cookie !== undefined, key, trace };
  };

  it('goes to the hosts the caller named', async () => {
    const { origin, heard } = await site();
    await fetchAs(`${origin}/a`, secrets);
    expect(sentTo(heard)).toEqual({
      authorization: 'Bearer secret',
      hasCookie: true,
      key: 'yes',
      trace: 'yes',
    });
  });

  it('goes to further pages of them too', async () => {
    const { origin, heard } = await site();
    await fetchAs(`${origin}/a`, secrets, {}, { depth: 3 });
    expect(sentTo(heard)).toMatchObject({ authorization: 'Bearer secret', hasCookie: true });
  });

  it('does not go where links lead', async () => {
    const { origin, heard } = await site();
    const seeds = ['http://named.test/'];
    await fetchAs(`${origin}/a`, { ...secrets, seeds }, {}, { depth: 1 });
    expect(sentTo(heard)).toEqual({
      authorization: undefined,
      hasCookie: false,
      key: undefined,
      trace: 'yes',
    });
  });

  it('does not go where redirects lead', async () => {
    const { origin, heard } = await site();
    const seeds = ['http://named.test/'];
    await fetchAs('http://named.test/', { ...secrets, seeds }, {}, { atUrl: `${origin}/a`, hops: 1 });
    expect(sentTo(heard)).toEqual({
      authorization: undefined,
      hasCookie: false,
      key: undefined,
      trace: 'yes',
    });
  });
});

describe('the user agent', () => {
  const disguised: JobChanges = { page: { headers: { 'User-Agent': 'Mozilla/5.0' } } };

  it('is our own without consent, whatever the caller asks for', async () => {
    const { origin, heard } = await site();
    await fetchAs(`${origin}/a`, disguised);
    expect(heard[0]?.headers['user-agent']).toBe('TestBot/1');
  });

  it('is the caller’s with it', async () => {
    const { origin, heard } = await site();
    await fetchAs(`${origin}/a`, disguised, { mayDisguise: true });
    expect(heard[0]?.headers['user-agent']).toBe('Mozilla/5.0');
  });
});

describe('an attempt that is given up', () => {
  it('while the host answers is cancelled', async () => {
    const aborter = new AbortController();
    const { origin } = await site({ '/a': () => aborter.abort() });
    expect(described(await fetchAs(`${origin}/a`, {}, { signal: aborter.signal }))).toBe('CANCELLED');
  });

  it('while a redirect waits for its turn is cancelled', async () => {
    const aborter = new AbortController();
    const { origin, paths } = await site({ '/a': to('/b') });
    const pass = async () => {
      aborter.abort();
      aborter.signal.throwIfAborted();
    };
    expect(described(await fetchAs(`${origin}/a`, {}, { signal: aborter.signal, pass }))).toBe('CANCELLED');
    expect(paths()).toEqual(['/a']);
  });

  it('by a fault of the program is not hidden', async () => {
    const { origin } = await site({ '/a': to('/b') });
    const pass = () => Promise.reject(new Error('a bug'));
    await expect(fetchAs(`${origin}/a`, {}, { pass })).rejects.toThrow('a bug');
  });
});

it('any status is a response, and a lost connection an error with its time', async () => {
  const { origin } = await site({ '/gone': (response) => void response.writeHead(410).end('gone') });
  expect(described(await fetchAs(`${origin}/gone`))).toBe('410 gone');
  const closed = await site({ '/a': (response) => void response.socket?.destroy() });
  const { fetched } = await fetchAs(`${closed.origin}/a`);
  expect(fetched).toMatchObject({
    kind: 'error',
    error: { code: 'CONNECTION_RESET' },
    ms: expect.any(Number),
  });
});

it('a sitemap may be larger than a page', async () => {
  const body = 'x'.repeat(3_000);
  const page = { maxBodyBytes: 2_000 };
  const answers = { '/a': (response: ServerResponse) => void response.end(body) };
  const one = await site(answers);
  expect(described(await fetchAs(`${one.origin}/a`, { page }))).toBe('BODY_LIMIT_EXCEEDED');
  const other = await site(answers);
  expect(described(await fetchAs(`${other.origin}/a`, { page }, {}, { kind: 'sitemap' }))).toBe(
    `200 ${body}`,
  );
});
