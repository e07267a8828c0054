import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ContentHash } from '../../../core/model/ids.ts';
import { type Blob, LEAST_GRACE_MS, PUT_TO_COMMIT_MS } from '../../../core/ports/blobs.ts';
import type { ReferenceStore } from '../../../core/ports/retention-store.ts';
import { createBlobsFs } from '../../../drivers/blobs-fs/blobs-fs.ts';
import {
  type BlobSweepOptions,
  type BlobSweepParts,
  HashSet,
  PREFIX_END,
  sweepBlobs,
  TRANSIT_MS,
} from './blob-sweep.ts';

const T0 = Date.UTC(2026, 0, 1);
const blobOf = (text: string): Blob => {
  const bytes = Buffer.from(`${text} `.repeat(50));
  return { hash: createHash('sha256').update(bytes).digest('hex') as ContentHash, bytes };
};

/** Pages that refer to one body each, in memory; the stores' own contract shows that they tell theirs. */
function newReferences() {
  const pages = new Map<number, ContentHash>();
  let owner: string | null = null;
  const store: ReferenceStore = {
    async listReferences({ cursor = '-1', limit }) {
      const later = [...pages].filter(([seq]) => seq > Number(cursor)).slice(0, limit);
      const last = later.at(-1);
      const nextCursor = later.length < limit || last === undefined ? null : String(last[0]);
      return { items: later.map(([, hash]) => hash), nextCursor };
    },
    async leaseWork(_, asking) {
      owner ??= asking;
      return owner === asking;
    },
    async endWork(_, asking) {
      if (owner === asking) owner = null;
    },
  };
  return { pages, store };
}

async function newWorld() {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-sweep-'));
  const clock = { now: T0 };
  const open = (name = 'blobs') => createBlobsFs({ dir: join(dir, name), now: () => clock.now });
  let blobs = await open();
  const transit = await open('transit');
  const { pages, store } = newReferences();
  const parts: BlobSweepParts = {
    store,
    transit,
    blobs: {
      list: () => blobs.list(),
      remove: (copies) => blobs.remove(copies),
      compact: () => blobs.compact(),
    },
  };
  const close = async () => {
    await Promise.all([blobs.close(), transit.close()]);
    await rm(dir, { recursive: true, force: true });
  };
  return {
    clock,
    pages,
    parts,
    transit,
    blobs: () => blobs,
    sweep: (options: Partial<BlobSweepOptions> = {}) =>
      sweepBlobs(parts, { graceMs: LEAST_GRACE_MS, ...options }),
    /** As a kill does: the old one is not closed first. */
    async reopen() {
      const before = blobs;
      blobs = await open();
      await before.close();
    },
    close,
  };
}

const kept = async (world: Awaited<ReturnType<typeof newWorld>>) =>
  (await Array.fromAsync(world.blobs().list())).map(({ hash }) => hash).toSorted();

const hashes = fc
  .array(fc.stringMatching(/^[0-9a-f]{64}$/), { maxLength: 300 })
  .map((all) => all as ContentHash[]);

describe('a sweep', () => {
  const open = async () => {
    const world = await newWorld();
    onTestFinished(world.close);
    return world;
  };
  const all = Array.from({ length: 40 }, (_, n) => blobOf(`body ${n}`));
  const hashes = (blobs: readonly Blob[]) => blobs.map(({ hash }) => hash).toSorted();

  it('removes what nothing refers to once it is old, and reports it', async () => {
    const world = await open();
    await world.blobs().put(all);
    for (const [n, { hash }] of all.slice(0, 10).entries()) world.pages.set(n, hash);
    expect(await world.sweep()).toMatchObject({ found: { objects: 40 }, removed: { objects: 0 } });
    world.clock.now += LEAST_GRACE_MS + 60_000;
    const dry = await world.sweep({ isDryRun: true });
    expect(dry).toMatchObject({ found: { objects: 40 }, removed: { objects: 30 } });
    expect(await kept(world)).toEqual(hashes(all));
    expect(await world.sweep()).toEqual(dry);
    expect(await kept(world)).toEqual(hashes(all.slice(0, 10)));
  });

  it('goes through any number of references with bounded memory', async () => {
    const world = await open();
    await world.blobs().put(all);
    for (const [n, { hash }] of all.slice(0, 25).entries()) world.pages.set(n, hash);
    world.clock.now += LEAST_GRACE_MS + 60_000;
    expect(await world.sweep({ mostReferences: 3 })).toMatchObject({
      found: { objects: 40 },
      removed: { objects: 15 },
    });
    expect(await kept(world)).toEqual(hashes(all.slice(0, 25)));
  });

  it('is made by one process at a time', async () => {
    const world = await open();
    const [first, second] = await Promise.all([world.sweep(), world.sweep()]);
    expect([first, second].filter((report) => report === null)).toHaveLength(1);
    expect(await world.sweep()).not.toBeNull();
  });

  it('expires what was left on its way between processes, however young the bodies are', async () => {
    const world = await open();
    const [old, young] = [blobOf('of a killed owner'), blobOf('on its way')];
    await world.transit.put([old]);
    world.clock.now += TRANSIT_MS;
    await world.transit.put([young]);
    expect(await world.sweep()).toMatchObject({ expired: { objects: 1 } });
    expect([await world.transit.has(old.hash), await world.transit.has(young.hash)]).toEqual([false, true]);
    expect(await world.sweep({ graceMs: 0 })).toMatchObject({ expired: { objects: 1 } });
    expect(await world.transit.has(young.hash)).toBe(false);
  });

  it('ends early when it is told to', async () => {
    const world = await open();
    await world.blobs().put(all);
    world.clock.now += 10 * LEAST_GRACE_MS;
    expect(await world.sweep({ signal: AbortSignal.abort() })).toMatchObject({ removed: { objects: 0 } });
    expect(await world.sweep()).toMatchObject({ removed: { objects: 40 } });
  });
});

