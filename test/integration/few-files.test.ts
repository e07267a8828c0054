import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { endCommands, originOf, startCommand, temporaryFolder } from './cli-command.ts';
import { openKeepAliveClient } from './held-site.ts';

const API_KEY = 'a-key-for-the-tests-of-few-open-files';
const CLIENTS = 300;
const HOSTS = 60;
const PAGES_OF_HOST = 5;
const COME_BACK_MS = 250;
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 60_000, interval: 100 });

const folder = temporaryFolder();
let site: Site;
const clients = new Set<Socket>();
beforeEach(async () => {
  site = await startSite({ pages: 200 });
  writeFileSync(folder.path('policy.yaml'), 'default: { rate: unlimited, concurrency: 4 }\n');
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  await endCommands();
  await site.close();
});
afterAll(() => folder.remove());

const start = (openFiles: number, dataDir: string, env: Readonly<Record<string, string>> = {}) =>
  startCommand(
    [
      ...['serve', '--port', '0', '--data-dir', folder.path(dataDir)],
      ...['--allow-private', '--policy-file', folder.path('policy.yaml')],
    ],
    { openFiles, env: { SCRAPIFIE_API_KEY: API_KEY, ...env } },
  );

/** A client that asks once, keeps its connection, and comes back some time after it was closed. */
function pester(port: number, path: string, answers: Map<number, number>): void {
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  );
  clients.add(socket);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1]);
    if (!Number.isNaN(status)) answers.set(status, (answers.get(status) ?? 0) + 1);
  });
  socket.on('close', () => {
    clients.delete(socket);
    setTimeout(() => {
      if (isPestering) pester(port, path, answers);
    }, COME_BACK_MS).unref();
  });
}
let isPestering = false;

it(`serves on and crawls every page with 256 open files and ${CLIENTS} clients`, {
  timeout: 300_000,
}, async () => {
  const server = start(256, 'data');
  const origin = await originOf(server);
  const port = Number(new URL(origin).port);
  const urls = Array.from(
    { length: HOSTS * PAGES_OF_HOST },
    (_, n) => `${site.hostUrl(n % HOSTS)}/big/${Math.floor(n / HOSTS)}`,
  );
  // The operator has a connection before the others come.
  const operator = openKeepAliveClient(origin, API_KEY);
  expect((await operator.ask('GET', '/readyz')).status).toBe(200);
  const answers = new Map<number, number>();
  isPestering = true;
  try {
    // The dashboard's files are read with the first request for one, among all these clients.
    for (let n = 0; n < CLIENTS; n += 1) pester(port, n % 2 === 0 ? '/' : '/healthz', answers);
    await until(() => expect(answers.get(200)).toBeGreaterThan(50));
    const accepted = await operator.ask('POST', '/v1/batch', { urls });
    expect(accepted.status).toBe(202);
    await until(async () => {
      const { body } = await operator.ask('GET', `/v1/jobs/${accepted.body.data?.id}`);
      expect(body.data).toMatchObject({ status: 'completed', progress: { done: urls.length, failed: 0 } });
    });
    expect((await operator.ask('GET', '/readyz')).status).toBe(200);
  } finally {
    isPestering = false;
    operator.close();
  }
  expect([...answers.keys()]).toEqual([200]);
  for (const client of clients) client.destroy();
  server.child.kill('SIGTERM');
  const { exitCode, stderr } = await server.ended;
  expect(exitCode).toBe(0);
  expect(stderr).toContain('the limit of open files is small');
  const faults = stderr.split('\n').filter((line) => /EMFILE|OUT_OF_FILES|"level":"error"/.test(line));
  expect(faults.slice(0, 3)).toEqual([]);
});

it('does not start with too few, and says so', { timeout: 120_000 }, async () => {
  const { exitCode, stderr, stdout } = await start(128, 'data-2').ended;
  expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
  expect(stderr).toContain(
    'error OUT_OF_FILES: The limit of open files is 128, and a server needs 192 at least.',
  );
});

it('tells `doctor` about it', { timeout: 120_000 }, async () => {
  const { stdout } = await startCommand(['doctor', '--json', '--data-dir', folder.path('data-3')], {
    openFiles: 256,
  }).ended;
  expect(stdout).toContain('limit 256: enough for 28 fetches and 87 connections of clients at once');
});

/** Opens files until there are no more, and closes them again, when a test says so. */
const HOG = `
  import { closeSync, openSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  const open = [];
  if (isMainThread) {
    process.on('SIGUSR2', () => {
      try { for (;;) open.push(openSync('/dev/null')); } catch { console.error('no file is left'); }
    });
    process.on('SIGPIPE', () => { for (const fd of open.splice(0)) closeSync(fd); });
  }
  export default { name: 'hog', extractors: [] };`;

it('waits with pages while no file can be opened, and fetches them afterwards, without charge', {
  timeout: 300_000,
}, async () => {
  writeFileSync(folder.path('hog.ts'), HOG);
  const server = start(512, 'data-4', { SCRAPIFIE_PLUGINS: folder.path('hog.ts') });
  const origin = await originOf(server);
  const operator = openKeepAliveClient(origin, API_KEY);
  const run = async (path: string, count: number) => {
    const urls = Array.from({ length: count }, (_, n) => `${site.hostUrl(n)}${path}`);
    const { status, body } = await operator.ask('POST', '/v1/batch', { urls });
    expect(status).toBe(202);
    return body.data?.id;
  };
  const look = async (id: string | undefined) => (await operator.ask('GET', `/v1/jobs/${id}`)).body.data;
  const first = await run('/big/1', 4);
  await until(async () => expect(await look(first)).toMatchObject({ status: 'completed' }));

  server.child.kill('SIGUSR2');
  await until(() => expect(server.stderr()).toContain('no file is left'));
  const second = await run('/big/2', 20);
  await until(() => expect(server.stderr()).toContain('OUT_OF_FILES'));
  expect((await operator.ask('GET', '/healthz')).status).toBe(200);
  expect(await look(second)).toMatchObject({ status: 'running', progress: { failed: 0 } });
  server.child.kill('SIGPIPE');
  await until(async () =>
    expect(await look(second)).toMatchObject({
      status: 'completed',
      progress: { done: 20, failed: 0 },
      credits: 20,
    }),
  );
  operator.close();
  server.child.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});
