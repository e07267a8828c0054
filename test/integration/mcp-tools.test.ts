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
  siteTextIn,
} from './mcp-client.ts';

const LIMIT_MS = 60_000;

let world: ApiWorld;
let address: URL;
let client: Client;
let job: string;
const page = (path: string) => world.site.url + path;

beforeAll(async () => {
  world = await openApiWorld();
  address = await mcpAddress(world.api);
  client = await connected(withTools('all'), '2026-07-28', world.secret);
  const started = await called(client, 'crawl', { url: page('/big/'), maxPages: 20, snapshots: true });
  job = /Job (\S+)/.exec(started.text)?.[1] ?? '';
  await world.settled(await world.platform.jobs.waitFor(job as JobId, LIMIT_MS));
}, LIMIT_MS);
afterAll(async () => {
  await client.close();
  await world.close();
});

const withTools = (tools: string) => new URL(`?tools=${tools}`, address);

async function toolsOf(tools: string): Promise<readonly string[]> {
  const chosen = await connected(withTools(tools), '2025-11-25', world.secret);
  const { tools: listed } = await chosen.listTools();
  await chosen.close();
  return listed.map(({ name }) => name);
}

describe('the tools of a client', () => {
  it('are those that its address names, by name and by group', async () => {
    expect(await toolsOf('search,scrape')).toEqual(['scrape', 'search']);
    expect(await toolsOf('exports,scrape')).toEqual(['scrape', 'export', 'export_status']);
    expect(await toolsOf('')).toHaveLength(8);
  });

  it('are refused with the names that exist when one is unknown', async () => {
    const headers = { 'x-api-key': world.secret };
    const refused = await world.api.inject({
      method: 'POST',
      url: '/mcp?tools=nonsense',
      headers,
      payload: {},
    });
    expect(refused.statusCode).toBe(422);
    expect(refused.json().error.message).toContain('monitors');
  });

  it('are 30 in all, in 7,000 tokens at most', async () => {
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(30);
    expect(tokensIn(JSON.stringify(tools))).toBeLessThanOrEqual(7_000);
  });
});

