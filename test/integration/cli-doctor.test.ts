import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { lockFolder } from '../../src/drivers/store-sqlite/folder-lock.ts';
import { runCommand, temporaryFolder } from './cli-command.ts';

interface Found {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly advice?: string;
}

const folder = temporaryFolder();
const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  folder.remove();
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const serve = (listener: RequestListener) => listening(createHttp(listener).on('connect', refuseLogin));
/** As a proxy answers whose login is wrong. */
function refuseLogin(_request: unknown, socket: Socket): void {
  socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
}
/** The port of what answers as a server of Scrapifie does. */
async function portOfServer(): Promise<string> {
  const address = await serve((_request, response) => {
    response.end(JSON.stringify({ success: true, data: { status: 'ok', version: '1.0.0' } }));
  });
  return new URL(`http://${address}`).port;
}
async function deadAddress(): Promise<string> {
  const server = createServer();
  const address = await listening(server);
  await server[Symbol.asyncDispose]();
  return address;
}

async function examine(
  env: Readonly<Record<string, string>>,
  ...more: readonly string[]
): Promise<{ exitCode: number | null; of: (check: string) => Found | undefined; findings: Found[] }> {
  const places = { SCRAPIFIE_DATA_DIR: folder.path('new') };
  // With an archive in place of the web no name is asked for, which would take seconds where there is no network.
  const quickly = more.includes('--no-scrape') ? { SCRAPIFIE_REPLAY: folder.path('none.warc') } : {};
  const { exitCode, stdout } = await runCommand(['doctor', '--json', '--port', '0', ...more], {
    env: { ...places, ...quickly, ...env },
    cwd: folder.path('.'),
  });
  const findings = JSON.parse(stdout) as Found[];
  return { exitCode, findings, of: (check) => findings.find((each) => each.check === check) };
}

