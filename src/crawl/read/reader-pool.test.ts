import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, ContentHash } from '../../core/model/ids.ts';
import type { PageRecord } from '../../core/model/page.ts';
import { unpackRecord } from '../../core/model/page-record.ts';
import { createBlobsFs } from '../../drivers/blobs-fs/blobs-fs.ts';
import { makePdf } from '../../extract/documents/pdf/pdf.fixture.ts';
import type { PageReader, PageReading, RenderedPage } from './page-reading.ts';
import { requestFor } from './read-request.fixture.ts';
import { createReaderPool, type ReaderPoolOptions, type ReplacedThread } from './reader-pool.ts';

const OBEDIENT = new URL('./reader-thread.fixture.ts', import.meta.url);
const REAL = new URL('../../wiring/page-thread.ts', import.meta.url);

function pool(changes: Partial<ReaderPoolOptions> = {}): PageReader {
  const reader = createReaderPool({ threads: 1, entry: OBEDIENT, data: null, ...changes });
  onTestFinished(() => reader.close());
  return reader;
}

/** A pool, and the threads that it has replaced so far. */
function watched(changes: Partial<ReaderPoolOptions> = {}) {
  const replaced: ReplacedThread[] = [];
  const reader = pool({ ...changes, onReplace: (each) => replaced.push(each) });
  return { reader, replaced };
}

