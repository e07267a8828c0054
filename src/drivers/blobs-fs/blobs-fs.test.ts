import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContentHash } from '../../core/model/ids.ts';
import { createBlobsFs } from './blobs-fs.ts';

const blobOf = (text: string) => ({
  hash: createHash('sha256').update(text).digest('hex') as ContentHash,
  bytes: Buffer.from(text),
});

/** Puts the same bodies as everybody else, in an order of its own. */
const PUTTER = `
const { workerData, parentPort } = require('node:worker_threads');
const { createHash } = require('node:crypto');
import(workerData.driver).then(async ({ createBlobsFs }) => {
  const blobs = await createBlobsFs({ dir: workerData.dir });
  for (let n = 0; n < workerData.count; n += 1) {
    const bytes = Buffer.from(('body ' + ((n * workerData.stride) % workerData.count) + ' ').repeat(200));
    await blobs.put([{ hash: createHash('sha256').update(bytes).digest('hex'), bytes }]);
  }
  parentPort.postMessage('done');
});`;

describe('blobs in a folder', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'scrapifie-blobs-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const packsIn = () => readdirSync(dir).filter((name) => name.endsWith('.pack'));

  test('share one pack per writer', async () => {
    const blobs = await createBlobsFs({ dir });
    for (let n = 0; n < 50; n += 1) await blobs.put([blobOf(`body ${n}`)]);
    expect(packsIn()).toHaveLength(1);
  });

  test('are found again when the index is lost, but for a body that was half written', async () => {
    const blobs = await createBlobsFs({ dir });
    const all = Array.from({ length: 20 }, (_, n) => blobOf(`body ${n} `.repeat(100)));
    await blobs.put(all);
    await blobs.close();
    for (const name of readdirSync(dir)) if (name.startsWith('index.db')) rmSync(join(dir, name));
    const [pack = ''] = packsIn();
    writeFileSync(
      join(dir, pack),
      Buffer.concat([readFileSync(join(dir, pack)), Buffer.from('SFB1\xff\xff\0\0\x01\0\0\0half', 'latin1')]),
    );
    const again = await createBlobsFs({ dir });
    for (const blob of all) expect(await again.get(blob.hash)).toEqual(blob.bytes);
    expect(await Array.fromAsync(again.list())).toHaveLength(20);
  });

  test('are found again when the index is damaged', async () => {
    const blobs = await createBlobsFs({ dir });
    const blob = blobOf('a body');
    await blobs.put([blob]);
    await blobs.close();
    writeFileSync(join(dir, 'index.db'), 'this is no database'.repeat(500));
    expect(await (await createBlobsFs({ dir })).get(blob.hash)).toEqual(blob.bytes);
  });

  test('give their space back when most of a pack is deleted, and the rest stays', async () => {
    const blobs = await createBlobsFs({ dir });
    const big = Array.from({ length: 10 }, () => blobOf(randomBytes(300_000).toString('latin1')));
    await blobs.put(big);
    const [before = ''] = packsIn();
    await blobs.delete(big.slice(1).map(({ hash }) => hash));
    expect(packsIn()).toHaveLength(1);
    expect(packsIn()).not.toContain(before);
    expect(await blobs.get(big[0]?.hash as ContentHash)).toEqual(big[0]?.bytes);
  });

  test('go elsewhere when another writer has compacted their pack away', async () => {
    const writer = await createBlobsFs({ dir });
    const [first, second] = [blobOf('first'), blobOf('second')];
    await writer.put([first]);
    await (await createBlobsFs({ dir })).delete([first.hash]);
    await writer.put([second]);
    expect(await writer.get(second.hash)).toEqual(second.bytes);
    expect(await (await createBlobsFs({ dir })).get(second.hash)).toEqual(second.bytes);
  });

  test('ignore files that are not theirs', async () => {
    const blobs = await createBlobsFs({ dir });
    const blob = blobOf('a body');
    await blobs.put([blob]);
    writeFileSync(join(dir, 'README'), 'not a pack');
    mkdirSync(join(dir, 'zz'));
    expect(await Array.fromAsync(blobs.list())).toMatchObject([{ hash: blob.hash }]);
  });

  test('say that a folder which is a file cannot be used', async () => {
    writeFileSync(join(dir, 'file'), '');
    await expect(createBlobsFs({ dir: join(dir, 'file') })).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
    });
  });

  test('refuse a hash that is none', async () => {
    const blobs = await createBlobsFs({ dir });
    const bytes = Buffer.from('x');
    await expect(blobs.put([{ hash: '../../escape' as ContentHash, bytes }])).rejects.toThrow(TypeError);
  });

  test('are whole after several threads put the same bodies at once', async () => {
    const count = 101;
    const driver = new URL('./blobs-fs.ts', import.meta.url).href;
    await Promise.all(
      [1, 2, 3, 100].map(
        (stride) =>
          new Promise((resolve, reject) => {
            const thread = new Worker(PUTTER, { eval: true, workerData: { driver, dir, count, stride } });
            thread.once('message', resolve);
            thread.once('error', reject);
          }),
      ),
    );
    const blobs = await createBlobsFs({ dir });
    for (let n = 0; n < count; n += 1) {
      const blob = blobOf(`body ${n} `.repeat(200));
      expect(await blobs.get(blob.hash)).toEqual(blob.bytes);
    }
  });
});
