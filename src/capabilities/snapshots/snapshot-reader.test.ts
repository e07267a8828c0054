import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ATTEMPT,
  all,
  at,
  completion,
  DONE,
  newPage,
  newTask,
  OPTIONS,
  take,
} from '../../../test/contract/store/fixtures.ts';
import { openTimed, type TimedStore } from '../../../test/contract/store/timed-store.ts';
import type { OutcomeKind } from '../../core/model/attempt.ts';
import type { ContentHash, JobId } from '../../core/model/ids.ts';
import type { JobOptions } from '../../core/model/job.ts';
import type { NewPage, PageRecord } from '../../core/model/page.ts';
import { packRecord } from '../../core/model/page-record.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { createBlobsFs } from '../../drivers/blobs-fs/blobs-fs.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import { extractPage } from '../../extract/scan/extract-page.ts';
import { historyUrlOf } from './snapshot-key.ts';
import { createSnapshotReader } from './snapshot-reader.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const URL = 'https://shop.test/hat';

interface World {
  readonly store: TimedStore;
  readonly blobs: Blobs;
  /** How many bodies were read. */
  readonly reads: () => number;
  /** Crawls the page, as a job of its own that gets this body, and has the reader read what there is. */
  see(html: string, given?: Seen): Promise<JobId>;
}

interface Seen {
  readonly outcome?: OutcomeKind;
  readonly page?: Partial<NewPage>;
  readonly options?: Partial<JobOptions>;
  readonly record?: Partial<PageRecord>;
  readonly url?: string;
}

async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const store = await openTimed((now) => createSqliteStore({ path: ':memory:', now }));
  closers.push(() => store.close());
  await store.migrate();
  const kept = await createBlobsFs({ dir: folder });
  closers.push(() => kept.close());
  let reads = 0;
  const blobs: Blobs = {
    ...kept,
    get(hash) {
      reads += 1;
      return kept.get(hash);
    },
  };
  const reader = createSnapshotReader({ store: store.plain, blobs, logger: pino({ level: 'silent' }) });
  let clock = Date.UTC(2026, 0, 1);

  async function see(html: string, given: Seen = {}): Promise<JobId> {
    clock += 3_600_000;
    const { url = URL, outcome = 'ok' } = given;
    const body = new TextEncoder().encode(html);
    const contentHash = createHash('sha256').update(body).digest('hex') as ContentHash;
    await blobs.put([{ hash: contentHash, bytes: body }]);
    const { textHash, title, metadata, links } = extractPage({
      ...{ text: html, charset: 'utf-8', url, contentType: 'text/html', linkHeader: null, xRobotsTag: null },
      formats: ['metadata', 'links'],
    });
    const id = randomUUID() as string as JobId;
    const options = { ...OPTIONS, snapshots: true, ...given.options } as const;
    const accountId = await store.defaultAccount();
    await store.createJob({ id, accountId, kind: 'crawl', seeds: [], createdAt: clock, options }, [
      newTask(url),
    ]);
    const { lease, tasks } = await take(store, 'shop.test', 10, clock);
    const task = at(tasks, 0);
    const record = packRecord({ metadata, links, ...given.record });
    const page = newPage(task, {
      ...{ contentHash, textHash, title, record, fetchedAt: clock, bytes: body.length },
      ...given.page,
    });
    const { errorCode: _, ...attempt } = ATTEMPT;
    await store.commit([completion(lease, task, DONE, { page, trace: [{ ...attempt, outcome }] })], clock);
    await store.releaseHost(lease, lease.state, clock, clock);
    const batch = await store.readEvents('snapshots', 1_000);
    if (batch !== null) expect(await reader.apply(batch.events, batch)).toBe(true);
    return id;
  }
  return { store, blobs, see, reads: () => reads };
}

/** The contents in the order in which they were first seen, and the hashes of all sightings. */
async function history({ store }: World, url = URL) {
  const { urlKey } = historyUrlOf(url) ?? {};
  if (urlKey === undefined) throw new Error('No URL.');
  const accountId = await store.defaultAccount();
  const query = { accountId, urlKey, hasPrivate: true, limit: 100 };
  const snapshots = await all((cursor) => store.listSnapshots({ ...query, cursor }));
  const sightings = await all((cursor) => store.listSightings({ ...query, cursor }));
  const byFirst = snapshots.toSorted((a, b) => a.firstSeenAt - b.firstSeenAt);
  return { snapshots: byFirst, seen: sightings.toReversed().map(({ hash }) => hash) };
}

const page = (text: string, more = '') =>
  `<html><head><title>Hat</title>${more}</head><body><h1>Hat</h1><p>${text}</p></body></html>`;

