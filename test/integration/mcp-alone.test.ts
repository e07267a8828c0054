import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROGRAM } from '../program.ts';
import { startSite } from '../site/site.ts';
import { startCommand } from './cli-command.ts';
import { called, newClient, type Revision } from './mcp-client.ts';
import { QUICK_POLICY } from './world.ts';

const LIMIT_MS = 60_000;

let site: Awaited<ReturnType<typeof startSite>>;
let folder: string;
beforeAll(async () => {
  site = await startSite({ pages: 200 });
  folder = mkdtempSync(join(tmpdir(), 'scrapifie-mcp-'));
  writeFileSync(join(folder, 'policy.yaml'), QUICK_POLICY);
  writeFileSync(join(folder, 'slow.yaml'), 'default: { rate: 5, concurrency: 1 }\n');
});
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

const environment = (policy = 'policy.yaml') => ({
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  SCRAPIFIE_POLICY_FILE: join(folder, policy),
});

/** A client of a program that works by itself, in the folder `data` unless the arguments name another. */
async function started(revision: Revision, args: readonly string[] = [], policy?: string) {
  const client = newClient(revision);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', PROGRAM, 'mcp', '--allow-private', ...args],
    cwd: folder,
    env: environment(policy),
  });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0 };
}

const jobIn = (text: string) => /Job (\S+)/.exec(text)?.[1] ?? '';

it(
  'a program without a server crawls, keeps its jobs, and finishes after a new start what it had to leave',
  async () => {
    const first = await started('2026-07-28', [], 'slow.yaml');
    expect((await first.client.listTools()).tools).toHaveLength(8);
    const read = await called(first.client, 'scrape', { url: `${site.url}/big/1` });
    expect(read).toMatchObject({ isError: false, text: expect.stringContaining('/big/1') });
    const begun = await called(first.client, 'crawl', { url: `${site.url}/big/`, maxPages: 60 });
    const id = jobIn(begun.text);
    await expect.poll(() => site.log.length, { timeout: LIMIT_MS }).toBeGreaterThan(5);
    expect((await called(first.client, 'crawl_status', { id })).text).toContain('running');
    await first.client.close();
    expect(existsSync(join(folder, 'data', 'mcp', 'scrapifie.db'))).toBe(true);

    const again = await started('2025-11-25', ['--tools', 'default,exports']);
    expect((await again.client.listTools()).tools).toHaveLength(10);
    const { text } = await called(again.client, 'crawl_status', { id, wait: 50 });
    expect(text).toMatch(/completed \(budget.pages\)|completed/);
    expect(text).toContain('pages 60');
    const asked = site.log.map(({ path }) => path).filter((path) => path.startsWith('/big/'));
    // Only pages under way at the end of the first program may have been asked for again.
    expect(asked.length - new Set(asked).size).toBeLessThanOrEqual(3);

    const made = await called(again.client, 'export', { id, format: 'ndjson' });
    const exportId = /Export (\S+)/.exec(made.text)?.[1] ?? '';
    await expect
      .poll(async () => (await called(again.client, 'export_status', { id: exportId })).links.length, {
        timeout: LIMIT_MS,
      })
      .toBe(1);
    const { links } = await called(again.client, 'export_status', { id: exportId });
    const lines = readFileSync(fileURLToPath(links[0]?.uri ?? ''), 'utf8')
      .trim()
      .split('\n');
    expect(lines).toHaveLength(60);
    await again.client.close();
  },
  2 * LIMIT_MS,
);

const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
})}\n`;

it(
  'it ends with 0 when its input ends, and has written nothing but the protocol',
  async () => {
    const { ended } = startCommand(['mcp', '--data-dir', join(folder, 'other')], {
      env: environment(),
      input: INITIALIZE,
    });
    const { exitCode, stdout, stderr } = await ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ id: 1, result: { serverInfo: {} } }]);
  },
  LIMIT_MS,
);

it(
  'lines that are too long or broken are answered with an error, and the next one is served',
  async () => {
    const call = (id: number, params: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const input = [
      JSON.stringify(call(7, { name: 'scrape', arguments: { url: 'x'.repeat(11_000_000) } })),
      'no JSON',
      JSON.stringify(call(3, null)),
      '[]',
      INITIALIZE,
    ];
    const { ended } = startCommand(['mcp', '--data-dir', join(folder, 'broken')], {
      env: environment(),
      input: input.join('\n'),
    });
    const { exitCode, stdout } = await ended;
    const answers = stdout.trim().split('\n');
    expect(answers.map((line) => JSON.parse(line))).toMatchObject([
      { id: 7, error: { code: -32600, message: expect.stringContaining('10 MB') } },
      { id: null, error: { code: -32700 } },
      { id: 3, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
      { id: 1, result: { serverInfo: {} } },
    ]);
    expect(exitCode).toBe(0);
  },
  LIMIT_MS,
);

it(
  'a cancelled call cancels its page; SIGTERM ends the program cleanly, and the folder is free again',
  async () => {
    const { client, pid } = await started('2025-11-25', ['--data-dir', 'third', '--tools', 'default,jobs']);
    await client.listTools();
    const path = '/slow/no-head?cancelled';
    const cancelling = new AbortController();
    const calling = client.callTool(
      { name: 'scrape', arguments: { url: site.url + path } },
      { signal: cancelling.signal },
    );
    const refused = expect(calling).rejects.toThrow();
    await expect.poll(() => site.log.some((entry) => entry.path === path), { timeout: LIMIT_MS }).toBe(true);
    cancelling.abort();
    await refused;
    await expect
      .poll(async () => (await called(client, 'job_list', {})).text, { timeout: LIMIT_MS })
      .toContain('"status":"cancelled"');
    const taken = await startCommand(['mcp', '--data-dir', join(folder, 'third')], {
      env: environment(),
      input: INITIALIZE,
    }).ended;
    expect(taken).toMatchObject({
      exitCode: 5,
      stdout: '',
      stderr: expect.stringContaining('DATA_DIR_LOCKED'),
    });
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    process.kill(pid, 'SIGTERM');
    await closed;
    const next = await started('2026-07-28', ['--data-dir', 'third']);
    expect((await next.client.listTools()).tools).toHaveLength(8);
    await next.client.close();
  },
  LIMIT_MS,
);

it('a tool that does not exist is refused with the names of those that do', async () => {
  const { exitCode, stderr } = await startCommand(['mcp', '--tools', 'scrap'], { cwd: folder }).ended;
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Groups: default, jobs');
});
