import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHARSETS } from '../site/pages/charsets.ts';
import { byPath, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ site: { pages: 20 }, settings: { contact: 'https://example.org/bot' } });
});
afterAll(() => world.close());

interface Echo {
  readonly method: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the server says it received. */
async function echo(
  at: number,
  path: string,
  more: Partial<Parameters<World['scrapeNow']>[0]>,
): Promise<Echo> {
  const result = await world.scrapeNow({
    url: world.site.hostUrl(at) + path,
    formats: ['rawHtml'],
    ...more,
  });
  return JSON.parse(result.rawHtml ?? '') as Echo;
}

describe('a request', () => {
  test('says who asks and where to complain', async () => {
    const { headers } = await echo(1, '/redirects/echo', {});
    expect(headers['user-agent']).toMatch(/^ScrapifieBot\/\S+ \(\+https:\/\/example\.org\/bot\)/);
    for (const entry of world.heard(world.site.hostUrl(1))) {
      expect(entry.headers['user-agent']).toBe(headers['user-agent']);
    }
  });

  test('carries the headers and cookies it is given', async () => {
    const { headers } = await echo(2, '/redirects/echo', {
      headers: { 'x-trace': 'abc', 'Accept-Language': 'de' },
      cookies: { session: 's1', theme: 'dark' },
    });
    expect(headers).toMatchObject({ 'x-trace': 'abc', 'accept-language': 'de' });
    expect(headers.cookie?.split('; ').sort()).toEqual(['session=s1', 'theme=dark']);
  });

  test('is a POST with its body when asked to be', async () => {
    const post = {
      method: 'POST',
      body: '{"q":1}',
      headers: { 'content-type': 'application/json' },
    } as const;
    const heard = await echo(3, '/redirects/echo', post);
    expect(heard).toMatchObject({ method: 'POST', body: '{"q":1}' });
    expect(heard.headers['content-type']).toBe('application/json');
    expect(await echo(3, '/redirects/status/308', post)).toMatchObject({ method: 'POST', body: '{"q":1}' });
    expect(await echo(3, '/redirects/status/303', post)).toMatchObject({ method: 'GET', body: '' });
  });

  test('gives cookies back only to where they were meant for', async () => {
    const host = world.site.hostUrl(4);
    const other = world.site.hostUrl(1);
    await world.scrapeNow({ url: `${host}/redirects/other-host`, cookies: { secret: '1' } });
    const [first] = world.heard(host).filter(({ path }) => path === '/redirects/other-host');
    expect(first?.headers.cookie).toBe('secret=1');
    const there = world.heard(other).filter(({ path }) => path === '/redirects/end');
    expect(there).toHaveLength(1);
    expect(there[0]?.headers.cookie).toBeUndefined();
  });
});

test('a page behind a cookie is reached', async () => {
  const result = await world.scrapeNow({
    url: `${world.site.hostUrl(5)}/content/cookie-gate`,
    formats: ['metadata', 'text'],
  });
  expect(result.metadata?.title).toBe('Inside');
  expect(new URL(result.finalUrl).pathname).toBe('/content/cookie-inside');
});

test('titles come out right in every charset', async () => {
  const host = world.site.hostUrl(6);
  const names = Object.keys(CHARSETS);
  const job = await world.batchNow({ urls: names.map((name) => `${host}/charsets/${name}`) });
  expect(job.counters.pages).toBe(names.length);
  const titles = Object.fromEntries(
    (await world.pages(job)).map(({ url, title }) => [new URL(url).pathname.slice(10), title]),
  );
  expect(titles).toEqual(Object.fromEntries(names.map((name) => [name, CHARSETS[name]?.title])));
});

test('a page comes in the formats that were asked for, and no others', async () => {
  const url = `${world.site.hostUrl(7)}/big/3`;
  const whole = await world.scrapeNow({ url, formats: ['html', 'rawHtml', 'text', 'links', 'metadata'] });
  expect(whole.rawHtml).toContain('<title>');
  expect(whole.text).not.toContain('<');
  expect(whole.html).toContain('<h1');
  expect(whole.links?.length).toBeGreaterThan(10);
  expect(whole.metadata?.description).toMatch(/ways to go on/);
  const slim = await world.scrapeNow({ url, formats: ['links'] });
  expect(Object.keys(slim)).toContain('links');
  for (const format of ['html', 'rawHtml', 'text', 'metadata']) expect(slim).not.toHaveProperty(format);
});

test('an answer that is an error is still an answer', async () => {
  const result = await world.scrapeNow({ url: `${world.site.hostUrl(8)}/content/404`, formats: ['text'] });
  expect(result).toMatchObject({ statusCode: 404, error: { code: 'HTTP_ERROR' } });
  expect(result.text).toContain('Gone fishing');
});

test('links are found in every place HTML has for them, and only there', async () => {
  const host = world.site.hostUrl(9);
  const job = await world.crawlNow({ urls: [`${host}/links/everywhere`], maxDepth: 1, sitemap: 'skip' });
  const found = [...byPath(await world.ledger(job)).keys()];
  const has = (name: string) => found.some((path) => path.startsWith(`/links/to/${name}`));
  const wanted =
    'plain upper-case no-quotes spaces relative dots fragment entities image-link area iframe next prev form-get noscript';
  expect(wanted.split(' ').filter((name) => !has(name))).toEqual([]);
  expect(['comment', 'script', 'form-post'].filter(has)).toEqual([]);
});