describe('the history of a page', () => {
  it('has each content once, over all jobs, and knows a return to an earlier one', async () => {
    const world = await openWorld();
    for (const text of ['19 EUR', '19 EUR', '91 EUR', '19 EUR']) await world.see(page(text));
    const { snapshots, seen } = await history(world);
    expect(snapshots.map(({ timesSeen }) => timesSeen)).toEqual([3, 1]);
    const [first, other] = snapshots.map(({ hash }) => hash);
    expect(first).not.toBe(other);
    expect(seen).toEqual([first, first, other, first]);
    expect(world.reads()).toBe(0);
  });

  it('takes white space, nonces, tokens in hidden fields and session ids in links for no change', async () => {
    const world = await openWorld();
    const form = (token: string) =>
      `<form><input type="hidden" name="csrf" value="${token}"></form>
       <script nonce="${token}">var s="${token}"</script>
       <a href="/cart?sid=${token}">Cart</a><a href="/logout?csrf_token=${token}">Out</a>
       <a href="/list;jsessionid=${token}?page=2">2</a><img src="/hat.png?v=${token}" alt="A hat">`;
    await world.see(page('19 EUR', '') + form('0f3a9c'));
    await world.see(page('19   EUR', '\n') + form('77b2e1'));
    await world.see(page(' 19 EUR ', '') + form('c0ffee'));
    const { snapshots } = await history(world);
    expect(snapshots.map(({ timesSeen }) => timesSeen)).toEqual([3]);
  });

  it('takes another link, another picture and another price for machines for a change', async () => {
    const offer = (price: string) =>
      `<script type="application/ld+json">{"@type":"Product","offers":{"price":"${price}","priceCurrency":"EUR"}}</script>`;
    for (const [before, after] of [
      ['<a href="/a">more</a>', '<a href="/b">more</a>'],
      ['<a href="/a?id=1">more</a>', '<a href="/a?id=2">more</a>'],
      ['<img src="/a.png">', '<img src="/b.png">'],
      [offer('19.00'), offer('91.00')],
    ]) {
      const world = await openWorld();
      await world.see(page('Hat') + before);
      await world.see(page('Hat') + after);
      await world.see(page('Hat') + before);
      const { snapshots, seen } = await history(world);
      expect(snapshots.map(({ timesSeen }) => timesSeen)).toEqual([2, 1]);
      expect(seen[0]).toBe(seen[2]);
    }
  });

  it('has no error, block, CAPTCHA, log-in, missing or empty pages', async () => {
    const world = await openWorld();
    await world.see(page('19 EUR'));
    const outcomes = [
      'error',
      'blocked',
      'captcha',
      'login-wall',
      'soft-404',
      'empty',
      'rate-limited',
      'needs-javascript',
    ] as const;
    for (const outcome of outcomes) await world.see(page(outcome), { outcome });
    await world.see(page('Sorry'), { page: { statusCode: 500, errorCode: 'HTTP_ERROR' } });
    await world.see(page('Not here'), { page: { statusCode: 404, errorCode: 'HTTP_ERROR' } });
    await world.see(page('Moved'), { page: { statusCode: 302 } });
    await world.see('', { page: { contentHash: null, textHash: null } });
    await world.see(page('19 EUR'));
    const { snapshots, seen } = await history(world);
    expect(snapshots).toHaveLength(1);
    expect(seen).toHaveLength(2);
  });

  it('tells title, offer, extracted record, picture and validators', async () => {
    const world = await openWorld();
    const offer = `<script type="application/ld+json">{"@graph":[{"@type":"Product","name":"Hat","offers":[{"@type":"Offer",
      "priceSpecification":{"price":"1299.50","priceCurrency":"usd"},"availability":"https://schema.org/OutOfStock"}]}]}</script>`;
    const screenshot = { contentHash: 'f'.repeat(64) as ContentHash, contentType: 'image/png', bytes: 9 };
    await world.see(page('A hat', offer), {
      page: { etag: '"1"' },
      record: { rendered: { screenshot }, extracted: { name: 'Hat' } },
    });
    const { snapshots } = await history(world);
    expect(snapshots).toMatchObject([
      {
        title: 'Hat',
        price: 1_299.5,
        currency: 'USD',
        availability: 'OutOfStock',
        record: { name: 'Hat' },
        screenshot,
        etag: '"1"',
        url: URL,
      },
    ]);
  });

  it('is that of the canonical URL, and of nobody else', async () => {
    const world = await openWorld();
    await world.see(page('1'), { url: `${URL}?utm_source=x&b=2&a=1` });
    await world.see(page('1'), { url: `${URL}?a=1&b=2` });
    await world.see(page('1'), { url: URL });
    expect((await history(world, `${URL}?b=2&a=1#top`)).seen).toHaveLength(2);
    expect((await history(world)).seen).toHaveLength(1);
    // Content that stands at another URL too has the same hash, and is another snapshot.
    const [first] = (await history(world)).snapshots;
    const [other] = (await history(world, `${URL}?a=1&b=2`)).snapshots;
    expect(first?.hash).toBe(other?.hash);
    expect(first?.id).not.toBe(other?.id);
  });

  it('is written for jobs that ask for it only, and keeps private contents apart', async () => {
    const world = await openWorld();
    const session = { page: { ...OPTIONS.page, session: 's' }, credentials: 'read' } as const;
    await world.see(page('1'));
    await world.see(page('1'), { options: { snapshots: undefined } });
    await world.see(page('1'), { options: session });
    const { snapshots } = await history(world);
    expect(snapshots.map(({ isPrivate, timesSeen }) => [isPrivate, timesSeen])).toEqual([
      [false, 1],
      [true, 1],
    ]);
  });

  it('is told by bodies that have no text, too', async () => {
    const world = await openWorld();
    const binary = { contentType: 'image/png', textHash: null, title: null };
    for (const bytes of ['a', 'b', 'a']) await world.see(bytes, { page: binary });
    expect((await history(world)).snapshots.map(({ timesSeen }) => timesSeen)).toEqual([2, 1]);
  });
});
