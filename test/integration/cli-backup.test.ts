import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadContent } from '../../src/capabilities/backup/backup-content.ts';
import { contentOfBackup, verifyBackup } from '../../src/capabilities/backup/backup-file.ts';
import type { BackupReport } from '../../src/capabilities/backup/installation.ts';
import { openTarget } from '../../src/wiring/copy-places.ts';
import { openFiles } from '../../src/wiring/open-blobs.ts';
import { endCommands, runCommand, startCommand, temporaryFolder } from './cli-command.ts';
import { openWorld, type World } from './world.ts';

/** Commands that are killed in the middle, in a data folder; test/fleet/move.test.ts has servers. */
const PAGES = 150;
const LIMIT_MS = 180_000;
const WAIT = { timeout: 60_000, interval: 2 };

let world: World;
const folder = temporaryFolder();
beforeAll(async () => {
  world = await openWorld({ site: { pages: PAGES } });
  await world.crawlNow({ urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip', maxDepth: 10 });
}, LIMIT_MS);
afterEach(async () => {
  for (const name of readdirSync(folder.path('')))
    await rm(folder.path(name), { recursive: true, force: true });
});
afterAll(async () => {
  await endCommands();
  await world.close();
  folder.remove();
}, LIMIT_MS);

const file = (name: string) => folder.path(name);
const target = () => folder.path('target');

/** Starts a command and kills it as soon as this holds; false when it had ended before. */
async function killWhen(args: readonly string[], isTime: () => boolean): Promise<boolean> {
  const command = startCommand(args);
  let hasEnded = false;
  void command.ended.then(() => {
    hasEnded = true;
  });
  await vi.waitFor(() => expect(isTime() || hasEnded).toBe(true), WAIT);
  const wasInTime = !hasEnded;
  command.child.kill('SIGKILL');
  await command.ended;
  return wasInTime;
}

async function report(args: readonly string[]): Promise<BackupReport> {
  const { exitCode, stdout, stderr } = await runCommand([...args, '--json']);
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as BackupReport;
}

const names = (dir: string) => (existsSync(dir) ? readdirSync(dir) : []);
const failure = async (args: readonly string[]) => {
  const { exitCode, stderr } = await runCommand(args);
  return [exitCode, /error ([A-Z_]+):/.exec(stderr)?.[1]];
};

describe('a command that is killed', { timeout: LIMIT_MS }, () => {
  it('backup: leaves no backup, and the next one is whole', async () => {
    const args = ['backup', file('killed.backup'), '--data-dir', world.dataDir];
    expect(await killWhen(args, () => existsSync(file('killed.backup.partial')))).toBe(true);
    expect(existsSync(file('killed.backup'))).toBe(false);
    // What it left is no backup either.
    expect(await failure(['verify', file('killed.backup.partial')])).toEqual([5, 'BACKUP_DAMAGED']);
    await world.platform.store.endWork('blob-sweep', await leaseOwner());
    const { bodies } = await report(args);
    expect(bodies).toMatchObject({ absent: 0 });
    expect(await report(['verify', file('killed.backup')])).toMatchObject({ bodies });
  });

  it('restore: leaves a folder in which no server starts, and goes on to the same', async () => {
    const made = await report(['backup', file('whole.backup'), '--data-dir', world.dataDir]);
    const args = ['restore', file('whole.backup'), '--data-dir', target()];
    const moments = [
      () => names(target()).includes('scrapifie-restoring'),
      () => names(join(target(), 'blobs')).some((name) => name.endsWith('.pack')),
      () => names(target()).includes('scrapifie.db.draft'),
    ];
    for (const moment of moments) {
      await killWhen(args, moment);
      if (names(target()).includes('scrapifie.db')) continue;
      if (names(join(target(), 'blobs')).length === 0) continue;
      expect(await failure(['jobs', 'list', '--data-dir', target()])).toEqual([5, 'DATA_DIR_UNUSABLE']);
    }
    expect((await report(args)).tables).toEqual(made.tables);
    expect(names(target())).not.toContain('scrapifie-restoring');
    expect(await failure(args)).toEqual([5, 'PLACE_NOT_EMPTY']);
  });

  it('restore: killed after its last row and before it said so, it finds out that all is there', async () => {
    const made = await report(['backup', file('last.backup'), '--data-dir', world.dataDir]);
    const files = await openFiles({ folder: folder.path('') });
    const open = () => files.read('last.backup');
    const place = { ...world.platform.settings, dataDir: target() };
    const interrupted = await openTarget(place);
    await loadContent(contentOfBackup(open, await verifyBackup(open)), interrupted);
    await interrupted.close();
    expect(names(target())).toContain('scrapifie-restoring');
    const again = await report(['restore', file('last.backup'), '--data-dir', target()]);
    expect(again.tables).toEqual(made.tables);
    expect(names(target())).not.toContain('scrapifie-restoring');
  });

  it('move: leaves the former place as it was, and goes on to the same', async () => {
    const source = folder.path('source');
    await report(['backup', file('source.backup'), '--data-dir', world.dataDir]);
    await report(['restore', file('source.backup'), '--data-dir', source]);
    const args = ['move', '--data-dir', source, '--to', target()];
    await killWhen(args, () => names(join(target(), 'blobs')).some((name) => name.endsWith('.pack')));
    await killWhen(args, () => names(target()).includes('scrapifie.db.draft'));
    const { exitCode } = await runCommand(['jobs', 'list', '--data-dir', source]);
    expect(exitCode).toBe(0);
    if (!names(target()).includes('scrapifie.db')) await report(args);
    const { exitCode: after } = await runCommand(['jobs', 'list', '--data-dir', target()]);
    expect(after).toBe(0);
  });
});

describe('a backup that cannot be used', { timeout: LIMIT_MS }, () => {
  it('changes nothing in the place', async () => {
    await report(['backup', file('cut.backup'), '--data-dir', world.dataDir]);
    await copyFile(file('cut.backup'), file('cut-off.backup'));
    await truncate(file('cut-off.backup'), 20_000);
    expect(await failure(['restore', file('cut-off.backup'), '--data-dir', target()])).toEqual([
      5,
      'BACKUP_DAMAGED',
    ]);
    expect(await failure(['restore', file('none.backup'), '--data-dir', target()])).toEqual([2, 'NOT_FOUND']);
    expect(names(target())).toEqual([]);
    await mkdir(target());
    await writeFile(join(target(), 'notes.txt'), 'mine');
    expect(await failure(['restore', file('cut.backup'), '--data-dir', target()])).toEqual([
      5,
      'PLACE_NOT_EMPTY',
    ]);
    expect(await failure(['backup', file('cut.backup'), '--data-dir', world.dataDir])).toEqual([
      2,
      'CONFLICT',
    ]);
    expect(await failure(['move', '--data-dir', world.dataDir, '--to', join(target(), 'new')])).toEqual([
      5,
      'DATA_DIR_LOCKED',
    ]);
  });
});

/** The process that was killed still has the lease, for a minute. */
async function leaseOwner(): Promise<string> {
  const database = new DatabaseSync(join(world.dataDir, 'scrapifie.db'), { readOnly: true, timeout: 5_000 });
  const row = database.prepare(`SELECT owner FROM work_leases WHERE name = 'blob-sweep'`).get();
  database.close();
  return String(row?.owner);
}
