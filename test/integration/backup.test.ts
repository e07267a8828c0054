import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type BackupRef,
  filePlaceOf,
  type Installation,
} from '../../src/capabilities/backup/installation.ts';
import type { ContentHash } from '../../src/core/model/ids.ts';
import type { Job } from '../../src/core/model/job.ts';
import { BACKUP_TOOLS } from '../../src/wiring/backups.ts';
import { openFiles } from '../../src/wiring/open-blobs.ts';
import { openScheduledBackups } from '../../src/wiring/scheduled-backups.ts';
import { isFleetProfile, takeFleetPlace } from './fleet-place.ts';
import { type HeldSite, startHeldSite } from './held-site.ts';
import { byPath, openScraper, openWorld, QUICK_POLICY, type Scraper, type World } from './world.ts';

const PAGES = 120;
const LIMIT_MS = 300_000;
const { makeBackup, checkBackup, restoreBackup } = BACKUP_TOOLS;
const PLAIN = { hasVaultKey: false, isVerified: true };

let world: World;
let folder: string;
/** Has the last page of the crawl, so that it does not end before the backup. */
let held: HeldSite;
const opened: Scraper[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scrapifie-backup-'));
  held = await startHeldSite();
  // In the fleet profile, hosts of a restored store wait for the leases of the former one.
  world = await openWorld({ site: { pages: PAGES }, settings: { hostLeaseMs: 5_000 } });
});
afterEach(async () => {
  for (const scraper of opened.splice(0)) await scraper.close();
  await held.close();
  await world.close();
  await rm(folder, { recursive: true, force: true });
}, LIMIT_MS);

const WAIT = { timeout: 60_000, interval: 5 };
const untilPages = (scraper: Scraper, job: Pick<Job, 'id'>, least: number) =>
  vi.waitFor(async () => expect((await scraper.look(job)).counters.pages).toBeGreaterThan(least), WAIT);

const file = (name: string): BackupRef => ({ place: { folder }, name });

/** Another place of the same profile, and how to open a scraper there. */
async function emptyPlace(): Promise<{ installation: Installation; open: () => Promise<Scraper> }> {
  const place = await takeFleetPlace();
  const dataDir = join(folder, 'restored');
  const { databaseUrl, s3Url } = { databaseUrl: undefined, s3Url: undefined, ...place?.settings };
  return {
    installation: { ...world.platform.settings, dataDir, databaseUrl, s3Url },
    async open() {
      await mkdir(dataDir, { recursive: true });
      const scraper = await openScraper({ dataDir, place, policy: QUICK_POLICY });
      opened.push(scraper);
      return scraper;
    },
  };
}

async function outcomeOf(scraper: Scraper, job: Pick<Job, 'id'>) {
  const ledger = byPath(await scraper.ledger(job));
  const pages = await scraper.pages(job);
  for (const { contentHash } of pages) {
    expect(await scraper.platform.blobs.get(contentHash as ContentHash)).not.toBeNull();
  }
  return {
    states: Object.fromEntries([...ledger].map(([path, { state }]) => [path, state]).sort()),
    bodies: Object.fromEntries(pages.map(({ url, contentHash }) => [url, contentHash]).sort()),
    counters: (await scraper.look(job)).counters,
  };
}

describe('a backup that is made during a crawl', { timeout: LIMIT_MS }, () => {
  it('is restored elsewhere and goes on to the same result', async () => {
    const job = await world.crawl({
      urls: [`${world.site.hostUrl(1)}/big/`, `${held.origin}/held`],
      sitemap: 'skip',
      maxDepth: 10,
      // The held page waits for as long as the backup takes.
      options: { timeoutMs: 120_000 },
    });
    await untilPages(world, job, 20);
    await vi.waitFor(() => expect(held.waiting()).toBe(1), WAIT);
    const report = await makeBackup(world.platform.settings, file('crawl.backup'), PLAIN);
    expect(await checkBackup(file('crawl.backup'))).toMatchObject({ id: report.id, tables: report.tables });
    held.release();
    await world.ended(job);
    const undisturbed = await outcomeOf(world, job);
    expect(undisturbed.counters.pages).toBe(PAGES + 1);

    const { installation, open } = await emptyPlace();
    await restoreBackup(file('crawl.backup'), installation);
    const restored = await open();
    expect((await restored.look(job)).finishedAt).toBeNull();
    await vi.waitFor(() => expect(held.waiting()).toBe(1), WAIT);
    held.release();
    await restored.ended(job);
    expect(await outcomeOf(restored, job)).toEqual(undisturbed);
  });
});

describe('backups by schedule', { timeout: LIMIT_MS }, () => {
  it('are written and verified in a thread, in a folder or a bucket, when one is due', async () => {
    await world.crawlNow({ urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip', maxDepth: 1 });
    const bucket = new URL(world.platform.settings.s3Url ?? 'http://none/').pathname.slice(1);
    const backupTo = isFleetProfile() ? `s3://${bucket}/backups` : join(folder, 'backups');
    const settings = { ...world.platform.settings, backupTo };
    let now = Date.UTC(2026, 0, 1);
    const scheduled = await openScheduledBackups(settings, () => now, world.logger);
    const tick = () => scheduled?.run(new AbortController().signal);
    await tick();
    now += 3_600_000;
    await tick();
    const place = filePlaceOf(backupTo, folder, settings.s3Url);
    const files = await openFiles(place);
    const names = async () => (await files.list()).map(({ name }) => name).sort();
    expect(await names()).toEqual(['scrapifie-20260101T000000Z.backup']);
    const report = await checkBackup({ place, name: 'scrapifie-20260101T000000Z.backup' });
    expect(report.tables).toMatchObject({ jobs: { rows: 1 } });
    expect(report.vault.isIncluded).toBe(false);
    now += 24 * 3_600_000;
    await tick();
    expect(await names()).toHaveLength(2);
    await files.remove('scrapifie-20260101T000000Z.backup');
    expect(await names()).toEqual(['scrapifie-20260102T010000Z.backup']);
    expect(world.warnings).toEqual([]);
    await files.close();
    await scheduled?.close();
  });
});
