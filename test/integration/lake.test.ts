import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compactLake } from '../../src/capabilities/lake/compact.ts';
import {
  collectOrphans,
  collectReplaced,
  createLakeKeeper,
} from '../../src/capabilities/lake/lake-keeper.ts';
import { manifestPath } from '../../src/capabilities/lake/lake-layout.ts';
import type { LakeRow } from '../../src/capabilities/lake/lake-rows.ts';
import { decodeParquet } from '../../src/capabilities/lake/parquet-file.ts';
import { drainEvents, rebuildLake } from '../../src/capabilities/lake/rebuild.ts';
import type { Job } from '../../src/core/model/job.ts';
import type { LakeFile, LakeTable } from '../../src/core/ports/lake-store.ts';
import { openWorld, type World } from './world.ts';

const PAGES = 25;
const LIMIT_MS = 120_000;

let world: World;
beforeEach(async () => {
  world = await openWorld({ site: { pages: PAGES } });
});
afterEach(() => world.close());

const urls = (host: number, count = PAGES) =>
  Array.from({ length: count }, (_, page) => `${world.site.hostUrl(host)}/big/${page}`);
const parts = () => world.platform.lake.parts;
const view = () => parts().store.viewLake({ accountId: world.account, mostFiles: 10_000 });

async function crawled(host: number, count?: number): Promise<Job> {
  return settled(await world.batchNow({ urls: urls(host, count), lake: true }));
}

/** Waits until what the job has committed is in the lake. */
async function settled(job: Job): Promise<Job> {
  await drainEvents([job], parts());
  return world.settled(job);
}

async function rowsOf(files: readonly LakeFile[], table: LakeTable): Promise<LakeRow[]> {
  const rows: LakeRow[] = [];
  for (const { path, table: of } of files) {
    if (of !== table) continue;
    const bytes = await parts().files.read(path);
    if (bytes === null) throw new Error(`${path} is missing.`);
    rows.push(...(await Array.fromAsync(decodeParquet(bytes))).flat());
  }
  return rows;
}

const urlsIn = (rows: readonly LakeRow[]) => rows.map(({ url }) => String(url)).toSorted();
/** Files whose removal is due at once. */
const later = () => ({ ...parts(), now: () => Date.now() + 10_000_000 });

