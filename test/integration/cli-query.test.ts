import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import type { Shell } from '../../src/cli/shell/shell.ts';
import { openCommandApi } from '../../src/wiring/open-command-api.ts';
import { openStorage } from '../../src/wiring/storage.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { QUICK_POLICY } from './world.ts';

const LIMIT_MS = 60_000;
let world: ApiWorld;
let api: string;
let server: Server;
let host: string;

const LINKS = [1, 2, 3, 4].map((n) => `<a href="/item/${n}">Item ${n}</a>`).join(' ');

beforeAll(async () => {
  server = createServer((request, response) => {
    const isThere = /^\/(?:item\/[1-4])?$/.test(request.url ?? '');
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'text/html' });
    response.end(
      `<title>Item ${request.url}</title>${LINKS} <a href="https://other.test/">Other</a> ${request.url}`,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await openApiWorld({ policy: QUICK_POLICY });
  api = await world.api.listen({ host: '127.0.0.1', port: 0 });
  await world.settled(await world.crawlNow({ urls: [`http://${host}/`], search: true }));
}, LIMIT_MS);
afterAll(async () => {
  await world.close();
  server.close();
}, LIMIT_MS);

/** A command in this process. */
async function command(args: readonly string[], environment: Record<string, string>) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    streams[name].on('data', (chunk: Buffer) => {
      texts[name] += chunk.toString('utf8');
    });
  }
  const shell = {
    environment,
    cwd: world.dataDir,
    version: '0',
    ...streams,
    openCommandApi,
    openStorage,
  } as unknown as Shell;
  const exitCode = await run(args, shell);
  return { exitCode, ...texts };
}
const onServer = (...args: string[]) => command([...args, '--api', api], { SCRAPIFIE_API_KEY: world.secret });
const inFolder = (...args: string[]) => command([...args, '--data-dir', world.dataDir], {});

describe.each([
  ['with a server', onServer],
  ['on a data folder', inFolder],
] as const)('the command line %s', (_, scrapifie) => {
  it(
    'asks about stored pages, in a table, as JSON and as CSV',
    async () => {
      const query = [
        'query',
        '--from',
        'pages',
        '--where',
        'statusCode=200',
        '--select',
        'url,statusCode',
        '--order',
        'url',
      ];
      const { exitCode, stdout, stderr } = await scrapifie(...query, '--json');
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const rows = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { url: string });
      expect(rows).toHaveLength(5);
      expect(rows[0]).toEqual({ url: expect.stringContaining('http'), statusCode: 200 });
      expect((await scrapifie(...query, '--csv')).stdout).toBe(
        `url,statusCode\r\n${rows.map(({ url }) => `${url},200\r\n`).join('')}`,
      );
      expect((await scrapifie(...query)).stdout).toContain(`${rows[0]?.url}`);
      const counted = await scrapifie('query', '--from', 'links', '--group', 'isInternal', '--json');
      expect(JSON.parse(counted.stdout.split('\n')[0] ?? '')).toMatchObject({ count: expect.any(Number) });
      const more = await scrapifie(
        'query',
        '--from',
        'links',
        '--select',
        'url',
        '--limit',
        '100000',
        '--json',
      );
      expect(more.stdout.trim().split('\n').length).toBeGreaterThan(5);
    },
    LIMIT_MS,
  );

  it('says which flag of a query is wrong', async () => {
    expect(await scrapifie('query', '--from', 'pages', '--select', 'statuscode')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('did you mean "statusCode"?'),
    });
    expect((await scrapifie('query')).stderr).toContain('--from');
    expect((await scrapifie('query', '--from', 'pages', '--where', 'statusCode')).exitCode).toBe(2);
  });

  it(
    'searches the text of stored pages',
    async () => {
      const { exitCode, stdout, stderr } = await scrapifie('search', 'item', '--host', host, '--json');
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const [hit] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { url: string });
      expect(hit?.url).toContain(host);
      expect((await scrapifie('search', 'item')).stdout).toContain(hit?.url);
      expect((await scrapifie('search', 'item', '--job', 'latest')).stdout).toContain(hit?.url);
      expect((await scrapifie('search', 'wordthatisnowhere')).stdout).toBe('No page was found.\n');
      expect((await scrapifie('search')).exitCode).toBe(2);
      expect((await scrapifie('search', '...')).stderr).toContain('a word to search for');
    },
    LIMIT_MS,
  );
});

it('the index is rebuilt where its data is', async () => {
  expect(await inFolder('search', 'rebuild')).toMatchObject({ exitCode: 0, stdout: '5 pages indexed.\n' });
  expect(await onServer('search', 'rebuild')).toMatchObject({ exitCode: 2 });
});