/** What became of a page: its title, why it is not read, or the code it was refused with. */
const fate = (reading: Promise<PageReading>): Promise<string> =>
  reading.then(
    ({ page, failure }) =>
      failure === undefined ? `read ${page.title}` : `unread ${failure.code}: ${failure.message}`,
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
const tell = (reader: PageReader, order: string) => fate(reader.read(requestFor({ body: order })));
const tellAll = (reader: PageReader, ...orders: string[]) =>
  Promise.all(orders.map((order) => tell(reader, order)));

it('passes over the reports of Node.js about loaded files, which `node --watch` makes', async () => {
  const reader = pool({ data: 'watched' });
  await reader.ready;
  expect(await tell(reader, 'page')).toBe('read page');
});

describe('a pool of reading threads', () => {
  const reader = createReaderPool({ threads: 2, entry: OBEDIENT, data: null });
  afterAll(() => reader.close());

  it('answers each page with its own reading', async () => {
    const orders = Array.from({ length: 40 }, (_, n) => `page ${n}`);
    expect(await tellAll(reader, ...orders)).toEqual(orders.map((order) => `read ${order}`));
  });

  it('reads a page of another account before the slow pages of a job that came first', async () => {
    const alone = pool();
    let slow = 0;
    const turnOf = (accountId: string, body: string) =>
      alone.read({ ...requestFor({ body }), accountId: accountId as AccountId });
    const flood = Array.from({ length: 40 }, () => turnOf('one', 'slow').then(() => (slow += 1)));
    const before = await turnOf('other', 'page').then(() => slow);
    expect(before).toBeLessThanOrEqual(8);
    await Promise.all(flood);
  });

  it('spreads pages over its threads', async () => {
    const readings = await Promise.all(['a', 'b'].map((body) => reader.read(requestFor({ body }))));
    expect(new Set(readings.map(({ evidence }) => evidence)).size).toBe(2);
  });

  it('counts what was handed in and not yet read', async () => {
    const fates = tellAll(reader, ...Array.from({ length: 10 }, () => 'x'));
    expect(reader.backlog).toBe(10);
    await fates;
    expect(reader.backlog).toBe(0);
  });

  it('owns the body from then on', async () => {
    const request = requestFor({ body: 'mine' });
    expect((await reader.read(request)).page.title).toBe('mine');
    expect(request.response.body.buffer.detached).toBe(true);
  });

  it('reads pages that share one empty body', async () => {
    const body = new Uint8Array(0);
    const pages = [1, 2, 3].map(() => fate(reader.read(requestFor({ body }))));
    expect(await Promise.all(pages)).toEqual(['read ', 'read ', 'read ']);
  });

  it('passes on why a body could not be kept', async () => {
    expect(await tell(reader, 'full')).toBe('DISK_FULL');
  });

  it('calls a fault without a code a failed extraction', async () => {
    expect(await tell(reader, 'fault')).toBe('EXTRACTION_FAILED');
  });
});

describe('a thread that is lost', () => {
  it.each(['throw', 'exit'])(
    'by %s: its page is read once more and then stored unread, and the others are read',
    async (order) => {
      const { reader, replaced } = watched();
      expect(await tell(reader, 'good')).toBe('read good');
      expect(await tellAll(reader, order, 'next', 'last')).toEqual([
        expect.stringMatching(
          /^unread EXTRACTION_FAILED: Reading the page .*; alone with a thread of its own, it /,
        ),
        'read next',
        'read last',
      ]);
      expect(reader.backlog).toBe(0);
      expect(replaced).toMatchObject([
        { reason: 'crashed', url: 'http://site.test/page', pages: 3 },
        { reason: 'crashed', url: 'http://site.test/page', pages: 1 },
      ]);
    },
  );

  it('although another page is to blame: the second time the page is read', async () => {
    const reader = pool();
    expect(await tellAll(reader, 'good', 'throw unless first', 'next')).toEqual([
      'read good',
      'read throw unless first',
      'read next',
    ]);
  });

  it('reads the page that was lost with it alone, in a thread that has read nothing before', async () => {
    const reader = pool({ threads: 2 });
    const orders = ['a', 'b', 'throw unless first', 'c', 'throw unless first', 'd', 'e'];
    expect(await tellAll(reader, ...orders)).toEqual(orders.map((order) => `read ${order}`));
  });

  it('by hanging: its page is given up when its time is over twice, the others are read', async () => {
    const { reader, replaced } = watched({ limitMs: 700 });
    expect(await tellAll(reader, 'hang', 'next')).toEqual([
      'unread EXTRACTION_FAILED: Reading the page took too long; alone with a thread of its own, it took too long.',
      'read next',
    ]);
    expect(replaced.map(({ reason }) => reason)).toEqual(['too-slow', 'too-slow']);
  });

  it('by a heap that is full: the same', async () => {
    const { reader, replaced } = watched({ maxHeapMb: 32 });
    expect(await tellAll(reader, 'fill the heap', 'next')).toEqual([
      expect.stringMatching(/^unread EXTRACTION_FAILED: .*memory limit/),
      'read next',
    ]);
    expect(replaced.map(({ reason }) => reason)).toEqual(['out-of-memory', 'out-of-memory']);
  });

  it('even when the body cannot be stored either: the page says so', async () => {
    const reader = pool();
    expect(await tellAll(reader, 'throw always', 'next')).toEqual(['EXTRACTION_FAILED', 'read next']);
  });

  it('is replaced, and the other threads notice nothing', async () => {
    const { reader, replaced } = watched({ threads: 2 });
    const fates = await tellAll(reader, 'throw', ...Array.from({ length: 11 }, (_, n) => `${n}`));
    expect(fates.slice(1)).toEqual(Array.from({ length: 11 }, (_, n) => `read ${n}`));
    // Four pages are in hand before it is known what one takes, two for each thread; more as soon as the other has read one.
    expect(replaced[0]?.pages).toBeGreaterThanOrEqual(2);
  });

  it('because it cannot start: every page says so, and none waits for ever', async () => {
    const reader = pool({ data: 'broken' });
    expect(await tell(reader, 'x')).toBe('EXTRACTION_FAILED');
    expect(await tellAll(reader, 'y', 'z')).toEqual(['EXTRACTION_FAILED', 'EXTRACTION_FAILED']);
  });
});

it('gives a thread a few megabytes of bodies at a time', async () => {
  const { reader, replaced } = watched();
  const large = ' '.repeat(3_000_000);
  await tellAll(reader, `throw${large}`, ...Array.from({ length: 9 }, () => large));
  expect(replaced[0]?.pages).toBe(3);
});

it('replaces a thread whose heap has grown too large between two pages, and loses none', async () => {
  const { reader, replaced } = watched();
  const orders = ['a', 'heap', 'b', 'c'];
  expect(await tellAll(reader, ...orders)).toEqual(orders.map((order) => `read ${order}`));
  expect(replaced).toEqual([
    {
      reason: 'heap-high',
      message: 'Between two pages 400 of 500 bytes of its heap are in use.',
      url: null,
      pages: 3,
    },
  ]);
});

describe('closing', () => {
  it('gives back what is in hand and what waits', async () => {
    const reader = pool();
    const fates = tellAll(reader, ...Array.from({ length: 6 }, () => 'wait'));
    await reader.close();
    expect(new Set(await fates)).toEqual(new Set(['SHUTTING_DOWN']));
    expect(reader.backlog).toBe(0);
  });

  it('takes no more pages', async () => {
    const reader = pool();
    await reader.close();
    expect(await tell(reader, 'x')).toBe('SHUTTING_DOWN');
  });
});

describe('the real thread', () => {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-reader-'));
  const reader = createReaderPool({ threads: 1, entry: REAL, data: { blobs: { dataDir: dir } } });
  afterAll(async () => {
    await reader.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('keeps the body before it answers, and nothing for an empty one', async () => {
    const { page } = await reader.read(requestFor({ body: '<title>Kept</title>' }));
    const blobs = await createBlobsFs({ dir: join(dir, 'blobs') });
    const kept = page.contentHash === null ? null : await blobs.get(page.contentHash);
    expect(Buffer.from(kept ?? []).toString()).toBe('<title>Kept</title>');
    expect((await reader.read(requestFor({ body: '' }))).page.contentHash).toBeNull();
    await blobs.close();
  });

  it('keeps the body of a page that cannot be read, its response and the reason', async () => {
    const body = `<meta charset=iso-8859-5><title>Too much</title><p>${'word '.repeat(100_000)}</p>`;
    // Together they give more than a page may have.
    const rules = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, 'p']));
    const { page, failure, outcome, discovered } = await reader.read(
      requestFor({
        body,
        generation: 3,
        page: { extract: { rules, schema: null, type: null, llm: false } },
        response: { contentType: 'text/html', headers: { etag: '"1"' } },
      }),
    );
    expect(failure).toMatchObject({ code: 'EXTRACTION_FAILED' });
    expect({ page, outcome, discovered }).toMatchObject({
      page: { statusCode: 200, bytes: body.length, charset: 'iso-8859-5', etag: '"1"', title: null },
      outcome: 'error',
      discovered: [],
    });
    const record = JSON.parse(unpackRecord(page.record ?? Buffer.from('{}')).toString('utf8')) as PageRecord;
    expect(record).toMatchObject({ outcome: 'error', evidence: failure?.message, headers: { etag: '"1"' } });
    const blobs = await createBlobsFs({ dir: join(dir, 'blobs') });
    const kept = page.contentHash === null ? null : await blobs.get(page.contentHash);
    expect(Buffer.from(kept ?? []).toString()).toBe(body);
    await blobs.close();
  });

  it('reports a URL once per generation', async () => {
    const found = async (generation: number) => {
      const request = requestFor({ body: '<a href="/x">x</a>', generation });
      return (await reader.read(request)).discovered.length;
    };
    expect([await found(5), await found(5), await found(6), await found(6)]).toEqual([1, 0, 1, 0]);
  });

  it('reports a URL again in another incarnation of the store, in which the same number may be another job', async () => {
    const found = async (incarnation: string) => {
      const request = requestFor({ body: '<a href="/y">y</a>', generation: 7, incarnation });
      return (await reader.read(request)).discovered.length;
    };
    expect([await found('b'), await found('b'), await found('c'), await found('b')]).toEqual([1, 0, 1, 1]);
  });

  it('keeps what a browser brought before it answers, wherever its bytes lie', async () => {
    // Small buffers of Node's share their memory with others, which must stay as they are.
    const shared = Buffer.from('shared memory');
    const neighbour = Buffer.from('a neighbour');
    const rendered: RenderedPage = {
      rawBody: new TextEncoder().encode('<title>Sent</title>'),
      extra: {
        screenshot: { bytes: shared, contentType: 'image/png' },
        pdf: new TextEncoder().encode('pdf'),
        xhr: [],
        actions: [{ type: 'screenshot', ms: 1, picture: { bytes: shared, contentType: 'image/png' } }],
        consoleErrors: ['oh'],
      },
      failure: new ScrapifieError('ACTION_FAILED', 'scroll: no', { details: { step: 'scroll' } }),
    };
    const { page } = await reader.read(
      requestFor({
        body: '<title>Shown</title>',
        page: { formats: ['rawHtml', 'screenshot', 'pdf'] },
        response: { rendered },
      }),
    );
    expect(neighbour.toString()).toBe('a neighbour');
    expect(page.title).toBe('Shown');
    const record = JSON.parse(unpackRecord(page.record ?? Buffer.from('{}')).toString('utf8')) as PageRecord;
    const { screenshot, pdf, raw, actions, ...rest } = record.rendered ?? {};
    expect(rest).toEqual({
      consoleErrors: ['oh'],
      failure: {
        code: 'ACTION_FAILED',
        message: 'scroll: no',
        step: 'scroll',
        html: { contentHash: page.contentHash, contentType: page.contentType, bytes: page.bytes },
      },
    });
    const blobs = await createBlobsFs({ dir: join(dir, 'blobs') });
    const textOf = async (hash: ContentHash | undefined) =>
      hash === undefined ? null : Buffer.from((await blobs.get(hash)) ?? []).toString();
    expect([
      await textOf(screenshot?.contentHash),
      await textOf(pdf?.contentHash),
      await textOf(raw?.contentHash),
      await textOf(actions?.[0]?.picture?.contentHash),
    ]).toEqual(['shared memory', 'pdf', '<title>Sent</title>', 'shared memory']);
    await blobs.close();
  });

  it('says what of a document it has left out, whatever the format', async () => {
    const pages = Array.from({ length: 5 }, (_, n) => [[12, `Page ${n + 1}`] as const]);
    const read = async (generation: number, options: object) => {
      const { page } = await reader.read(
        requestFor({
          body: new Uint8Array(makePdf({ pages })),
          generation,
          page: { formats: ['markdown'], ...options },
          response: { contentType: 'application/pdf' },
        }),
      );
      return JSON.parse(unpackRecord(page.record ?? Buffer.from('{}')).toString('utf8')) as PageRecord;
    };
    expect(await read(20, { maxPdfPages: 2 })).toMatchObject({
      markdown: 'Page 1\n\nPage 2',
      warnings: [{ code: 'pdf-page-limit', message: 'Only the first 2 of 5 pages were read.' }],
      pdfPages: { read: 2, total: 5 },
    });
    const whole = await read(21, {});
    expect(whole.pdfPages).toEqual({ read: 5, total: 5 });
    expect(whole).not.toHaveProperty('warnings');
  });

  it('says how much there was to read', async () => {
    const { yield: found } = await reader.read(requestFor({ body: '<p>Some text <a href=/y>link</a>' }));
    expect(found).toEqual({ textLength: 14, linkCount: 1 });
  });

  it('reads sitemaps as sitemaps', async () => {
    const request = requestFor({ body: 'http://site.test/from-a-list\n', task: { kind: 'sitemap' } });
    expect((await reader.read(request)).discovered).toMatchObject([{ foundBy: 'sitemap' }]);
  });
});
