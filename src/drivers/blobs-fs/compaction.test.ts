import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContentHash } from '../../core/model/ids.ts';
import { createBlobsFs } from './blobs-fs.ts';

const DRIVER = new URL('./blobs-fs.ts', import.meta.url).href;
/** Incompressible, so that sizes on disk are what they seem; the same in the child. */
const BODY_OF = `(n) => {
  const bytes = Buffer.alloc(40000);
  for (let at = 0; at < bytes.length; at += 32) createHash('sha256').update(n + ':' + at).digest().copy(bytes, at);
  return { hash: createHash('sha256').update(bytes).digest('hex'), bytes };
}`;
/** Puts bodies, removes all but each tenth of them, and compacts, without end; says each number that stays. */
const CHURN = `
import { createHash } from 'node:crypto';
const [driver, dir, start] = process.argv.slice(1);
const { createBlobsFs } = await import(driver);
const bodyOf = ${BODY_OF};
const blobs = await createBlobsFs({ dir });
for (let first = Number(start); ; first += 100) {
  const numbers = Array.from({ length: 100 }, (_, n) => first + n);
  await blobs.put(numbers.map(bodyOf));
  for (const n of numbers) if (n % 10 === 0) process.stdout.write(n + '\\n');
  const kept = new Set(numbers.filter((n) => n % 10 === 0).map((n) => bodyOf(n).hash));
  const own = new Set(numbers.map((n) => bodyOf(n).hash));
  const copies = (await Array.fromAsync(blobs.list())).filter(({ hash }) => own.has(hash) && !kept.has(hash));
  await blobs.remove(copies);
  await blobs.compact();
}`;

const bodyOf = new Function('createHash', `return ${BODY_OF}`)(createHash) as (n: number) => {
  hash: ContentHash;
  bytes: Buffer;
};

describe('compacting', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'scrapifie-compaction-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const packs = () => readdirSync(dir).filter((name) => name.endsWith('.pack'));
  const bytesOnDisk = () => packs().reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
  const removeAllBut = async (blobs: Awaited<ReturnType<typeof createBlobsFs>>, kept: ReadonlySet<string>) =>
    blobs.remove((await Array.fromAsync(blobs.list())).filter(({ hash }) => !kept.has(hash)));

  test('gives the space of dead bodies back, although live ones stand among them in every frame', async () => {
    const blobs = await createBlobsFs({ dir });
    const all = Array.from({ length: 300 }, (_, n) => bodyOf(n));
    await blobs.put(all);
    const before = bytesOnDisk();
    const kept = all.filter((_, n) => n % 5 === 0);
    await removeAllBut(blobs, new Set(kept.map(({ hash }) => hash)));
    await blobs.compact();
    expect(bytesOnDisk()).toBeLessThan(before / 3);
    for (const { hash, bytes } of kept) expect(await blobs.get(hash)).toEqual(bytes);
    await blobs.close();
  });

  test('lets readers and writers in other processes go on', async () => {
    const [blobs, other] = [await createBlobsFs({ dir }), await createBlobsFs({ dir })];
    const all = Array.from({ length: 300 }, (_, n) => bodyOf(n));
    await blobs.put(all);
    const kept = all.filter((_, n) => n % 5 === 0);
    await removeAllBut(blobs, new Set(kept.map(({ hash }) => hash)));
    const more = Array.from({ length: 60 }, (_, n) => bodyOf(1_000 + n));
    const compacting = blobs.compact();
    for (const [n, { hash, bytes }] of kept.entries()) {
      expect(await other.get(hash)).toEqual(bytes);
      await other.put(more.slice(n, n + 1));
    }
    await compacting;
    for (const { hash, bytes } of [...kept, ...more]) expect(await blobs.get(hash)).toEqual(bytes);
    await Promise.all([blobs.close(), other.close()]);
  });

  test('removes the file of a pack that a killed process had dropped, and no file that is new', async () => {
    const blobs = await createBlobsFs({ dir });
    await blobs.put([bodyOf(1)]);
    const [left, fresh] = [`${'a'.repeat(24)}.pack`, `${'b'.repeat(24)}.pack`];
    for (const name of [left, fresh]) writeFileSync(join(dir, name), 'left over');
    utimesSync(join(dir, left), 1, 1);
    await blobs.compact();
    expect(packs()).not.toContain(left);
    expect(packs()).toContain(fresh);
    expect(await blobs.get(bodyOf(1).hash)).toEqual(bodyOf(1).bytes);
    await blobs.close();
  });

  test('loses nothing when it is killed at any moment', { timeout: 120_000 }, async () => {
    const said: number[] = [];
    for (let kill = 0; kill < 8; kill += 1) {
      const child: ChildProcess = spawn(
        process.execPath,
        [
          '--disable-warning=ExperimentalWarning',
          '--input-type=module',
          '-e',
          CHURN,
          DRIVER,
          dir,
          String(kill * 100_000),
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      let heard = 0;
      // By what it has done, a little more each time; where in its work that is, differs by chance.
      child.stdout?.on('data', (chunk: Buffer) => {
        for (const line of chunk.toString().split('\n')) if (line !== '') said.push(Number(line));
        heard += 1;
        if (heard > kill + 2) child.kill('SIGKILL');
      });
      await once(child, 'exit');
    }
    const blobs = await createBlobsFs({ dir });
    expect(said.length).toBeGreaterThan(20);
    for (const n of said) expect(await blobs.get(bodyOf(n).hash)).not.toBeNull();
    await removeAllBut(blobs, new Set(said.map((n) => bodyOf(n).hash)));
    await blobs.compact();
    for (const n of said) expect(await blobs.get(bodyOf(n).hash)).not.toBeNull();
    await blobs.close();
  });
});
