import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { HostKey } from '../../src/core/model/ids.ts';
import type { ApiWorld } from './api-world.ts';
import { openBrowserWorld } from './browser-world.ts';

const LIMIT_MS = 90_000;
let world: ApiWorld;
let site: Server;
let origin: string;
/** Requests for /held, which are answered when the test says so. */
const held: ServerResponse[] = [];

beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html');
    if (request.url === '/held') held.push(response);
    else response.end('<title>Page</title><p>Some words of a page.</p>');
  });
  await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  world = await openBrowserWorld({ settings: { browserPages: 1, browserWaitMs: 1_000 } });
}, LIMIT_MS);
afterAll(async () => {
  for (const response of held) response.destroy();
  await world.close();
  site.close();
}, LIMIT_MS);

test(
  'a page for which no browser is free is put off without a charge, and a caller that waits is told',
  async () => {
    const inBrowser = { options: { engine: 'browser', timeoutMs: 60_000 } } as const;
    const first = await world.batch({ urls: [`${origin}/held`], ...inBrowser });
    await vi.waitFor(() => expect(held).toHaveLength(1), { timeout: 60_000 });
    const answer = await world.send({
      method: 'POST',
      url: '/v1/scrape',
      payload: { url: `${origin}/page`, engine: 'browser', timeoutMs: 60_000 },
    });
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ error: { code: 'BROWSERS_BUSY' } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);

    const second = await world.batch({ urls: [`${origin}/page`], ...inBrowser });
    await vi.waitFor(
      async () => {
        const [waiting] = await world.platform.jobs.waitingFor(await world.look(second));
        expect(waiting).toMatchObject({ code: 'BROWSERS_BUSY', tasks: 1 });
      },
      { timeout: 30_000 },
    );
    for (const response of held.splice(0)) response.end('<title>At last</title><p>Some words.</p>');
    for (const job of [first, second]) {
      await vi.waitFor(async () => expect((await world.look(job)).status).toBe('completed'), {
        timeout: 60_000,
      });
    }
    const [entry] = await world.ledger(second);
    expect(entry?.attempts).toMatchObject([{ outcome: 'ok', engine: 'browser' }]);
    await vi.waitFor(
      async () => {
        const view = await world.platform.store.getHost(new URL(origin).host as HostKey);
        expect(view).toMatchObject({ owner: null, state: { failures: 0 } });
      },
      { timeout: 20_000 },
    );
  },
  LIMIT_MS,
);
