import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  DONE,
  lookUp,
  type Overrides,
  openPlatform,
  type Platform,
} from '../../test/property/api-platform.ts';
import { createOutage } from '../../test/property/outage.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';

const CLIENTS = 300;

interface Reply {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly code: unknown;
  readonly url: unknown;
}

let platform: Platform;
let agent: Agent;
/** Pages end when the test says so: what comes meanwhile piles up. */
let release: () => void;
async function open(maxQueuedUrls: number, overrides: Overrides = {}): Promise<void> {
  platform = await openPlatform({ maxQueuedUrls }, overrides);
  const gate = Promise.withResolvers<void>();
  release = gate.resolve;
  await platform.work(() => gate.promise.then(() => DONE));
  await platform.api.listen({ port: 0, host: '127.0.0.1' });
  agent = new Agent({ keepAlive: true });
}
afterEach(async () => {
  release();
  agent.destroy();
  await platform.close();
});

/** Over a connection of its own, as from a client of its own. */
async function scrape(url: string): Promise<Reply> {
  const { port } = platform.api.server.address() as AddressInfo;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  httpRequest({
    port,
    agent,
    method: 'POST',
    path: '/v1/scrape',
    headers: { 'x-api-key': platform.secret, 'content-type': 'application/json' },
  })
    .on('response', resolve)
    .on('error', reject)
    .end(JSON.stringify({ url, formats: ['text'] }));
  const answer = await promise;
  const body: unknown = JSON.parse(await text(answer));
  return {
    status: answer.statusCode ?? 0,
    retryAfterSeconds: Number(answer.headers['retry-after']),
    code: lookUp(body, 'error.code'),
    url: lookUp(body, 'data.url'),
  };
}
const urlOf = (client: number) => `https://site-${client % 10}.example/${client}`;
const crowd = () => Array.from({ length: CLIENTS }, (_, client) => scrape(urlOf(client)));
const tally = (replies: readonly Reply[]) => {
  const counts: Record<string, number> = {};
  for (const { status, code } of replies) {
    const name = code === undefined ? String(status) : `${status} ${code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};
const openTasks = () => platform.store.countOpenTasks();

describe(`${CLIENTS} clients at once`, () => {
  it('all get their own page when there is room for all', async () => {
    await open(CLIENTS);
    const replies = crowd();
    await expect.poll(openTasks, { timeout: 20_000 }).toBe(CLIENTS);
    release();
    const answered = await Promise.all(replies);
    expect(tally(answered)).toEqual({ 200: CLIENTS });
    expect(answered.map(({ url }) => url)).toEqual(answered.map((_, client) => urlOf(client)));
  });

  it('get QUEUE_FULL at once, with a time to come back, where there is no room', async () => {
    await open(100);
    const waiting: Promise<Reply>[] = [];
    const refused: Reply[] = [];
    const replies = crowd().map((reply) => {
      waiting.push(reply);
      return reply.then((answer) => {
        if (answer.status === 429) refused.push(answer);
        return answer;
      });
    });
    // Requests that are refused do not wait for those that are accepted.
    await expect.poll(() => refused.length, { timeout: 20_000 }).toBe(CLIENTS - 100);
    expect(await openTasks()).toBe(100);
    release();
    expect(tally(await Promise.all(replies))).toEqual({ 200: 100, '429 QUEUE_FULL': CLIENTS - 100 });
    for (const { retryAfterSeconds } of refused) expect(retryAfterSeconds).toBeGreaterThan(0);
  });

  it('get 503 with a time to come back from a store that says nothing, and their pages once it does', async () => {
    const outage = createOutage(() => new ScrapifieError('STORE_UNAVAILABLE', 'away'));
    await open(10 * CLIENTS, { outages: { store: outage } });
    release();
    expect((await scrape(urlOf(0))).status).toBe(200);
    outage.begin('silent');
    const sentAway = await Promise.all(crowd());
    expect(tally(sentAway)).toEqual({ '503 STORE_UNAVAILABLE': CLIENTS });
    for (const { retryAfterSeconds } of sentAway) expect(retryAfterSeconds).toBeGreaterThan(0);
    outage.end();
    await expect.poll(async () => (await scrape(urlOf(0))).status).toBe(200);
    expect(tally(await Promise.all(crowd()))).toEqual({ 200: CLIENTS });
  });
});
