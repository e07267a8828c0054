import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { ContentHash } from '../../src/core/model/ids.ts';
import type { Blob, Blobs } from '../../src/core/ports/blobs.ts';
import { afterKill, contract, type Open, type Opened, type Skip } from './contract.ts';

/** Blobs under test, with a way to spoil one behind the driver's back. */
export interface OpenedBlobs extends Opened<Blobs> {
  /** With other options, where they are given. */
  reopen(options?: CopyOptions): Promise<OpenedBlobs>;
  /** Replaces what is stored for the hash by what `spoil` makes of it. */
  damage(hash: ContentHash, spoil: (stored: Uint8Array) => Uint8Array): Promise<void>;
}

export interface CopyOptions {
  /** The age up to which a put relies on a copy that is there. */
  readonly reliedOnMs?: number;
}

export function blobOf(content: string | Uint8Array): Blob {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { hash: createHash('sha256').update(bytes).digest('hex') as ContentHash, bytes };
}

const PAGE = `<!doctype html><title>A page</title>${'<p class="row">Some words that repeat.</p>\n'.repeat(500)}`;

const SPOILS: Readonly<Record<string, (stored: Uint8Array) => Uint8Array>> = {
  emptied: () => new Uint8Array(0),
  'cut short': (stored) => stored.slice(0, stored.length >> 1),
  zeroed: (stored) => new Uint8Array(stored.length),
  'changed in one bit': (stored) => stored.map((byte, at) => (at === stored.length >> 1 ? byte ^ 1 : byte)),
  'replaced by another blob': () => Buffer.from('RAW\0another body'),
};

