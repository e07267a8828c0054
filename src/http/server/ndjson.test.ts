import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { sendNdjson } from './large-answers.ts';

describe('a stream of results', () => {
  it('is read no faster than the client takes it, and ends when the client leaves', async () => {
    let isOver = false;
    // Without an end: were it not for backpressure, memory would be.
    async function* pages() {
      try {
        for (;;) yield { text: 'x'.repeat(100_000) };
      } finally {
        isOver = true;
      }
    }
    const app = Fastify();
    app.get('/', (_request, reply) => sendNdjson(reply, pages()));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const sent = get({ port: (app.server.address() as AddressInfo).port });
    sent.on('error', () => undefined);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    const [chunk] = (await once(answer, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^\{"text":"x+/);
    answer.pause();
    sent.destroy();
    await expect.poll(() => isOver, { timeout: 20_000 }).toBe(true);
    await app.close();
  });
});
