import { describe, expect, onTestFinished, test } from 'vitest';
import { type Http2Flood, startHttp2Flood } from '../../../test/hostile/http2-floods.ts';
import type { Engine } from '../engine.ts';
import { codeOfFailure, get, textOf } from '../http/loopback.fixture.ts';
import { loadWreq } from './handshake-clients.ts';
import { engineWith, IDENTITY, noDriver, serveSecure } from './impersonate.fixture.ts';

/** What a host can send before it has to stop: the window, and what sockets hold on the way. */
const MOST_SENT_BYTES = 40_000_000;
/** Without a bound each of these floods takes gigabytes. */
const MOST_GROWTH_BYTES = 400_000_000;

async function flood(kind: Http2Flood) {
  const server = await startHttp2Flood(kind);
  onTestFinished(() => server.close());
  return server;
}

const visit = (engine: Engine, port: number) =>
  get(engine, `https://flood.example:${port}/`, { identity: IDENTITY, timeoutMs: 20_000 });

describe('a flood of frames that wreq-js meets', () => {
  test.each([
    'empty-data',
    'padded-data',
    'settings',
    'ping',
    'window-update',
    'priority',
    'unknown-frames',
  ] as const)('%s: ends as one, and little of it is taken in', async (kind) => {
    const server = await flood(kind);
    const engine = engineWith(loadWreq, { floodMs: 300 });
    const before = process.memoryUsage().rss;
    expect(await codeOfFailure(visit(engine, server.port))).toBe('RESPONSE_FLOOD');
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_GROWTH_BYTES);
    expect(server.sentBytes()).toBeLessThan(MOST_SENT_BYTES);
  });

  test.each(['continuation', 'empty-continuation', 'interim', 'reset', 'goaway', 'data'] as const)(
    '%s: ends in a code, and little of it is taken in',
    async (kind) => {
      const server = await flood(kind);
      const engine = engineWith(loadWreq, { floodMs: 300 });
      const code = await codeOfFailure(visit(engine, server.port));
      expect(code).toMatch(
        /^(RESPONSE_FLOOD|PROTOCOL_ERROR|CONNECTION_RESET|(?:BODY|HEADERS)_LIMIT_EXCEEDED)$/,
      );
      expect(server.sentBytes()).toBeLessThan(MOST_SENT_BYTES);
    },
  );

  test('a body in frames of one byte is read no faster than it is taken', async () => {
    const server = await flood('tiny-data');
    const engine = engineWith(loadWreq);
    const attempt = get(engine, `https://flood.example:${server.port}/`, {
      identity: IDENTITY,
      maxBodyBytes: 20_000,
    });
    expect(await codeOfFailure(attempt)).toBe('BODY_LIMIT_EXCEEDED');
    expect(server.sentBytes()).toBeLessThan(MOST_SENT_BYTES);
  });

  test('other hosts are served meanwhile, and bodies far larger than the window come whole', async () => {
    const server = await flood('empty-data');
    const whole = Buffer.alloc(9_000_000, 'abc');
    const site = await serveSecure((_, response) => response.end(whole));
    const engine = engineWith(loadWreq, { floodMs: 300 });
    const [code, response] = await Promise.all([
      codeOfFailure(visit(engine, server.port)),
      get(engine, `https://shop.example:${site.port}/`, { identity: IDENTITY, maxBodyBytes: 10_000_000 }),
    ]);
    expect(code).toBe('RESPONSE_FLOOD');
    expect(textOf(response) === whole.toString()).toBe(true);
  });
});

describe('a flood of frames that our own HTTP/2 meets', () => {
  test.each([
    'empty-data',
    'continuation',
    'empty-continuation',
    'interim',
    'settings',
    'ping',
    'reset',
    'goaway',
    'window-update',
    'unknown-frames',
  ] as const)('%s: ends in a code, and nothing of it is kept', async (kind) => {
    const server = await flood(kind);
    const engine = engineWith(noDriver);
    const before = process.memoryUsage().rss;
    const attempt = get(engine, `https://flood.example:${server.port}/`, { timeoutMs: 2_000 });
    expect(await codeOfFailure(attempt)).toMatch(
      /^(PROTOCOL_ERROR|CONNECTION_RESET|HEADERS_LIMIT_EXCEEDED|TASK_TIMEOUT|HEADERS_TIMEOUT)$/,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_GROWTH_BYTES);
  });
});