describe('the lake', { timeout: LIMIT_MS }, () => {
  it('has every page of a job that asked for it once, with its links, and none of the others', async () => {
    const job = await crawled(1);
    await world.batchNow({ urls: urls(2) });
    const { files } = await view();
    const rows = await rowsOf(files, 'pages');
    expect(urlsIn(rows)).toEqual(urls(1).toSorted());
    expect(new Set(rows.map(({ job_id }) => job_id))).toEqual(new Set([job.id]));
    const results = await world.pages(job);
    for (const row of rows) {
      const page = results.find(({ url }) => url === row.url);
      expect(row).toMatchObject({ title: page?.metadata?.title ?? null, status_code: page?.statusCode });
    }
    const links = results.reduce((sum, page) => sum + (page.links?.length ?? 0), 0);
    expect(await rowsOf(files, 'links')).toHaveLength(links);
    expect(links).toBeGreaterThan(PAGES);
    expect(rows.reduce((sum, { link_count }) => sum + Number(link_count), 0)).toBe(links);
  });

  it('can be asked by SQL, and forgets a deleted job at once', async () => {
    const [one, two] = [await crawled(1), await crawled(2, 5)];
    const ask = async (sql: string) => {
      const request = { sql, limit: 100, timeoutMs: 30_000 };
      const reader = { accountId: world.account, hasPrivate: true };
      const result = await world.platform.lake.sql.run(reader, request);
      return Array.fromAsync(result.rows);
    };
    const counts = 'SELECT job_id, count(*) FROM pages GROUP BY job_id ORDER BY count(*)';
    expect(await ask(counts)).toEqual([
      [two.id, 5],
      [one.id, PAGES],
    ]);
    await world.platform.store.deleteJob(one.id);
    expect(await ask(counts)).toEqual([[two.id, 5]]);
    expect(await ask(`SELECT count(*) FROM links WHERE job_id = '${one.id}'`)).toEqual([[0]]);
  });

  it('is compacted into one file for each partition, without rows of deleted jobs', async () => {
    const one = await crawled(1);
    await crawled(1, 7);
    const before = await view();
    const report = await compactLake(world.account, parts(), { mostSteps: 100, isForced: true });
    expect(report).toMatchObject({ droppedRows: 0 });
    const merged = await view();
    expect(new Set(merged.files.map(({ table }) => table)).size).toBe(merged.files.length);
    expect(urlsIn(await rowsOf(merged.files, 'pages'))).toEqual([...urls(1), ...urls(1, 7)].toSorted());
    // Files that were replaced stay for those who read them, for a while.
    expect(await collectReplaced(parts())).toBe(0);
    for (const { path } of before.files) expect(await parts().files.read(path)).not.toBeNull();
    expect(await collectReplaced(later())).toBe(report.replacedFiles);
    await world.platform.store.deleteJob(one.id);
    expect((await compactLake(world.account, parts(), { mostSteps: 100 })).droppedRows).toBeGreaterThan(
      PAGES,
    );
    const left = await view();
    expect(urlsIn(await rowsOf(left.files, 'pages'))).toEqual(urls(1, 7).toSorted());
    expect(left.rules).toEqual([]);
    // Nothing is left to do.
    const again = await compactLake(world.account, parts(), { mostSteps: 100 });
    expect(again.replacedFiles).toBe(0);
  });

  it('has the page of a retry in place of the one that failed', async () => {
    const missing = `${world.site.hostUrl(1)}/there-is-no-such-page`;
    const job = await settled(await world.batchNow({ urls: [missing, ...urls(1, 3)], lake: true }));
    await world.platform.jobs.retry(job.id, world.account);
    await settled(await world.ended(job));
    const stored = await parts().store.lakePagesAfter(job.id, 0, 100);
    expect(stored).toHaveLength(4);
    expect(await rowsOf((await view()).files, 'pages')).toHaveLength(5);
    await compactLake(world.account, parts(), { mostSteps: 100, isForced: true });
    const rows = await rowsOf((await view()).files, 'pages');
    expect(rows.map(({ page_seq }) => Number(page_seq)).toSorted()).toEqual(
      stored.map(({ seq }) => seq).toSorted(),
    );
  });

  it('removes files that never became part of it, and leaves strange ones alone', async () => {
    await crawled(1, 3);
    const [file] = (await view()).files;
    if (file === undefined) throw new Error('There is no file.');
    const orphan = file.path.replace(file.id, '000000000001-0123456789abcdef');
    await parts().files.write(orphan, new Uint8Array([1]));
    await parts().files.write(`${world.account}/notes.txt`, new Uint8Array([1]));
    await parts().files.write(
      `acc_gone/pages/domain=x/date=2026-01-01/${file.id}0.parquet`,
      new Uint8Array(),
    );
    expect(await collectOrphans(parts())).toBe(2);
    expect(await parts().files.read(orphan)).toBeNull();
    expect(await parts().files.read(file.path)).not.toBeNull();
    expect(await parts().files.read(`${world.account}/notes.txt`)).not.toBeNull();
  });

  it('is built again from the stored pages, row for row', async () => {
    await crawled(1);
    await crawled(2, 4);
    const before = await view();
    const rows = await rowsOf(before.files, 'pages');
    await parts().files.remove(before.files.slice(0, 2).map(({ path }) => path));
    const report = await rebuildLake(world.account, parts());
    expect(report).toMatchObject({ jobs: 2, pages: PAGES + 4 });
    const rebuilt = await view();
    const key = (row: LakeRow) => Number(row.page_seq);
    const sorted = (all: readonly LakeRow[]) => all.toSorted((a, b) => key(a) - key(b));
    expect(sorted(await rowsOf(rebuilt.files, 'pages'))).toEqual(sorted(rows));
    // Rows of a job that begins later come once.
    await crawled(3, 2);
    expect(await rowsOf((await view()).files, 'pages')).toHaveLength(PAGES + 6);
  });

  it('is listed in a manifest beside the data', async () => {
    await crawled(1, 3);
    const keeper = createLakeKeeper({ ...parts(), queue: world.platform.queue });
    await keeper.run();
    const bytes = await parts().files.read(manifestPath(world.account));
    const manifest = JSON.parse(Buffer.from(bytes ?? []).toString('utf8'));
    const { files, version } = await view();
    expect(manifest).toMatchObject({ format: 'scrapifie-lake', version, schemaVersion: 1, hidden: [] });
    const listed = Object.values(manifest.tables as Record<string, { files: { path: string }[] }>).flatMap(
      (table) => table.files.map(({ path }) => `${world.account}/${path}`),
    );
    expect(listed.toSorted()).toEqual(files.map(({ path }) => path).toSorted());
  });

  it('goes on where it was after a restart', async () => {
    await crawled(1, 3);
    const again = await world.reopen();
    world = {
      ...world,
      ...again,
      close: async () => {
        await again.close();
        await world.site.close();
      },
    };
    await crawled(2, 2);
    const { files } = await view();
    expect(await rowsOf(files, 'pages')).toHaveLength(5);
  });
});
