import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endCommands, type RunningCommand, startCommand, temporaryFolder } from './cli-command.ts';
import {
  type HeldSite,
  isListening,
  type KeepAliveClient,
  openKeepAliveClient,
  startHeldSite,
} from './held-site.ts';

const API_KEY = 'a-key-for-the-tests-of-draining';
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 45_000, interval: 20 });

const folder = temporaryFolder();
const clients: KeepAliveClient[] = [];
let site: HeldSite;
let servers = 0;
beforeEach(async () => {
  site = await startHeldSite();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await endCommands();
  await site.close();
});
afterAll(() => folder.remove());

interface Served {
  readonly command: RunningCommand;
  readonly origin: string;
  readonly dataDir: string;
  client(): KeepAliveClient;
}

async function serve(drainMs: number): Promise<Served> {
  servers += 1;
  const dataDir = folder.path(`data-${servers}`);
  writeFileSync(folder.path('policy.yaml'), 'default: { rate: unlimited, concurrency: 4 }\n');
  const more = ['--allow-private', '--policy-file', folder.path('policy.yaml')];
  const command = startCommand(['serve', '--port', '0', '--data-dir', dataDir, ...more], {
    env: { SCRAPIFIE_API_KEY: API_KEY, SCRAPIFIE_DRAIN_MS: String(drainMs) },
  });
  let origin = '';
  await until(() => {
    origin = /(http:\S+)\/v1\/scrape/.exec(command.stdout())?.[1] ?? '';
    expect(origin).not.toBe('');
  });
  return {
    command,
    origin,
    dataDir,
    client() {
      const client = openKeepAliveClient(origin, API_KEY);
      clients.push(client);
      return client;
    },
  };
}

/** SIGTERM, and the server has noticed it. */
async function terminate({ command, origin }: Served): Promise<void> {
  command.child.kill('SIGTERM');
  await until(async () => expect(await isListening(origin)).toBe(false));
}

/** Hosts that the process still owned when it ended. */
function ownedHosts({ dataDir }: Served): number {
  const database = new DatabaseSync(`${dataDir}/scrapifie.db`, { readOnly: true });
  try {
    const row = database.prepare('SELECT count(*) AS n FROM hosts WHERE owner IS NOT NULL').get();
    return Number(row?.n);
  } finally {
    database.close();
  }
}

describe('SIGTERM with clients that keep their connections', { timeout: 120_000 }, () => {
  it('ends idle connections at once, answers the request under way, drains the crawl and ends with 0', async () => {
    const server = await serve(30_000);
    const [idle, busy, silent] = [server.client(), server.client(), server.client()];
    expect((await idle.ask('GET', '/healthz')).connection).toBe('keep-alive');
    expect((await silent.ask('GET', '/v1/jobs')).status).toBe(200);
    const crawl = { urls: [`${site.origin}/held/crawled`], sitemap: 'skip' };
    expect((await idle.ask('POST', '/v1/crawl', crawl)).status).toBe(202);
    const scrape = busy.ask('POST', '/v1/scrape', { url: `${site.origin}/held/scraped` });
    await until(() => expect(site.waiting()).toBe(2));

    await terminate(server);
    await Promise.all([idle.disconnected, silent.disconnected]);
    site.release();
    expect(await scrape).toMatchObject({ status: 200, connection: 'close', body: { success: true } });
    expect(await server.command.ended).toMatchObject({ exitCode: 0 });
    expect(ownedHosts(server)).toBe(0);
  });

  it('tells a scrape that outlasts the drain time so, and ends with 0', async () => {
    const server = await serve(500);
    const client = server.client();
    const scrape = client.ask('POST', '/v1/scrape', { url: `${site.origin}/held/for-ever` });
    await until(() => expect(site.waiting()).toBe(1));
    await terminate(server);
    expect(await scrape).toMatchObject({
      status: 503,
      connection: 'close',
      body: { error: { code: 'SHUTTING_DOWN' } },
    });
    expect(await server.command.ended).toMatchObject({ exitCode: 0 });
    expect(ownedHosts(server)).toBe(0);
  });

  it('ends at once with 130 after a second signal', async () => {
    const server = await serve(600_000);
    const scrape = server.client().ask('POST', '/v1/scrape', { url: `${site.origin}/held/for-ever` });
    const refused = expect(scrape).rejects.toThrow();
    await until(() => expect(site.waiting()).toBe(1));
    await terminate(server);
    server.command.child.kill('SIGTERM');
    expect(await server.command.ended).toMatchObject({ exitCode: 130 });
    await refused;
  });
});
