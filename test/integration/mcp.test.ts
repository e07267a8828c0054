import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobId } from '../../src/core/model/ids.ts';
import { tokensIn } from '../../src/http/mcp/tool-result.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import {
  called,
  connected,
  cursorIn,
  mcpAddress,
  REVISIONS,
  type Revision,
  type Said,
  siteTextIn,
} from './mcp-client.ts';
import { QUICK_POLICY } from './world.ts';

const PAGES = 1_000;
const LIMIT_MS = 120_000;

let world: ApiWorld;
let address: URL;
beforeAll(async () => {
  world = await openApiWorld({ policy: QUICK_POLICY, site: { pages: PAGES } });
  address = await mcpAddress(world.api);
});
afterAll(async () => {
  await world.close();
});

describe.each(Object.keys(REVISIONS) as Revision[])('MCP %s over HTTP', (revision) => {
  let client: Client;
  beforeAll(async () => {
    client = await connected(address, revision, world.secret);
  });
  afterAll(async () => {
    await client.close();
  });

  it('lists eight tools at most, in 2,500 tokens at most', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'scrape',
      'map',
      'crawl',
      'crawl_status',
      'extract',
      'search',
      'diff',
      'screenshot',
    ]);
    expect(tokensIn(JSON.stringify(tools))).toBeLessThanOrEqual(2_500);
  });

  it('reads a page, in portions that together are the page', async () => {
    const whole = await called(client, 'scrape', { url: `${world.site.url}/big/1`, maxTokens: 20_000 });
    expect(whole).toMatchObject({ isError: false, text: expect.stringContaining('Written by the site') });
    const contentOf = (text: string) => siteTextIn(text).replace(/^Title: .*\n\n/, '');
    let said = await called(client, 'scrape', { url: `${world.site.url}/big/1`, maxTokens: 250 });
    let read = contentOf(said.text);
    expect(said.tokens).toBeLessThanOrEqual(300);
    for (let cursor = cursorIn(said.text); cursor !== undefined; cursor = cursorIn(said.text)) {
      said = await called(client, 'scrape', { url: `${world.site.url}/big/1`, maxTokens: 250, cursor });
      read += contentOf(said.text);
    }
    expect(read).toBe(contentOf(whole.text));
  });

  it('maps a site, and extracts data', async () => {
    const mapped = await called(client, 'map', { url: `${world.site.url}/big/`, limit: 5 });
    expect(siteTextIn(mapped.text)).toContain('/big/');
    const extracted = await called(client, 'extract', {
      url: `${world.site.url}/big/1`,
      fields: { heading: 'h1' },
    });
    expect(JSON.parse(siteTextIn(extracted.text))).toMatchObject({ data: { heading: expect.any(String) } });
  });

  it('says what to do about errors', async () => {
    const refused = await called(client, 'scrape', { url: 'http://127.0.0.1:1/' });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('What to do:') });
    const missing = await called(client, 'crawl_status', { id: '00000000-0000-7000-8000-000000000000' });
    expect(missing).toMatchObject({ isError: true, text: expect.stringContaining('NOT_FOUND') });
    const wrong = await called(client, 'scrape', { url: 'no url' });
    expect(wrong).toMatchObject({ isError: true });
    const unknown = await called(client, 'extract', { url: `${world.site.url}/big/1`, rules: {} });
    expect(unknown).toMatchObject({
      isError: true,
      text: expect.stringContaining('no argument rules. Arguments: url, type, fields,'),
    });
    const plugin = await called(client, 'extract', { url: `${world.site.url}/big/1`, type: 'wine:bottle' });
    expect(plugin).toMatchObject({ isError: true, text: expect.stringContaining('UNSUPPORTED_OPTION') });
  });
});

describe('a crawl', () => {
  it('is followed, and its pages are read, searched and compared', async () => {
    const client = await connected(address, '2026-07-28', world.secret);
    const started = await called(client, 'crawl', { url: `${world.site.url}/big/`, maxPages: 10 });
    const id = /Job (\S+)/.exec(started.text)?.[1] ?? '';
    await world.settled(await world.platform.jobs.waitFor(id as JobId, LIMIT_MS));
    const { links, text } = await called(client, 'crawl_status', { id });
    expect(siteTextIn(text)).toBe('');
    expect(text).toContain('completed');
    expect(links).toHaveLength(10);
    const { contents } = await client.readResource({ uri: links[0]?.uri ?? '' });
    const [content] = contents as { mimeType: string; text: string }[];
    expect(content?.mimeType).toBe('text/markdown');
    expect(siteTextIn(content?.text ?? '')).toContain('#');
    const page = await called(client, 'crawl_status', { id, page: links[1]?.name });
    expect(page.text).toContain(links[1]?.name);
    expect(siteTextIn(page.text)).toMatch(/^Title: /);
    const found = await called(client, 'search', { query: 'page' });
    expect(siteTextIn(found.text)).toContain(world.site.url);
    const compared = await called(client, 'diff', { id, against: id });
    expect(compared.text).toBe('No page has changed here.');
    await client.close();
  });

  it(
    'of a thousand pages never exceeds its tokens, and lists every page',
    async () => {
      const client = await connected(address, '2026-07-28', world.secret);
      const { id } = await world.crawlNow({ urls: [`${world.site.url}/big/`], maxPages: PAGES });
      const seen = new Set<string>();
      for (let cursor: string | undefined | null = null; cursor !== undefined; ) {
        const said: Said = await called(client, 'crawl_status', {
          id,
          ...(cursor === null ? {} : { cursor }),
        });
        expect(said.tokens).toBeLessThanOrEqual(6_300);
        for (const { name } of said.links) seen.add(name);
        cursor = cursorIn(said.text);
      }
      expect(seen.size).toBe(PAGES);
      await client.close();
    },
    LIMIT_MS,
  );
});

it('needs a key, and the scopes of the key hold', async () => {
  await expect(connected(address, '2025-11-25', 'sk_wrong')).rejects.toThrow();
  const made = await world.post('/v1/keys', { name: 'reader', scopes: ['jobs:read'] });
  const { key, secret } = made.body.data as { key?: string; secret?: string };
  const client = await connected(address, '2025-11-25', secret ?? key ?? '');
  const refused = await called(client, 'scrape', { url: `${world.site.url}/big/1` });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('FORBIDDEN') });
  await client.close();
});