describe('beside crawls, deletes, kills and the passing of time', () => {
  type Step =
    | { readonly do: 'put' | 'put and commit'; readonly body: number }
    | { readonly do: 'commit' | 'delete'; readonly pick: number }
    | { readonly do: 'pass'; readonly hours: number }
    | { readonly do: 'sweep' | 'kill' };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constantFrom('put' as const, 'put and commit' as const), body: fc.nat(2) }),
    fc.record({ do: fc.constantFrom('commit' as const, 'delete' as const), pick: fc.nat(1_000) }),
    fc.record({ do: fc.constant('pass' as const), hours: fc.constantFrom(0.5, 3, 5, 8, 13) }),
    fc.record({ do: fc.constantFrom('sweep' as const, 'kill' as const) }),
  );
  const BODIES = Array.from({ length: 3 }, (_, n) => blobOf(`page ${n}`));

  it('no page refers to a blob that is gone, and two sweeps later no blob is left for nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        const world = await newWorld();
        const { clock, pages } = world;
        /** Bodies that were put and whose pages are not committed. */
        let underWay: { hash: ContentHash; at: number }[] = [];
        const commit = (hash: ContentHash) => pages.set(Math.max(0, ...pages.keys()) + 1, hash);
        for (const each of steps) {
          switch (each.do) {
            case 'put':
            case 'put and commit': {
              const body = BODIES[each.body] as Blob;
              await world.blobs().put([body]);
              if (each.do === 'put') underWay.push({ hash: body.hash, at: clock.now });
              else commit(body.hash);
              break;
            }
            case 'commit': {
              const [page] = underWay.splice(each.pick % Math.max(1, underWay.length), 1);
              // The ledger gives back what is older.
              const isYoung = page !== undefined && clock.now - page.at <= PUT_TO_COMMIT_MS;
              if (isYoung) commit(page.hash);
              break;
            }
            case 'delete':
              pages.delete([...pages.keys()][each.pick % Math.max(1, pages.size)] ?? -1);
              break;
            case 'pass':
              clock.now += Math.round(each.hours * 3_600_000);
              break;
            case 'sweep':
              await world.sweep({ mostReferences: 2 });
              break;
            case 'kill':
              await world.reopen();
              underWay = [];
              break;
          }
          for (const hash of pages.values()) expect(await world.blobs().get(hash)).not.toBeNull();
        }
        for (let sweeps = 0; sweeps < 2; sweeps += 1) {
          clock.now += LEAST_GRACE_MS + 60_000;
          await world.sweep();
        }
        expect(await kept(world)).toEqual([...new Set(pages.values())].toSorted());
        await world.close();
      }),
      { numRuns: 120 },
    );
    // Fewer runs have missed a sweep that removes too much; a busy machine needs longer for them.
  }, 120_000);
});

describe('a set of hashes', () => {
  it('knows what was added, and nothing else', () => {
    fc.assert(
      fc.property(hashes, hashes, (added, others) => {
        const set = new HashSet(0, 1_000);
        for (const hash of added) set.add(hash);
        for (const hash of added) expect(set.has(hash)).toBe(true);
        const prefixes = new Set(added.map((hash) => hash.slice(0, 13)));
        for (const hash of others) expect(set.has(hash)).toBe(prefixes.has(hash.slice(0, 13)));
      }),
    );
  });

  it('knows everything within its range when it is gone through in passes, however few it may hold', () => {
    fc.assert(
      fc.property(hashes, fc.integer({ min: 1, max: 20 }), (added, most) => {
        const seen = new Set<string>();
        for (let from = 0; from < PREFIX_END; ) {
          const set = new HashSet(from, most);
          for (const hash of added) set.add(hash);
          for (const hash of added) {
            expect(set.has(hash)).toBe(set.isInRange(hash));
            if (set.has(hash)) seen.add(hash);
          }
          expect(set.end).toBeGreaterThan(from);
          from = set.end;
        }
        expect(seen).toEqual(new Set(added));
      }),
      { numRuns: 50 },
    );
  });
});