describe('tools beyond the default ones', () => {
  it('list jobs, explain a URL, and tell what was used', async () => {
    const listed = await called(client, 'job_list', {});
    expect(JSON.parse(listed.text.split('\n')[0] ?? '')).toMatchObject({ id: job, progress: { pages: 20 } });
    expect((await called(client, 'job_errors', { id: job })).text).toBe('No URL of the job has failed.');
    expect((await called(client, 'why', { id: job, url: page('/big/') })).text).toContain('done');
    expect((await called(client, 'usage', {})).text).toContain('"pages":');
  });

  it('start a batch, cancel and resume it', async () => {
    const started = await called(client, 'batch', { urls: [page('/slow/no-head')] });
    const id = /Job (\S+)/.exec(started.text)?.[1] ?? '';
    expect((await called(client, 'job_cancel', { id })).text).toContain('cancelled');
    expect(await called(client, 'job_resume', { id })).toMatchObject({ isError: false });
    await called(client, 'job_cancel', { id });
    const refused = await called(client, 'job_cancel', { id: job });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('look at its status') });
  });

  it('export a job to a file with a link', async () => {
    const started = await called(client, 'export', { id: job, type: 'full', format: 'csv' });
    const id = /Export (\S+)/.exec(started.text)?.[1] ?? '';
    await expect
      .poll(async () => (await called(client, 'export_status', { id })).text, { timeout: LIMIT_MS })
      .toContain('ready');
    const { links } = await called(client, 'export_status', { id });
    const file = await fetch(new URL(new URL(links[0]?.uri ?? '').pathname, address), {
      headers: { 'x-api-key': world.secret },
    });
    expect(await file.text()).toContain('/big/');
  });

  it('answer queries, in portions that together are all rows', async () => {
    const asked = { from: 'pages', select: ['url'], where: { field: 'jobId', op: 'eq', value: job } };
    const urls = new Set<string>();
    for (let cursor: string | null | undefined = null; cursor !== undefined; ) {
      const said = await called(client, 'query', {
        ...asked,
        limit: 7,
        maxTokens: 250,
        ...(cursor && { cursor }),
      });
      expect(said.tokens).toBeLessThanOrEqual(400);
      for (const line of said.text.split('\n')) if (line.startsWith('{')) urls.add(JSON.parse(line).url);
      cursor = cursorIn(said.text);
    }
    expect(urls.size).toBe(20);
    const { text } = await called(client, 'sql', { sql: 'SELECT 6 * 7 AS answer' });
    expect(text).toMatch(/42|What to do: Use the tool query/);
    const wrong = await called(client, 'query', { from: 'nothing' });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('pages') });
  });

  it('show the versions of a page', async () => {
    const listed = await called(client, 'page_history', { url: page('/big/') });
    const { id } = JSON.parse(siteTextIn(listed.text).split('\n')[0] ?? '') as { id: string };
    expect(siteTextIn((await called(client, 'page_version', { id })).text)).not.toBe('');
    expect((await called(client, 'version_diff', { id, other: id })).text).toContain('the same');
  });

  it('watch pages and schedule crawls', async () => {
    const wrong = await called(client, 'monitor_create', { name: 'x', urls: [page('/big/1')] });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('`every` or `cron`') });
    const made = await called(client, 'monitor_create', {
      name: 'x',
      urls: [page('/big/1')],
      every: '1d',
    });
    const monitor = /Monitor (\S+)/.exec(made.text)?.[1] ?? '';
    expect((await called(client, 'monitor_list', {})).text).toContain(monitor);
    expect((await called(client, 'monitor_changes', { id: monitor })).text).toContain('Nothing has changed');
    expect((await called(client, 'monitor_delete', { id: monitor })).text).toContain('deleted');
    const planned = await called(client, 'schedule_create', {
      name: 'y',
      url: page('/big/'),
      cron: '0 3 * * *',
    });
    const schedule = /Schedule (\S+)/.exec(planned.text)?.[1] ?? '';
    expect((await called(client, 'schedule_list', {})).text).toContain(schedule);
    expect((await called(client, 'schedule_delete', { id: schedule })).text).toContain('deleted');
    expect(await called(client, 'schedule_delete', { id: schedule })).toMatchObject({ isError: true });
  });
});

describe('a call under way', () => {
  it('tells how far a crawl is, until it ends', async () => {
    const started = await called(client, 'crawl', { url: page('/big/'), maxPages: 20 });
    const id = /Job (\S+)/.exec(started.text)?.[1] ?? '';
    const told: number[] = [];
    const { content } = await client.callTool(
      { name: 'crawl_status', arguments: { id, wait: 30 } },
      { onprogress: ({ progress }) => void told.push(progress) },
    );
    expect(JSON.stringify(content)).toContain('completed');
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(20);
  });

  it('that is cancelled cancels the job of its scrape', async () => {
    const path = '/slow/no-head?cancelled';
    const cancelling = new AbortController();
    const calling = client.callTool(
      { name: 'scrape', arguments: { url: page(path) } },
      { signal: cancelling.signal },
    );
    const refused = expect(calling).rejects.toThrow();
    await expect.poll(() => world.paths(world.site.url), { timeout: LIMIT_MS }).toContain(path);
    cancelling.abort();
    await refused;
    await expect
      .poll(async () => (await world.call({ url: '/v1/jobs?kind=scrape&limit=1' })).body.data)
      .toMatchObject({ items: [{ status: 'cancelled', seeds: [page(path)] }] });
  });
});

describe.each(Object.keys(REVISIONS) as Revision[])('MCP %s', (revision) => {
  it('is closed to pages of foreign sites', async () => {
    const ask = (origin: string) =>
      world.api.inject({
        method: 'POST',
        url: '/mcp',
        headers: { 'x-api-key': world.secret, origin, 'mcp-protocol-version': revision },
        payload: { jsonrpc: '2.0', id: 1, method: 'ping' },
      });
    expect((await ask('https://evil.example')).statusCode).toBe(403);
    expect((await ask('http://localhost:6274')).statusCode).not.toBe(403);
  });
});
