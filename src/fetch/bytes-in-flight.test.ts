import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type ByteBudget, createByteBudget, type HeldBytes } from './byte-budget.ts';
import type { FetchRequest, FetchResponse } from './engine.ts';
import { codeOfFailure, get, serve, testEngine } from './http/loopback.fixture.ts';
import { loadWreq } from './impersonate/handshake-clients.ts';
import { engineWith, IDENTITY, serveSecure } from './impersonate/impersonate.fixture.ts';

const BODY_BYTES = 3_000_000;
const BODIES = 12;
const LIMIT_BYTES = 4_000_000;
/** One body goes on beyond the limit: its chunks, the whole, and the block that is not full yet. */
const ONE_BODY_BYTES = 2 * BODY_BYTES + 1_048_576;
/** Each of the others has one chunk or block that it had counted when it was told to wait. */
const EACH_BYTES = 1_200_000;
const WHOLE = Buffer.alloc(BODY_BYTES, 'abc');
const PARTS = Array.from({ length: 100 }, (_, part) => WHOLE.subarray(part * 30_000, (part + 1) * 30_000));

/** Opens accounts that remember the most that was held by all of them. */
function watched(budget: ByteBudget): { open: () => HeldBytes; mostBytes: () => number } {
  let most = 0;
  const open = (): HeldBytes => {
    const account = budget.open();
    return {
      get bytes() {
        return account.bytes;
      },
      get group() {
        return account.group;
      },
      set group(group) {
        account.group = group;
      },
      take(bytes, resume) {
        const mayGoOn = account.take(bytes, resume);
        most = Math.max(most, budget.heldBytes);
        return mayGoOn;
      },
      give: (bytes) => account.give(bytes),
      close: () => account.close(),
    };
  };
  return { open, mostBytes: () => most };
}

async function fetchAll(ask: (held: HeldBytes) => Promise<FetchResponse>): Promise<number> {
  const budget = createByteBudget(LIMIT_BYTES);
  const { open, mostBytes } = watched(budget);
  await Promise.all(
    Array.from({ length: BODIES }, async () => {
      const held = open();
      const { body } = await ask(held);
      expect(WHOLE.equals(body)).toBe(true);
      expect(held.bytes).toBe(BODY_BYTES);
      held.close();
    }),
  );
  expect(budget.heldBytes).toBe(0);
  return mostBytes();
}

const MORE: Partial<FetchRequest> = { maxBodyBytes: BODY_BYTES, timeoutMs: 60_000 };
const MOST_BYTES = LIMIT_BYTES + ONE_BODY_BYTES + BODIES * EACH_BYTES;

describe('many bodies at once', () => {
  test.each([
    ['as they are', (bytes: Buffer) => bytes, {}],
    ['compressed', gzipSync, { 'content-encoding': 'gzip' }],
  ])('%s: all come whole, one after the other where the budget is used up', async (_, code, headers) => {
    const coded = code(WHOLE);
    const site = await serve((_, response) => {
      response.writeHead(200, headers);
      response.write(coded.subarray(0, 100));
      response.end(coded.subarray(100));
    });
    const engine = testEngine();
    const most = await fetchAll((held) => get(engine, site.origin, { ...MORE, held }));
    expect(most).toBeGreaterThan(LIMIT_BYTES);
    expect(most).toBeLessThan(Math.min(MOST_BYTES, BODIES * BODY_BYTES));
  });

  test('by wreq-js: all come whole, too', async () => {
    // Node's server ends streams of a session for which it would have to keep too much.
    const site = await serveSecure((_, response) => {
      Readable.from(PARTS).pipe(response);
    });
    const engine = engineWith(loadWreq);
    const url = `https://shop.example:${site.port}/`;
    const most = await fetchAll((held) => get(engine, url, { ...MORE, identity: IDENTITY, held }));
    // The requests share a connection, so that all of them pause and go on together.
    expect(most).toBeLessThan(BODIES * ONE_BODY_BYTES);
  });
});

test('an attempt that waits for the budget is ended by its own time, and gives back what it has', async () => {
  const budget = createByteBudget(100_000);
  const [largest, held] = [budget.open(), budget.open()];
  largest.take(50_000_000);
  largest.take(1, () => {});
  const site = await serve((_, response) => {
    response.write(WHOLE);
    response.end();
  });
  const attempt = get(testEngine(), site.origin, { ...MORE, timeoutMs: 300, held });
  expect(await codeOfFailure(attempt)).toBe('TASK_TIMEOUT');
  expect(held.bytes).toBe(0);
  largest.close();
  held.close();
  expect(budget.heldBytes).toBe(0);
});
