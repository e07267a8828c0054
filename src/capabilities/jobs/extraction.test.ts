import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { PageReader } from '../../crawl/read/page-reading.ts';
import { createReaderPool } from '../../crawl/read/reader-pool.ts';
import { createExtraction, type PagePlaces } from './extraction.ts';

const OBEDIENT = new URL('../../crawl/read/reader-thread.fixture.ts', import.meta.url);
const NOW = Date.UTC(2026, 0, 1);
const wanted = { formats: [], extract: null };

/** Threads that do what the body of each page tells them to. */
function obedient(): PageReader {
  const reader = createReaderPool({ threads: 1, entry: OBEDIENT, data: null, limitMs: 200 });
  onTestFinished(() => reader.close());
  return reader;
}
const extractionWith = (reader: PageReader) => createExtraction({ reader, now: () => NOW });
const given = (order: string) => ({
  url: 'shop.example/hat',
  body: Buffer.from(order),
  contentType: 'text/html',
});

describe('a page at hand', () => {
  it('has no status, the time of the clock, and the URL that was meant', async () => {
    expect(await extractionWith(obedient()).read(given('Hat'), wanted)).toMatchObject({
      url: 'https://shop.example/hat',
      statusCode: null,
      fetchedAt: '2026-01-01T00:00:00.000Z',
      title: 'Hat',
    });
  });

  it('is read although others cost the thread it was given to', async () => {
    const extraction = extractionWith(obedient());
    const orders = ['hang', 'one', 'exit', 'two', 'throw', 'three'];
    const fates = await Promise.all(
      orders.map((order) =>
        extraction.read(given(order), wanted).then(
          ({ title }) => title,
          ({ code }) => code,
        ),
      ),
    );
    const failed = 'EXTRACTION_FAILED';
    expect(fates).toEqual([failed, 'one', failed, 'two', failed, 'three']);
  });

  it('is refused while too many wait', async () => {
    const extraction = extractionWith(obedient());
    const waiting = Array.from({ length: 256 }, () => extraction.read(given('wait'), wanted));
    for (const each of waiting) each.catch(() => undefined);
    await expect(extraction.read(given('x'), wanted)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  });
});

describe('pages that accounts send', () => {
  it('cannot fill the places of other accounts', async () => {
    const extraction = extractionWith(obedient());
    const of = (accountId: string) => ({ ...given('wait'), accountId: accountId as AccountId });
    const waiting = Array.from({ length: 128 }, () => extraction.read(of('flood'), wanted));
    for (const each of waiting) each.catch(() => undefined);
    await expect(extraction.read(of('flood'), wanted)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    const fate = await Promise.race([
      extraction.read(of('small'), wanted).catch(({ code }) => code),
      new Promise((resolve) => setImmediate(resolve, 'waits')),
    ]);
    expect(fate).toBe('waits');
  });
});

describe('the pages of a job', () => {
  const COUNT = 60;
  let platform: Platform;
  let job: { readonly id: JobId; readonly accountId: AccountId };
  beforeAll(async () => {
    platform = await openPlatform();
    await platform.work(({ url }) => ({ ...DONE, body: url.endsWith('/5') ? 'exit' : url }));
    const urls = Array.from({ length: COUNT }, (_, at) => `https://example.com/${at}`);
    const answer = await platform.call({ method: 'POST', url: '/v1/batch', payload: { urls } });
    job = { id: answer.at('data.id') as JobId, accountId: 'default' as AccountId };
    await platform.jobs.waitFor(job.id, 60_000);
  });
  afterAll(() => platform.close());

  /** The stored pages, and how many bodies were looked at. */
  function counted(): { pages: PagePlaces; looks: () => number } {
    const { store, blobs } = platform;
    let looks = 0;
    const get: typeof blobs.get = (hash) => {
      looks += 1;
      return blobs.get(hash);
    };
    return { pages: { store, blobs: { ...blobs, get } }, looks: () => looks };
  }

  it('are all read, in order, but for one that cannot be', async () => {
    const { pages, looks } = counted();
    const results = await Array.fromAsync(extractionWith(obedient()).readAgain(job, wanted, pages));
    const stored = await platform.store.listPages({ jobId: job.id, limit: COUNT });
    expect(results.map(({ url }) => url)).toEqual(stored.items.map(({ url }) => url));
    const failed = results.filter(({ error }) => error !== undefined);
    expect(failed).toMatchObject([{ url: 'https://example.com/5', error: { code: 'EXTRACTION_FAILED' } }]);
    expect(looks()).toBe(COUNT);
  });

  it('are read no further than somebody asks', async () => {
    const { pages, looks } = counted();
    for await (const _ of extractionWith(obedient()).readAgain(job, wanted, pages)) break;
    expect(looks()).toBeLessThan(COUNT / 4);
  });
});
