import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBlobsFs } from '../../src/drivers/blobs-fs/blobs-fs.ts';
import { openPackIndex } from '../../src/drivers/blobs-fs/pack-index.ts';
import { Packs } from '../../src/drivers/blobs-fs/packs.ts';
import { blobsContract, type CopyOptions, type OpenedBlobs } from './blobs-contract.ts';

async function openIn(dir: string, sync: boolean, options: CopyOptions = {}): Promise<OpenedBlobs> {
  const driver = await createBlobsFs({ dir, sync, ...options });
  return {
    driver,
    async damage(hash, spoil) {
      const packs = new Packs(dir);
      const index = openPackIndex(packs);
      const key = Buffer.from(hash, 'hex');
      const place = index.find(key);
      const stored = place === null ? null : packs.read(place.pack, place.offset, place.length);
      if (place !== null && stored !== null) {
        // Every copy: a whole one that the packs still hold would be found.
        writeAt(join(dir, place.pack), place.offset, Buffer.alloc(place.length));
        const member = { key, start: place.start, size: place.size };
        for (const spoiled of packs.append([member], spoil(stored), index.addPack)) index.point(key, spoiled);
      }
      packs.close();
      index.close();
    },
    reopen: (changes = options) => openIn(dir, sync, changes),
    async close() {
      await driver.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function writeAt(path: string, position: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

const folder = () => mkdtemp(join(tmpdir(), 'scrapifie-blobs-'));

blobsContract('folder', async () => openIn(await folder(), false));
blobsContract('folder, synced', async () => openIn(await folder(), true));
