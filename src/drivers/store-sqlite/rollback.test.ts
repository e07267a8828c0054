import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createJob, done, hostOf, newTask, take, urlsOn } from '../../../test/contract/store/fixtures.ts';
import { openTimed, type TimedStore } from '../../../test/contract/store/timed-store.ts';
import type { NewTask } from '../../core/model/task.ts';
import { openSqliteDatabase } from './database.ts';
import { createSqliteStore } from './sqlite-store.ts';

const DISK_BYTES = 16 * 1_048_576;
const FREE_BYTES = 300_000;

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-rollback-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A disk that can be filled without harm; null where this machine does not allow to mount one. */
function mountDisk(dir: string): string | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', dir], { stdio: 'pipe' });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir], { stdio: 'pipe' }));
  return dir;
}

async function open(dir: string): Promise<TimedStore> {
  const store = await openTimed((now) => createSqliteStore({ path: join(dir, 'scrapifie.db'), now }));
  onTestFinished(() => store.close());
  await store.migrate();
  return store;
}

/** A task that the database cannot store: it fails after the row of its host was made. */
const unstorable = (url: string): NewTask => newTask(url, { kind: {} as unknown as NewTask['kind'] });

/** Both hosts are offered, and each hands out its own URLs to its own lease. */
async function expectApart(store: TimedStore, hosts: readonly string[]): Promise<void> {
  const offers = await store.offerHosts(Date.now(), 100);
  expect(offers.map(({ key }) => key).sort()).toEqual([...hosts].sort());
  for (const host of hosts) {
    const { lease, tasks } = await take(store, host);
    expect(new Set(tasks.map(({ url }) => hostOf(url)))).toEqual(new Set([host]));
    const { rejected } = await store.commit(
      tasks.map((task) => done(lease, task)),
      Date.now(),
    );
    expect(rejected).toEqual([]);
  }
}

describe('a host that was made by a call that failed', () => {
  it('is made again by the next call, and no other host gets its URLs', async () => {
    const store = await open(await folder());
    await createJob(store, urlsOn('old.test', 1));
    await expect(createJob(store, [unstorable('https://new.test/')])).rejects.toThrow();
    await createJob(store, urlsOn('new.test', 2));
    await createJob(store, urlsOn('other.test', 2));
    await expectApart(store, ['old.test', 'new.test', 'other.test']);
  });

  it('is made again when the call that failed was committed together with others', async () => {
    const store = await open(await folder());
    const calls = [
      createJob(store, urlsOn('before.test', 1)),
      createJob(store, [unstorable('https://new.test/')]),
      createJob(store, urlsOn('after.test', 1)),
      createJob(store, urlsOn('new.test', 2)),
    ];
    const outcomes = (await Promise.allSettled(calls)).map(({ status }) => status);
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    await createJob(store, urlsOn('other.test', 2));
    await expectApart(store, ['before.test', 'after.test', 'new.test', 'other.test']);
  });

  it('is made again after a full disk has taken the whole transaction back', async ({ skip }) => {
    const disk = mountDisk(await folder());
    if (disk === null) return skip('a small disk of its own needs the right to mount one');
    const store = await open(disk);
    await createJob(store, urlsOn('old.test', 1));
    const ballast = join(disk, 'ballast');
    const { bavail, bsize } = statfsSync(disk);
    await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - FREE_BYTES)));
    const tooMuch = urlsOn('new.test', 5_000).map((url) => `${url}/${'x'.repeat(500)}`);
    await expect(createJob(store, tooMuch)).rejects.toMatchObject({ code: 'DISK_FULL' });

    await rm(ballast);
    const first = await createJob(store, urlsOn('new.test', 2));
    const second = await createJob(store, urlsOn('other.test', 2));
    await expectApart(store, ['old.test', 'new.test', 'other.test']);
    for (const { id } of [first, second])
      expect(await store.getJob(id)).toMatchObject({ status: 'completed' });
  });
});

describe('references', () => {
  it('hold: no task without its host and job, no page without its task', async () => {
    const dir = await folder();
    const store = await open(dir);
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit(
      tasks.map((task) => done(lease, task)),
      Date.now(),
    );
    const database = openSqliteDatabase(join(dir, 'scrapifie.db'));
    onTestFinished(() => database.close());
    expect(database.get('PRAGMA foreign_keys')).toEqual({ foreign_keys: 1 });
    for (const sql of [
      'UPDATE tasks SET host_id = 4711',
      'DELETE FROM hosts',
      'DELETE FROM jobs',
      'DELETE FROM tasks',
      'UPDATE pages SET task_id = 4711 WHERE seq = 1',
    ]) {
      expect(() => database.run(sql), sql).toThrow('constraints');
    }
    expect(await store.deleteJob(id)).toBe(true);
    const left = database.get('SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM pages) AS n');
    expect(left).toEqual({ n: 0 });
  });

  it('are looked up by an index when a job is deleted', async () => {
    const dir = await folder();
    await open(dir);
    const database = openSqliteDatabase(join(dir, 'scrapifie.db'));
    onTestFinished(() => database.close());
    for (const [table, column] of [
      ['pages', 'task_id'],
      ['tasks', 'job_seq'],
    ]) {
      const [plan] = database.all(`EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${column} = 1`);
      expect(String(plan?.detail)).toMatch(/^SEARCH .* USING (?:COVERING )?INDEX/);
    }
  });
});
