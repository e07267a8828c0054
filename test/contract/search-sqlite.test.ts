import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import type { AccountId, JobId } from '../../src/core/model/ids.ts';
import { packRecord } from '../../src/core/model/page-record.ts';
import { parseSearch, type SearchIndex } from '../../src/core/ports/search-store.ts';
import { openSqliteSearch } from '../../src/drivers/search-sqlite/search-sqlite.ts';
import type { Opened } from './contract.ts';
import { searchContract } from './search-contract.ts';

async function openIn(dir: string): Promise<Opened<SearchIndex>> {
  const driver = openSqliteSearch(join(dir, 'search.db'));
  return {
    driver,
    reopen: () => openIn(dir),
    async close() {
      await driver.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

searchContract('SQLite', async () => openIn(await mkdtemp(join(tmpdir(), 'scrapifie-search-'))));

/** As the first version of the index made it, with one entry. */
const FIRST_VERSION = `
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account_id TEXT NOT NULL, url_key TEXT NOT NULL, host TEXT NOT NULL,
    job_id TEXT NOT NULL, page_seq INTEGER NOT NULL, fetched_at INTEGER NOT NULL, words_hash TEXT NOT NULL,
    build INTEGER NOT NULL, UNIQUE (account_id, url_key)
  );
  CREATE INDEX entries_job ON entries (job_id, page_seq);
  CREATE TABLE builds (id INTEGER PRIMARY KEY CHECK (id = 1), build INTEGER NOT NULL);
  INSERT INTO builds VALUES (1, 1);
  CREATE VIRTUAL TABLE words USING fts5 (title, body, content = '', contentless_delete = 1, tokenize = 'ascii');
  PRAGMA user_version = 1;
  INSERT INTO entries VALUES (1, 'one', 'key', 'a.test', 'job', 7, 1, '', 1);
  INSERT INTO words (rowid, title, body) VALUES (1, 'heat', 'pump');
`;

it('an index of the first version is used on, and takes private pages', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-search-'));
  const old = new DatabaseSync(join(dir, 'search.db'));
  old.exec(FIRST_VERSION);
  old.close();
  const { driver: index, close } = await openIn(dir);
  onTestFinished(close);
  const [accountId, jobId] = ['one' as AccountId, 'job' as JobId];
  const found = async (hasPrivate: boolean) =>
    (await index.find({ accountId, hasPrivate, words: parseSearch('heat'), offset: 0, limit: 10 })).map(
      ({ pageSeq }) => pageSeq,
    );
  expect(await found(false)).toEqual([7]);
  const record = packRecord({ metadata: null, links: [], searchText: 'heat' });
  const url = 'https://a.test/';
  await index.put([
    { accountId, jobId, isPrivate: true, pageSeq: 8, url, title: null, fetchedAt: 2, record, body: null },
  ]);
  expect(await found(false)).toEqual([7]);
  expect((await found(true)).sort()).toEqual([7, 8]);
});

it('an index of a newer version is refused, and stays as it is', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-search-'));
  const path = join(dir, 'search.db');
  const newer = new DatabaseSync(path);
  newer.exec('CREATE TABLE entries (of_the_future TEXT); PRAGMA user_version = 99');
  newer.close();
  const { driver: index, close } = await openIn(dir);
  onTestFinished(close);
  await expect(index.listJobs({ after: null, limit: 1 })).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
  const after = new DatabaseSync(path, { readOnly: true });
  expect(after.prepare('SELECT name FROM pragma_table_info(?)').all('entries')).toEqual([
    { name: 'of_the_future' },
  ]);
  after.close();
});
