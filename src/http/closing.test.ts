import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openPlatform } from '../../test/property/api-platform.ts';

describe('closing', () => {
  it('ends waits that outlast the drain time with SHUTTING_DOWN, and takes nothing new', async () => {
    const platform = await openPlatform({ drainMs: 0 });
    await platform.api.listen({ port: 0, host: '127.0.0.1' });
    const scrape = platform.call({
      method: 'POST',
      url: '/v1/scrape',
      payload: { url: 'https://example.com/' },
    });
    await expect.poll(async () => (await platform.call({ url: '/v1/jobs' })).at('data.items.length')).toBe(1);
    const closing = platform.api.close();
    const answer = await scrape;
    expect([answer.statusCode, answer.at('error.code')]).toEqual([503, 'SHUTTING_DOWN']);
    await closing;
    const jobs = await platform.store.listJobs({
      accountId: await platform.store.defaultAccount(),
      limit: 10,
    });
    expect(jobs.items).toMatchObject([{ status: 'queued', counters: { open: 1 } }]);
    await platform.close();
  });

  it('begins with a notice: readiness says so, and all else is answered, with the end of the connection', async () => {
    let isStopping = false;
    const platform = await openPlatform({}, { isStopping: () => isStopping });
    const of = async (url: string) => {
      const { statusCode, headers, at } = await platform.call({ url });
      return [
        statusCode,
        at('error.code') ?? null,
        headers.connection ?? null,
        headers['retry-after'] ?? null,
      ];
    };
    expect((await of('/readyz'))[0]).toBe(200);
    expect((await of('/v1/jobs'))[2]).not.toBe('close');
    isStopping = true;
    expect(await of('/readyz')).toEqual([503, 'SHUTTING_DOWN', 'close', '5']);
    expect(await of('/healthz')).toEqual([200, null, 'close', null]);
    expect(await of('/v1/jobs')).toEqual([200, null, 'close', null]);
    await platform.close();
  });

  it('does not wait for a client that has connected and says nothing', async () => {
    const platform = await openPlatform({});
    await platform.api.listen({ port: 0, host: '127.0.0.1' });
    const { port } = platform.api.server.address() as AddressInfo;
    const accepted = once(platform.api.server, 'connection');
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await accepted;
    const gone = once(socket, 'close');
    await platform.close();
    await gone;
  });
});
