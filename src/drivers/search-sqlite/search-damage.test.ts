import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import { packRecord } from '../../core/model/page-record.ts';
import { type IndexablePage, parseSearch, type SearchIndex } from '../../core/ports/search-store.ts';
import { openSqliteSearch } from './search-sqlite.ts';

const PAGE_BYTES = 4_096;
const [accountId, jobId] = ['one' as AccountId, 'job' as JobId];

const pageOf = (pageSeq: number): IndexablePage => ({
  ...{ accountId, jobId, isPrivate: false, pageSeq, url: `https://a.test/${pageSeq}`, title: null },
  ...{ fetchedAt: pageSeq, body: null },
  record: packRecord({ metadata: null, links: [], searchText: `heat pump number${pageSeq} `.repeat(30) }),
});

const found = async (index: SearchIndex, words: string) =>
  (await index.find({ accountId, hasPrivate: false, words: parseSearch(words), offset: 0, limit: 500 })).map(
    ({ pageSeq }) => pageSeq,
  );

async function filled(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-search-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'search.db');
  const index = openSqliteSearch(path);
  await index.put(Array.from({ length: 200 }, (_, at) => pageOf(at + 1)));
  await index.close();
  return path;
}

function spoil(path: string, page: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, page * PAGE_BYTES);
  closeSync(file);
}

test('whichever page of the index is damaged, pages are put and found, and what was lost is asked for', async () => {
  const size = statSync(await filled()).size / PAGE_BYTES;
  let damages = 0;
  for (let page = 0; page < size; page += Math.ceil(size / 12)) {
    const path = await filled();
    spoil(path, page);
    const told: ScrapifieError[] = [];
    let behind = 0;
    const options = {
      onRebuilt: (error: ScrapifieError) => told.push(error),
      onBehind() {
        behind += 1;
      },
    };
    const [index, other] = [openSqliteSearch(path, options), openSqliteSearch(path, options)];
    await found(index, 'heat');
    await index.put([pageOf(500)]);
    await index.listJobs({ after: null, limit: 10 });
    const late = await found(other, 'number500');
    // A search that meets the damage loses what was put before, and the index is built anew from the store.
    if (told.length === 0) expect(late).toEqual([500]);
    if (told.length > 0) {
      damages += 1;
      expect(told[0]).toMatchObject({ code: 'DATABASE_CORRUPT', message: expect.stringContaining(path) });
      expect(behind).toBeGreaterThan(0);
      // A process that ends now leaves it to the next one.
      const before = behind;
      const next = openSqliteSearch(path, options);
      await found(next, 'heat');
      expect(behind).toBe(before + 1);
      await next.beginRebuild();
      await next.put(Array.from({ length: 200 }, (_, at) => pageOf(at + 1)));
      await next.endRebuild();
      await next.close();
      expect((await found(other, 'heat')).length).toBe(200);
      const last = openSqliteSearch(path, options);
      await found(last, 'heat');
      expect(behind).toBe(before + 1);
      await last.close();
    }
    await index.close();
    await other.close();
  }
  expect(damages).toBeGreaterThan(3);
});

test('a command that only looks refuses a damaged index, and leaves it as it is', async () => {
  const path = await filled();
  spoil(path, 0);
  const index = openSqliteSearch(path);
  await expect(found(index, 'heat')).rejects.toMatchObject({ code: 'DATABASE_CORRUPT' });
  await index.close();
});
