import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { endCommands, originOf, startCommand, temporaryFolder } from './cli-command.ts';
import { type HeldSite, isListening, startHeldSite } from './held-site.ts';

const API_KEY = 'a-key-for-the-tests-of-faults';
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 45_000, interval: 20 });

const folder = temporaryFolder();
let site: HeldSite;
let servers = 0;
beforeAll(() => {
  writeFileSync(folder.path('policy.yaml'), 'default: { rate: unlimited, concurrency: 4 }\n');
  // An error that no call of the server's can catch, whenever the test wants one.
  writeFileSync(
    folder.path('faulty.ts'),
    `import { isMainThread } from 'node:worker_threads';
    if (isMainThread) {
      process.on('SIGUSR2', () => setTimeout(() => { throw new Error('a fault of the plug-in'); }));
      process.on('SIGPIPE', () => void Promise.reject(new Error('a rejection of the plug-in')));
    }
    export default { name: 'faulty', extractors: [] };`,
  );
});
beforeEach(async () => {
  site = await startHeldSite();
});
afterEach(async () => {
  await endCommands();
  await site.close();
});
afterAll(() => folder.remove());

async function serve(drainMs: number) {
  servers += 1;
  const dataDir = folder.path(`data-${servers}`);
  const command = startCommand(
    [
      'serve',
      '--port',
      '0',
      '--data-dir',
      dataDir,
      '--allow-private',
      '--policy-file',
      folder.path('policy.yaml'),
    ],
    {
      env: {
        SCRAPIFIE_API_KEY: API_KEY,
        SCRAPIFIE_DRAIN_MS: String(drainMs),
        SCRAPIFIE_PLUGINS: folder.path('faulty.ts'),
      },
    },
  );
  const origin = await originOf(command);
  return {
    command,
    origin,
    async ask(path: string, body?: unknown) {
      const response = await fetch(`${origin}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
    /** Hosts that the process still owned when it ended. */
    ownedHosts() {
      const database = new DatabaseSync(`${dataDir}/scrapifie.db`, { readOnly: true });
      try {
        return Number(database.prepare('SELECT count(*) AS n FROM hosts WHERE owner IS NOT NULL').get()?.n);
      } finally {
        database.close();
      }
    },
  };
}

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly kind?: string;
  readonly err?: { readonly message: string; readonly stack: string };
}

const linesOf = (stderr: string): readonly LogLine[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);

describe('an error that nothing in the server catches', { timeout: 120_000 }, () => {
  it.each([
    ['SIGUSR2', 'exception', 'a fault of the plug-in'],
    ['SIGPIPE', 'rejection', 'a rejection of the plug-in'],
  ] as const)(
    'drains it (%s), and ends it with 1, which makes a supervisor start it again',
    async (signal, kind, text) => {
      const server = await serve(60_000);
      expect((await server.ask('/metrics')).text).toContain(`scrapifie_faults_total{kind="${kind}"} 0`);
      expect(
        (await server.ask('/v1/crawl', { urls: [`${site.origin}/held/crawled`], sitemap: 'skip' })).status,
      ).toBe(202);
      const scrape = server.ask('/v1/scrape', { url: `${site.origin}/held/scraped` });
      await until(() => expect(site.waiting()).toBe(2));
      server.command.child.kill(signal);
      await until(async () => expect(await isListening(server.origin)).toBe(false));
      site.release();
      expect((await scrape).status).toBe(200);
      const { exitCode, stderr } = await server.command.ended;
      expect(exitCode).toBe(1);
      expect(server.ownedHosts()).toBe(0);
      const lines = linesOf(stderr);
      const fault = lines.find(({ msg }) => msg === 'uncaught error: stopping');
      expect(fault).toMatchObject({ level: 'error', kind, err: { message: text } });
      expect(fault?.err?.stack).toContain('faulty.ts');
      expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['stopping', 'stopped']));
      expect(stderr).toContain('error INTERNAL');
    },
  );

  it('ends it at once with 1 when it is the second', async () => {
    const server = await serve(600_000);
    const scrape = server.ask('/v1/scrape', { url: `${site.origin}/held/for-ever` });
    const refused = expect(scrape).rejects.toThrow();
    await until(() => expect(site.waiting()).toBe(1));
    server.command.child.kill('SIGUSR2');
    await until(async () => expect(await isListening(server.origin)).toBe(false));
    server.command.child.kill('SIGUSR2');
    const { exitCode, stderr } = await server.command.ended;
    expect(exitCode).toBe(1);
    expect(linesOf(stderr).map(({ msg }) => msg)).toContain('uncaught error: ending at once');
    await refused;
  });

  it('does not keep a server from draining that is stopped already', async () => {
    const server = await serve(600_000);
    const scrape = server.ask('/v1/scrape', { url: `${site.origin}/held/scraped` });
    await until(() => expect(site.waiting()).toBe(1));
    server.command.child.kill('SIGTERM');
    await until(async () => expect(await isListening(server.origin)).toBe(false));
    server.command.child.kill('SIGUSR2');
    site.release();
    expect((await scrape).status).toBe(200);
    expect((await server.command.ended).exitCode).toBe(1);
  });
});
