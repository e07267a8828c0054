import Fastify, { type LightMyRequestResponse } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVault } from '../../capabilities/sessions/vault.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { FoundKey } from '../../core/ports/key-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import type { App } from './app.ts';
import { keepAnswers, newIdFor, secretBytesFor } from './kept-answers.ts';

/** One process: several of them share the store. `isDying`: it dies after it has made the thing, before it answers. */
interface Process {
  send(body: string, by?: { readonly id: string; readonly scopes: string }): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

let store: Store;
let now = Date.now();
let things: { readonly id: string; readonly secret: string }[];
const opened: Process[] = [];

beforeEach(async () => {
  now = Date.now();
  things = [];
  store = await createSqliteStore({ path: ':memory:', now: () => now });
  await store.migrate();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await store.close();
});

async function open({ isDying = false, hold = Promise.resolve() } = {}): Promise<Process> {
  const app = Fastify() as unknown as App;
  app.decorateRequest('key', null);
  app.addHook('onRequest', async (request) => {
    const { 'key-id': id, 'key-scopes': scopes } = request.headers;
    const key = { accountId: 'default' as AccountId, id, scopes: String(scopes).split(' ') };
    request.key = key as unknown as FoundKey;
  });
  const dead = new Error('The process is dead.');
  const dying = { keepAnswer: () => Promise.reject(dead), releaseAnswer: () => Promise.reject(dead) };
  let ids = 0;
  keepAnswers(app, {
    store: isDying ? { ...store, ...dying } : store,
    vault: createVault('ab'.repeat(32)),
    newId() {
      ids += 1;
      return `id ${ids} of ${opened.length}`;
    },
  });
  app.post('/things', { config: { access: 'open', creates: true } }, async (request, reply) => {
    await hold;
    const thing = { id: newIdFor(request), secret: secretBytesFor(request, 'thing')?.toString('hex') ?? '' };
    if (request.body === 'fail') return reply.code(503).send({ sorry: true });
    if (!things.some(({ id }) => id === thing.id)) things.push(thing);
    return reply
      .code(201)
      .header('location', `/things/${thing.id}`)
      .send(`{"id":  "${thing.id}", "secret": "${thing.secret}"}`);
  });
  const process: Process = {
    send: (payload, { id, scopes } = { id: 'one', scopes: 'write credentials:read' }) =>
      app.inject({
        method: 'POST',
        url: '/things',
        payload,
        headers: {
          'idempotency-key': 'key',
          'content-type': 'text/plain',
          'key-id': id,
          'key-scopes': scopes,
        },
      }),
    close: () => app.close(),
  };
  opened.push(process);
  return process;
}

describe('a request that creates something', () => {
  it('is answered to a repeat byte for byte, by any process, and for a day', async () => {
    const [one, two] = [await open(), await open()];
    const first = await one.send('body');
    const again = await two.send('body');
    expect(first.statusCode).toBe(201);
    expect([again.statusCode, again.body]).toEqual([first.statusCode, first.body]);
    for (const name of ['location', 'content-type']) expect(again.headers[name]).toBe(first.headers[name]);
    expect([first, again].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true']);
    expect(things).toHaveLength(1);
    now += 24 * 3_600_000 + 1;
    expect((await two.send('body')).body).not.toBe(first.body);
    expect(things).toHaveLength(2);
  });

  it('is made once when its process dies after making it, with the same id and secret', async () => {
    const [dying, next] = [await open({ isDying: true }), await open()];
    const lost = await dying.send('body');
    // The key is held until the lease of the dead process runs out.
    now += 60_000;
    const answer = await next.send('body');
    expect(answer.statusCode).toBe(201);
    expect(answer.body).toBe(lost.body);
    expect(things).toHaveLength(1);
    expect((await next.send('body')).headers['idempotency-replayed']).toBe('true');
  });

  it('waits for another with the same key, and gets its answer', async () => {
    const { promise: hold, resolve } = Promise.withResolvers<void>();
    const slow = await open({ hold });
    const racing = Array.from({ length: 5 }, () => slow.send('body'));
    setTimeout(resolve, 50);
    const answers = await Promise.all(racing);
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(things).toHaveLength(1);
  });

  it('is not answered to another API key, whose equal key is independent', async () => {
    const one = await open();
    const first = await one.send('body');
    const other = { id: 'two', scopes: 'write' };
    const foreign = await one.send('body', other);
    expect([foreign.statusCode, foreign.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect(foreign.json().secret).not.toBe(first.json().secret);
    expect((await one.send('body', other)).body).toBe(foreign.body);
    expect((await one.send('body')).body).toBe(first.body);
    expect((await one.send('more', other)).json()).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(things).toHaveLength(2);
  });

  it('is not answered to a token of the same subject with other scopes', async () => {
    const one = await open();
    await one.send('body', { id: 'oidc:ann', scopes: 'write credentials:read' });
    const fewer = await one.send('body', { id: 'oidc:ann', scopes: 'scrape' });
    expect(fewer.json()).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(things).toHaveLength(1);
  });

  it('that failed may be sent again, and another one may not have its key', async () => {
    const one = await open();
    expect((await one.send('fail')).statusCode).toBe(503);
    expect((await one.send('fail')).headers['idempotency-replayed']).toBeUndefined();
    expect((await one.send('body')).json()).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  });
});
