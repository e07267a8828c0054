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
      const index = openPackIndex(packs, false);
      const key = Buffer.from(hash, 'hex');
      const place = index.find(key);
      const stored = place === null ? null : packs.read(place.pack, place.offset, place.length);
      if (place !== null && stored !== null) {
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

const folder = () => mkdtemp(join(tmpdir(), 'scrapifie-blobs-'));

blobsContract('folder', async () => openIn(await folder(), false));
blobsContract('folder, synced', async () => openIn(await folder(), true));
