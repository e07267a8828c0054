import { hash as digest } from 'node:crypto';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import { type BlobsFs, createBlobsFs } from './blobs-fs.ts';

const PAGE_BYTES = 4_096;
const BODIES = 600;

const blobOf = (text: string) => ({
  hash: digest('sha256', text, 'hex') as ContentHash,
  bytes: Buffer.from(text),
});
const bodies = Array.from({ length: BODIES }, (_, n) => blobOf(`body ${n} `.repeat(20)));

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-index-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const indexIn = (dir: string) => join(dir, 'index.db');

async function open(dir: string, told: ScrapifieError[] = [], isFirst = false): Promise<BlobsFs> {
  const blobs = await createBlobsFs({ dir, isFirst, onRebuilt: (error) => told.push(error) });
  onTestFinished(() => blobs.close());
  return blobs;
}

/** Half of the bodies are in packs of another writer; everything of the index is in its file, and nothing in its log. */
async function filled(): Promise<string> {
  const dir = folder();
  for (const part of [bodies.slice(0, BODIES / 2), bodies.slice(BODIES / 2)]) {
    const blobs = await createBlobsFs({ dir });
    for (let at = 0; at < part.length; at += 10) await blobs.put(part.slice(at, at + 10));
    await blobs.close();
  }
  return dir;
}

function write(dir: string, at: number, bytes: Uint8Array): void {
  const file = openSync(indexIn(dir), 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

const pagesOf = (dir: string) => statSync(indexIn(dir)).size / PAGE_BYTES;

async function requireAll(blobs: BlobsFs): Promise<void> {
  for (const blob of bodies) expect(String(await blobs.get(blob.hash))).toBe(String(blob.bytes));
}

/** Everything that a server does with bodies. */
async function requireWork(blobs: BlobsFs, name: string): Promise<void> {
  const more = [blobOf(`more of ${name}`), blobOf(`much more of ${name}`)];
  await blobs.put([...more, ...bodies.slice(0, 5)]);
  await requireAll(blobs);
  for (const blob of more) expect(String(await blobs.get(blob.hash))).toBe(String(blob.bytes));
  await blobs.check();
  await blobs.compact();
  const listed = new Set((await Array.fromAsync(blobs.list())).map(({ hash }) => hash));
  for (const { hash } of [...bodies, ...more]) expect(listed.has(hash)).toBe(true);
}

describe('a damaged index is made again from the packs, and no body is lost', () => {
  test('whichever page is zeroed, at the start', async () => {
    const source = await filled();
    for (let page = 0; page < pagesOf(source); page += 1) {
      write(source, page * PAGE_BYTES, Buffer.alloc(PAGE_BYTES));
      await requireWork(await open(source, [], true), `page ${page}`);
    }
  });

  test('whichever page is zeroed or noise, when only the calls of a crawl meet it', async () => {
    for (const fill of [0, 0xa5]) {
      const dir = await filled();
      for (let page = 0; page < pagesOf(dir); page += 1) {
        write(dir, page * PAGE_BYTES, Buffer.alloc(PAGE_BYTES, fill));
        const blobs = await open(dir);
        await requireWork(blobs, `page ${page} of ${fill}`);
        await blobs.close();
      }
    }
  });

  test('while several writers serve, of which one meets the damage', async () => {
    const dir = await filled();
    const told: ScrapifieError[] = [];
    const writers = [await open(dir, told), await open(dir, told), await open(dir, told)];
    for (let round = 0; round < 6; round += 1) {
      for (let page = 1; page < pagesOf(dir); page += 1)
        write(dir, page * PAGE_BYTES, Buffer.alloc(900, 0xff));
      // Beyond what connections keep of the file in memory.
      new DatabaseSync(indexIn(dir)).exec('PRAGMA wal_checkpoint(TRUNCATE)');
      const fresh = await open(dir, told);
      const late = blobOf(`late in round ${round}`);
      await writers[round % 3]?.put([late]);
      await requireWork(fresh, `round ${round}`);
      for (const writer of writers) {
        expect(String(await writer.get(late.hash))).toBe(String(late.bytes));
        await requireAll(writer);
      }
    }
    expect(told.length).toBeGreaterThan(0);
    for (const error of told) {
      expect(error.code).toBe('DATABASE_CORRUPT');
      expect(error.message).toContain(indexIn(dir));
    }
  });

  test('with numbers that SQLite takes for sound', async () => {
    const dir = await filled();
    for (const change of [
      'UPDATE blobs SET offset = offset + 7',
      'UPDATE blobs SET offset = -1 WHERE rowid_of = 1',
      'UPDATE blobs SET pack = 3 - pack',
      'UPDATE blobs SET length = 9007199254740993',
      `UPDATE packs SET name = '../' || name`,
      'DELETE FROM packs',
    ]) {
      const database = new DatabaseSync(indexIn(dir));
      database.exec(change.replace('rowid_of = 1', 'size > 0'));
      database.close();
      const blobs = await open(dir);
      await requireWork(blobs, change);
      await blobs.close();
    }
  });

  test('cut off at any page, empty, without its tables, or gone', async () => {
    const dir = await filled();
    for (const share of [0, 0.1, 0.5, 0.9]) {
      truncateSync(indexIn(dir), Math.floor(pagesOf(dir) * share) * PAGE_BYTES);
      const blobs = await open(dir, [], true);
      await requireWork(blobs, `share ${share}`);
      await blobs.close();
    }
    const blobs = await open(dir);
    for (const name of readdirSync(dir)) if (name.startsWith('index.db')) rmSync(join(dir, name));
    await requireWork(blobs, 'gone');
    const database = new DatabaseSync(indexIn(dir));
    database.exec('DROP TABLE blobs');
    database.close();
    await requireWork(blobs, 'no tables');
  });
});

test('what a power failure took from the index alone is found again at the start', async () => {
  const dir = folder();
  const before = await createBlobsFs({ dir });
  await before.put(bodies.slice(0, 100));
  await before.close();
  const kept = indexIn(dir);
  const database = new DatabaseSync(kept);
  const blobs = await createBlobsFs({ dir });
  await blobs.put(bodies.slice(100));
  await blobs.close();
  database.exec('DELETE FROM blobs WHERE pack > 1; DELETE FROM packs WHERE id > 1');
  database.close();
  await requireAll(await open(dir, [], true));
});
