import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sweepBlobs } from '../../src/capabilities/jobs/maintenance/blob-sweep.ts';
import type { ContentHash } from '../../src/core/model/ids.ts';
import { LEAST_GRACE_MS } from '../../src/core/ports/blobs.ts';
import { isFleetProfile } from './fleet-place.ts';
import { openWorld, type World } from './world.ts';

const PAGES = 60;
const LIMIT_MS = 120_000;

let world: World;
beforeEach(async () => {
  world = await openWorld({ site: { pages: PAGES } });
});
afterEach(() => world.close());

const crawl = (path: string) =>
  world.crawl({ urls: [`${world.site.hostUrl(1)}${path}`], sitemap: 'skip', maxDepth: 10 });
const stored = async () =>
  new Set((await Array.fromAsync(world.platform.blobs.list())).map(({ hash }) => hash));
const sweep = (graceMs: number) =>
  sweepBlobs({ store: world.platform.store, blobs: world.platform.blobs, transit: null }, { graceMs });

async function bodiesOf(...jobs: readonly { readonly id: Parameters<World['look']>[0]['id'] }[]) {
  const pages = await Promise.all(jobs.map((job) => world.pages(job)));
  return new Set(pages.flat().flatMap(({ contentHash }) => (contentHash === null ? [] : [contentHash])));
}

describe('after a job was deleted', { timeout: LIMIT_MS }, () => {
  it('a sweep leaves the bodies of the jobs that remain, and all of them', async () => {
    const first = await world.ended(await crawl('/big/'));
    const second = await world.ended(
      await world.batch({ urls: [`${world.site.hostUrl(1)}/big/`, `${world.site.hostUrl(2)}/`] }),
    );
    const remaining = await bodiesOf(second);
    expect((await stored()).size).toBeGreaterThanOrEqual(PAGES);
    // Beside a running process everything is too young to go.
    expect(await sweep(LEAST_GRACE_MS)).toMatchObject({ removed: { objects: 0 } });
    await world.platform.store.deleteJob(first.id);
    const report = await sweep(0);
    expect(report?.removed.objects).toBeGreaterThanOrEqual(PAGES - remaining.size);
    expect(await stored()).toEqual(remaining);
    for (const hash of remaining) expect(await world.platform.blobs.get(hash as ContentHash)).not.toBeNull();
    expect(await sweep(0)).toMatchObject({ found: { objects: remaining.size }, removed: { objects: 0 } });
  });

  it('a crawl that finds the same old bodies again loses none of them to the sweeps beside it', async ({
    skip,
  }) => {
    if (isFleetProfile())
      return skip('the age of objects cannot be changed; the contract has copies that count as old');
    const first = await world.ended(await crawl('/big/'));
    const before = await bodiesOf(first);
    await world.platform.store.deleteJob(first.id);
    const index = new DatabaseSync(join(world.dataDir, 'blobs', 'index.db'), { timeout: 10_000 });
    index.exec(`UPDATE blobs SET stamped_at = stamped_at - ${4 * LEAST_GRACE_MS}`);
    index.close();
    const second = await crawl('/big/');
    let removed = 0;
    let job = await world.look(second);
    while (job.finishedAt === null) {
      removed += (await sweep(LEAST_GRACE_MS))?.removed.objects ?? 0;
      job = await world.look(second);
    }
    expect(job.counters).toMatchObject({ pages: PAGES, failed: 0 });
    const bodies = await bodiesOf(second);
    expect(bodies).toEqual(before);
    for (const hash of bodies) expect(await world.platform.blobs.get(hash as ContentHash)).not.toBeNull();
    expect(removed).toBeGreaterThan(0);
  });
});
