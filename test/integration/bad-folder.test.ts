import {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/core/errors/registry.ts';
import { openScraper, openWorld, QUICK_POLICY, type World } from './world.ts';

let world: World;
let root: string;
/** A folder with a finished crawl in it, to be copied and harmed. */
let sound: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'scrapifie-bad-'));
  world = await openWorld({ site: { pages: 120 } });
  sound = join(root, 'sound');
  const scraper = await openScraper({ dataDir: await made(sound), policy: QUICK_POLICY });
  await scraper.crawlNow({ urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip' });
  await scraper.platform.close();
});
afterAll(async () => {
  await world.close();
  await rm(root, { recursive: true, force: true });
});

async function made(dir: string): Promise<string> {
  await mkdir(dir);
  return dir;
}

async function expectRefusal(dataDir: string, code: ErrorCode, words: RegExp): Promise<void> {
  const opened = openScraper({ dataDir, settings: { dataDir } });
  await expect(opened).rejects.toMatchObject({ code });
  await expect(opened).rejects.toThrow(words);
}

describe('a damaged database is refused and left as it is', () => {
  test.each<[string, (file: string) => void]>([
    ['that is something else', (file) => writeFileSync(file, Buffer.alloc(100_000, 'not a database '))],
    ['that is a few bytes', (file) => writeFileSync(file, 'SQLite')],
    ['that is empty', (file) => truncateSync(file, 0)],
    ['that is cut in half', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['that lacks its last bytes', (file) => truncateSync(file, statSync(file).size - 700)],
    ['with flipped bytes in its middle', (file) => flip(file, 0.5, 8_192)],
    ['with flipped bytes near its start', (file) => flip(file, 0.02, 8_192)],
  ])('%s', async (name, harm) => {
    const dir = join(root, name.replaceAll(' ', '-'));
    cpSync(sound, dir, { recursive: true });
    const file = join(dir, 'scrapifie.db');
    harm(file);
    const before = readFileSync(file);
    await expectRefusal(dir, 'DATABASE_CORRUPT', /scrapifie\.db/);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

function flip(file: string, place: number, count: number): void {
  const bytes = readFileSync(file);
  const from = Math.floor(bytes.length * place);
  for (let at = from; at < from + count; at++) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
}

test('a database that is gone is not replaced by a new one while bodies and keys are there', async () => {
  const dir = join(root, 'gone');
  cpSync(sound, dir, { recursive: true });
  rmSync(join(dir, 'scrapifie.db'));
  await expectRefusal(dir, 'DATABASE_CORRUPT', /vault\.key, .*blobs/);
  expect(existsSync(join(dir, 'scrapifie.db'))).toBe(false);
});

test('a database file that is removed under the running platform is noticed, and new work is refused', async () => {
  const dataDir = join(root, 'removed');
  const scraper = await openScraper({ dataDir: await made(dataDir), policy: QUICK_POLICY, place: null });
  const file = join(dataDir, 'scrapifie.db');
  renameSync(file, `${file}.away`);
  const refusal = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining(file) };
  const job = { urls: [`${world.site.hostUrl(4)}/big/`], maxPages: 1 };
  await expect(scraper.platform.store.check()).rejects.toMatchObject(refusal);
  await expect(scraper.crawl(job)).rejects.toMatchObject(refusal);
  // Parts that work by themselves may tell that their own work could not be done.
  const told = scraper.warnings.filter((line) => line.includes('removed or replaced'));
  expect(told.filter((line) => line.includes('"store error"'))).toHaveLength(1);
  renameSync(`${file}.away`, file);
  await scraper.platform.store.check();
  expect(await scraper.crawlNow(job)).toMatchObject({ status: 'completed' });
  await scraper.platform.close();
});

test('a database of a newer program is refused and left as it is', async () => {
  const dir = join(root, 'newer');
  cpSync(sound, dir, { recursive: true });
  const file = join(dir, 'scrapifie.db');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = DELETE; PRAGMA user_version = 9999; PRAGMA journal_mode = WAL');
  database.close();
  const before = readFileSync(file);
  await expectRefusal(dir, 'SCHEMA_TOO_NEW', /9999/);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a data folder that is a file is refused, and the file stays', async () => {
  const file = join(root, 'a-file');
  await writeFile(file, 'mine');
  await expectRefusal(file, 'DATA_DIR_UNUSABLE', /a-file/);
  await expectRefusal(join(file, 'below'), 'DATA_DIR_UNUSABLE', /below/);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test('a data folder that cannot be written is refused', async ({ skip }) => {
  if (process.getuid?.() === 0) skip('root may write everywhere');
  const dir = await made(join(root, 'read-only'));
  await chmod(dir, 0o500);
  await expectRefusal(dir, 'DATA_DIR_UNUSABLE', /read-only/);
});

test('a data folder that another process works in is refused, and that one goes on', async () => {
  const before = await world.crawlNow({ urls: [`${world.site.hostUrl(2)}/big/`], maxPages: 3 });
  await expectRefusal(world.dataDir, 'DATA_DIR_LOCKED', /another/i);
  const after = await world.crawlNow({ urls: [`${world.site.hostUrl(3)}/big/`], maxPages: 3 });
  expect([before.counters.pages, after.counters.pages]).toEqual([3, 3]);
});

describe('a policy file', () => {
  test.each([
    ['that is not there', null, /cannot be read \(ENOENT\)/],
    ['that is no YAML', 'default: [unclosed', /line 1/],
    ['with a field nobody knows', 'default:\n  rate: 2\n  brust: 3\n', /line 3: default\.brust/],
    ['with a rate of nothing', 'default:\n  rate: 0\n', /line 2: default\.rate/],
    [
      'with hours that cannot be',
      'default:\n  allowedHours: { from: "25:00", to: "06:00", timeZone: UTC }\n',
      /hours/i,
    ],
  ])('%s keeps the platform from starting, before the folder is touched', async (_, text, words) => {
    const policyFile = join(root, 'policy.yaml');
    if (text === null) await rm(policyFile, { force: true });
    else await writeFile(policyFile, text);
    const dataDir = join(root, 'untouched');
    const opened = openScraper({ dataDir, settings: { policyFile } });
    await expect(opened).rejects.toMatchObject({ code: 'INVALID_POLICY' });
    await expect(opened).rejects.toThrow(words);
    expect(statSync(dataDir, { throwIfNoEntry: false })).toBeUndefined();
  });
});

test('what was refused can be opened once it is mended', async () => {
  const dir = join(root, 'mended');
  cpSync(sound, dir, { recursive: true });
  const file = join(dir, 'scrapifie.db');
  const good = readFileSync(file);
  flip(file, 0.5, 8_192);
  await expectRefusal(dir, 'DATABASE_CORRUPT', /damaged/);
  writeFileSync(file, good);
  const scraper = await openScraper({ dataDir: dir, policy: QUICK_POLICY });
  const { items } = await scraper.platform.jobs.list({ accountId: scraper.account, limit: 2 });
  expect(items.map(({ counters }) => counters.pages)).toEqual([120]);
  await scraper.platform.close();
});