describe('a doctor', () => {
  it('scrapes a page of its own, and shows one in a browser, and leaves nothing behind', {
    timeout: 180_000,
  }, async () => {
    const { exitCode, of, findings } = await examine({});
    expect(findings.filter(({ state }) => state === 'fail')).toEqual([]);
    expect(of('a scrape')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('fetched, read and stored'),
    });
    expect(of('a rendered scrape')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('its script run'),
    });
    expect(exitCode).toBe(0);
    expect(readdirSync(folder.path('.'))).toEqual([]);
  });

  it('has an advice for whatever is not well', async () => {
    const dead = await deadAddress();
    const { findings, exitCode } = await examine(
      {
        SCRAPIFIE_DATABASE_URL: `postgres://u:p@${dead}/db`,
        SCRAPIFIE_REDIS_URL: `redis://${dead}`,
        SCRAPIFIE_S3_URL: `http://key:secret@${dead}/bucket`,
        SCRAPIFIE_SMTP_URL: `smtp://${dead}`,
        SCRAPIFIE_SMTP_FROM: 'bot@example.com',
        SCRAPIFIE_LLM_URL: `http://${dead}/v1`,
        SCRAPIFIE_LLM_MODEL: 'small',
        SCRAPIFIE_PROXIES: `http://${dead}`,
        SCRAPIFIE_OTEL_URL: `http://${dead}`,
        SCRAPIFIE_FLARESOLVERR_URL: `http://${dead}/v1`,
        SCRAPIFIE_PUBLIC_URL: `http://${dead}`,
      },
      '--no-scrape',
    );
    const ill = findings.filter(({ state }) => state !== 'ok');
    expect(ill.filter(({ advice = '' }) => advice.length < 10)).toEqual([]);
    const failing = findings.filter(({ state }) => state === 'fail').map(({ check }) => check);
    expect(failing.toSorted()).toEqual([
      'database',
      'e-mail',
      'language model',
      'object store',
      'other services',
      'proxies',
      'redis',
      'traces',
    ]);
    expect(exitCode).toBe(5);
  });

  it('names unknown settings with what was meant, and checks the rest all the same', async () => {
    const { of, exitCode } = await examine(
      { SCRAPIFIE_LOGLEVEL: 'x', SCRAPIFIE_DRAIN_MS: 'y' },
      '--no-scrape',
    );
    expect(of('settings')).toMatchObject({ state: 'fail' });
    expect(of('settings')?.found).toContain(
      'SCRAPIFIE_LOGLEVEL is not a setting; did you mean SCRAPIFIE_LOG_LEVEL?',
    );
    expect(of('settings')?.found).toContain('SCRAPIFIE_DRAIN_MS');
    expect(of('Node.js')).toMatchObject({ state: 'ok' });
    expect(exitCode).toBe(5);
  });

  it('names a damaged file that is made again by itself, and one that was', async () => {
    mkdirSync(folder.path('hurt/blobs'), { recursive: true });
    writeFileSync(folder.path('hurt/blobs/index.db'), 'this is no database'.repeat(500));
    const { of } = await examine({}, '--no-scrape', '--data-dir', folder.path('hurt'));
    expect(of('derived files')).toMatchObject({
      state: 'warn',
      found: expect.stringContaining(`${folder.path('hurt/blobs/index.db')} is damaged`),
    });
    writeFileSync(folder.path('hurt/blobs/index.db'), '');
    writeFileSync(folder.path('hurt/search.db.damaged'), '');
    const { of: later } = await examine({}, '--no-scrape', '--data-dir', folder.path('hurt'));
    expect(later('derived files')).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('search.db was damaged'),
      advice: expect.stringContaining(folder.path('hurt/search.db.damaged')),
    });
  });

  it('finds a data folder that cannot be written', async () => {
    mkdirSync(folder.path('closed'));
    writeFileSync(folder.path('closed/file'), '');
    chmodSync(folder.path('closed'), 0o555);
    // Permissions do not bind root; a file in place of the folder does.
    const isRoot = process.getuid?.() === 0;
    const place = isRoot ? folder.path('closed/file') : folder.path('closed');
    const { of } = await examine({}, '--no-scrape', '--data-dir', place);
    expect(of('data folder')).toMatchObject({ state: 'fail' });
    chmodSync(folder.path('closed'), 0o755);
  });

  it.runIf(process.platform === 'linux')(
    'finds a data folder that takes no bytes, and one in memory',
    async () => {
      expect((await examine({}, '--no-scrape', '--data-dir', '/proc/self')).of('data folder')).toMatchObject({
        state: 'fail',
      });
    },
  );

  it.runIf(process.platform === 'linux')(
    'finds a data folder that cannot be made, and a port of a server with another one',
    async () => {
      const port = await portOfServer();
      const { of } = await examine({}, '--no-scrape', '--data-dir', '/proc/scrapifie', '--port', port);
      expect(of('data folder')).toMatchObject({
        state: 'fail',
        found: expect.stringContaining('/proc/scrapifie cannot be made'),
        advice: expect.stringContaining('--data-dir'),
      });
      expect(of('port')).toMatchObject({
        state: 'warn',
        found: expect.stringContaining('another Scrapifie'),
        advice: expect.stringContaining('PORT_IN_USE'),
      });
    },
  );

  it('is content with a port that the server of the data folder serves', async () => {
    const port = await portOfServer();
    mkdirSync(folder.path('served'));
    const unlock = lockFolder(folder.path('served'));
    const { of } = await examine({}, '--no-scrape', '--data-dir', folder.path('served'), '--port', port);
    unlock();
    expect(of('port')).toMatchObject({ state: 'ok', found: expect.stringContaining('served by Scrapifie') });
  });

  it('finds proxies that refuse the login, a model that is not there, and a receiver of traces that refuses', async () => {
    const models = await serve((request, response) => {
      if (request.url === '/v1/traces') return void response.writeHead(403).end();
      if (request.headers.authorization !== 'Bearer right') return void response.writeHead(401).end('{}');
      response.end(JSON.stringify({ data: [{ id: 'other' }] }));
    });
    const settings = { SCRAPIFIE_LLM_URL: `http://${models}/v1`, SCRAPIFIE_LLM_MODEL: 'small' };
    const wrong = await examine(
      {
        ...settings,
        SCRAPIFIE_LLM_KEY: 'wrong',
        SCRAPIFIE_PROXIES: `http://me:pass@${models}`,
        SCRAPIFIE_OTEL_URL: `http://${models}`,
      },
      '--no-scrape',
    );
    expect(wrong.of('proxies')).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('refuses the login'),
    });
    expect(wrong.of('language model')).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('(401)'),
    });
    expect(wrong.of('traces')).toMatchObject({ state: 'fail', found: expect.stringContaining('(403)') });
    const other = await examine({ ...settings, SCRAPIFIE_LLM_KEY: 'right' }, '--no-scrape');
    expect(other.of('language model')).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('no model small'),
    });
    const right = await examine(
      { ...settings, SCRAPIFIE_LLM_KEY: 'right', SCRAPIFIE_LLM_MODEL: 'other' },
      '--no-scrape',
    );
    expect(right.of('language model')).toMatchObject({ state: 'ok' });
  });

  it('finds certificates that are not checked', async () => {
    const { of } = await examine({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, '--no-scrape');
    expect(of('TLS')).toMatchObject({ state: 'fail', advice: expect.stringContaining('unset it') });
    const extra = await examine({ NODE_EXTRA_CA_CERTS: folder.path('none.pem') }, '--no-scrape');
    expect(extra.of('TLS')).toMatchObject({ state: 'fail' });
  });
});