export function blobsContract(name: string, open: () => Promise<OpenedBlobs>, skips: readonly Skip[] = []) {
  // A case gets what `open` made, so its `damage` is reached through the map from driver to opening.
  const damageOf = new WeakMap<Blobs, OpenedBlobs['damage']>();
  const reopenOf = new WeakMap<Blobs, OpenedBlobs['reopen']>();
  const opening: Open<Blobs> = async () => {
    const opened = await open();
    damageOf.set(opened.driver, opened.damage.bind(opened));
    reopenOf.set(opened.driver, opened.reopen.bind(opened));
    return opened;
  };
  /** The same place as seen by a process that relies on no copy: for it all of them are old. */
  const beside = async (blobs: Blobs, show: (distrustful: Blobs) => Promise<void>) => {
    const again = await reopenOf.get(blobs)?.({ reliedOnMs: 0 });
    if (again === undefined) throw new Error('The driver was not opened by this contract.');
    await show(again.driver);
    await again.driver.close();
  };

  contract<Blobs>(`blobs: ${name}`, opening, skips, (holds) => {
    // Returns a yes or no, because a printed difference of two bodies would be unreadable.
    const isKept = async (blobs: Blobs, blob: Blob) => {
      const bytes = await blobs.get(blob.hash);
      return bytes !== null && Buffer.compare(bytes, blob.bytes) === 0;
    };
    const listed = async (blobs: Blobs) => {
      const hashes: ContentHash[] = [];
      for await (const { hash } of blobs.list()) hashes.push(hash);
      return hashes.sort();
    };

    holds('returns the bytes that were put', async (blobs) => {
      const page = blobOf(PAGE);
      await blobs.put([page]);
      expect(await isKept(blobs, page)).toBe(true);
      expect(await blobs.has(page.hash)).toBe(true);
    });

    holds('returns any bytes that were put', async (blobs) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 8 }), async (bodies) => {
          const all = bodies.map(blobOf);
          await blobs.put(all);
          for (const blob of all) expect(await isKept(blobs, blob)).toBe(true);
        }),
        { numRuns: 40 },
      );
    });

    holds('says null and false for what was never put', async (blobs) => {
      const absent = blobOf('never put');
      expect(await blobs.get(absent.hash)).toBeNull();
      expect(await blobs.has(absent.hash)).toBe(false);
    });

    holds('treats what is no hash as absent and reaches nothing outside', async (blobs) => {
      for (const hash of [
        '',
        '..',
        '../../etc/passwd',
        'A'.repeat(64),
        `${'a'.repeat(63)}/`,
      ] as ContentHash[]) {
        expect(await blobs.get(hash)).toBeNull();
        expect(await blobs.has(hash)).toBe(false);
        await blobs.delete([hash]);
      }
    });

    holds('keeps the empty body', async (blobs) => {
      const empty = blobOf('');
      await blobs.put([empty]);
      expect(await isKept(blobs, empty)).toBe(true);
    });

    holds('keeps bodies of 5 MB, compressible and not', async (blobs) => {
      const all = [blobOf(PAGE.repeat(250)), blobOf(randomBytes(5_000_000))];
      await blobs.put(all);
      for (const blob of all) expect(await isKept(blobs, blob)).toBe(true);
    });

    holds('keeps a body that looks like the driver’s own format', async (blobs) => {
      const all = [Buffer.from('RAW\0inner'), Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3])].map(blobOf);
      await blobs.put(all);
      for (const blob of all) expect(await isKept(blobs, blob)).toBe(true);
    });

    holds('may be given the same body again, also within one put', async (blobs) => {
      const page = blobOf(PAGE);
      await blobs.put([page, page]);
      await blobs.put([page]);
      expect(await isKept(blobs, page)).toBe(true);
      expect(await listed(blobs)).toEqual([page.hash]);
    });

    holds('an empty put changes nothing', async (blobs) => {
      await blobs.put([]);
      expect(await listed(blobs)).toEqual([]);
    });

    holds('survives many puts of the same bodies at once', async (blobs) => {
      const all = Array.from({ length: 40 }, (_, index) => blobOf(`${PAGE}${index}`));
      await Promise.all(Array.from({ length: 8 }, () => blobs.put(all)));
      for (const blob of all) expect(await isKept(blobs, blob)).toBe(true);
      expect(await listed(blobs)).toEqual(all.map((blob) => blob.hash).sort());
    });

    for (const [how, spoil] of Object.entries(SPOILS)) {
      holds(`treats a blob ${how} as absent until it is put again`, async (blobs) => {
        const damage = damageOf.get(blobs);
        for (const blob of [blobOf(PAGE), blobOf(randomBytes(3_000))]) {
          await blobs.put([blob]);
          await damage?.(blob.hash, spoil);
          expect(await blobs.get(blob.hash)).toBeNull();
          await blobs.put([blob]);
          expect(await isKept(blobs, blob)).toBe(true);
          // The damage is also repaired when the store had not noticed it before the put.
          await damage?.(blob.hash, spoil);
          await blobs.put([blob]);
          expect(await isKept(blobs, blob)).toBe(true);
          // And when a put has found the body whole before.
          await blobs.put([blob]);
          await damage?.(blob.hash, spoil);
          await blobs.put([blob]);
          expect(await isKept(blobs, blob)).toBe(true);
        }
      });
    }

    holds('never returns wrong bytes, however the stored ones were changed', async (blobs) => {
      const damage = damageOf.get(blobs);
      const spoiling = fc.array(
        fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.nat(255) }),
        {
          minLength: 1,
          maxLength: 4,
        },
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(PAGE, 'short', ''), spoiling, async (content, changes) => {
          const blob = blobOf(content);
          await blobs.put([blob]);
          await damage?.(blob.hash, (stored) => {
            const spoiled = Buffer.from(stored);
            for (const { at, byte } of changes) spoiled[Math.floor(at * spoiled.length)] = byte;
            return spoiled;
          });
          const bytes = await blobs.get(blob.hash);
          expect(bytes === null || Buffer.compare(bytes, blob.bytes) === 0).toBe(true);
          await blobs.put([blob]);
          expect(await isKept(blobs, blob)).toBe(true);
        }),
        { numRuns: 150 },
      );
    });

    holds('deletes what is there and minds nothing else', async (blobs) => {
      const [kept, gone, absent] = ['kept', 'gone', 'absent'].map((text) => blobOf(text)) as [
        Blob,
        Blob,
        Blob,
      ];
      await blobs.put([kept, gone]);
      await blobs.delete([gone.hash, absent.hash]);
      await blobs.delete([gone.hash]);
      expect(await blobs.get(gone.hash)).toBeNull();
      expect(await blobs.has(gone.hash)).toBe(false);
      expect(await listed(blobs)).toEqual([kept.hash]);
      await blobs.put([gone]);
      expect(await isKept(blobs, gone)).toBe(true);
    });

    holds('lists every blob once', async (blobs) => {
      const all = Array.from({ length: 1_100 }, (_, index) => blobOf(`body ${index}`));
      await blobs.put(all);
      expect(await listed(blobs)).toEqual(all.map((blob) => blob.hash).sort());
    });

    holds('lists what stays while other blobs come and go', async (blobs) => {
      const staying = Array.from({ length: 200 }, (_, index) => blobOf(`stays ${index}`));
      const going = Array.from({ length: 50 }, (_, index) => blobOf(`goes ${index}`));
      await blobs.put([...staying, ...going]);
      const seen = new Set<string>();
      let turn = 0;
      for await (const { hash } of blobs.list()) {
        seen.add(hash);
        const victim = going[turn];
        if (victim !== undefined) await blobs.delete([victim.hash]);
        await blobs.put([blobOf(`comes ${turn}`)]);
        turn += 1;
        if (turn > 1_000) break;
      }
      for (const blob of staying) expect(seen.has(blob.hash)).toBe(true);
    });

    holds('lists copies with their size and age', async (blobs) => {
      await blobs.put([blobOf(randomBytes(3_000)), blobOf('')]);
      const copies = await Array.fromAsync(blobs.list());
      expect(copies.map(({ isSpare }) => isSpare)).toEqual([false, false]);
      expect(Math.max(...copies.map(({ storedBytes }) => storedBytes))).toBeGreaterThanOrEqual(3_000);
      for (const { ageMs } of copies) expect(ageMs).toBeGreaterThanOrEqual(0);
    });

    holds('removes the copies that were listed, and no other blob', async (blobs) => {
      const all = Array.from({ length: 30 }, (_, index) => blobOf(`${PAGE}${index}`));
      await blobs.put(all);
      const copies = await Array.fromAsync(blobs.list());
      const gone = new Set(all.slice(0, 20).map(({ hash }) => hash));
      await blobs.remove(copies.filter(({ hash }) => gone.has(hash)));
      await blobs.remove([]);
      await blobs.compact();
      for (const blob of all) expect(await isKept(blobs, blob)).toBe(!gone.has(blob.hash));
      expect(await listed(blobs)).toEqual(
        all
          .slice(20)
          .map(({ hash }) => hash)
          .sort(),
      );
    });

    holds('keeps a blob that was put again after its old copy was listed', async (blobs) => {
      const all = Array.from({ length: 20 }, (_, index) => blobOf(`${PAGE}${index}`));
      await blobs.put(all);
      const copies = await Array.fromAsync(blobs.list());
      await beside(blobs, async (distrustful) => {
        await distrustful.put(all);
        await blobs.remove(copies);
        for (const blob of all) {
          expect(await isKept(distrustful, blob)).toBe(true);
          expect(await isKept(blobs, blob)).toBe(true);
          expect(await blobs.has(blob.hash)).toBe(true);
        }
      });
    });

    holds('keeps a blob that is put while its old copies are removed', async (blobs) => {
      const all = Array.from({ length: 12 }, (_, index) => blobOf(`${PAGE}${index}`));
      await beside(blobs, async (distrustful) => {
        for (let round = 0; round < 5; round += 1) {
          await distrustful.put(all);
          const copies = await Array.fromAsync(blobs.list());
          await Promise.all([
            blobs.remove(copies),
            ...all.map((blob) => distrustful.put([blob])),
            blobs.compact(),
          ]);
          for (const blob of all) expect(await isKept(distrustful, blob)).toBe(true);
        }
      });
    });

    holds('removes spare copies without the blob, and all copies with it', async (blobs) => {
      const page = blobOf(PAGE);
      await blobs.put([page]);
      await beside(blobs, async (distrustful) => {
        await distrustful.put([page]);
        await distrustful.put([page]);
      });
      const copies = await Array.fromAsync(blobs.list());
      expect(copies.filter(({ isSpare }) => !isSpare)).toHaveLength(1);
      await blobs.remove(copies.filter(({ isSpare }) => isSpare));
      expect(await isKept(blobs, page)).toBe(true);
      expect(await listed(blobs)).toEqual([page.hash]);
      await blobs.remove(await Array.fromAsync(blobs.list()));
      expect(await blobs.get(page.hash)).toBeNull();
      expect(await listed(blobs)).toEqual([]);
    });

    holds('check works and leaves nothing behind', async (blobs) => {
      await Promise.all([blobs.check(), blobs.check(), blobs.check()]);
      expect(await listed(blobs)).toEqual([]);
    });

    holds('keeps what was put when the process is killed', async (blobs, opened) => {
      const page = blobOf(PAGE);
      await blobs.put([page]);
      await afterKill(opened, async (again) => {
        expect(await isKept(again, page)).toBe(true);
      });
    });
  });
}
