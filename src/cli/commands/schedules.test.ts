import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import { NO_LIMITS } from '../../model/account.ts';
import type { AccountId } from '../../model/ids.ts';

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));

let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'scrapifie-schedules-'));
  const store = await createSqliteStore({ path: join(dir, 'scrapifie.db') });
  await store.migrate();
  await store.createAccount(
    { id: 'tenant' as AccountId, name: 'Tenant', plan: 'custom', limits: NO_LIMITS },
    null,
  );
  await store.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const run = (...args: string[]) =>
  new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    const argv = ['--disable-warning=ExperimentalWarning', MAIN, 'schedules', ...args, '--data-dir', dir];
    const env = { PATH: process.env.PATH ?? '' };
    execFile(process.execPath, argv, { cwd: dir, env }, (error, stdout, stderr) =>
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });

/** A repeated test must not find what the first one left. */
let made = 0;
const newName = () => {
  made += 1;
  return `news-${made}`;
};

describe('schedules on the command line', () => {
  it('are those of the account that is named, in a data folder', async () => {
    const name = newName();
    const times = ['--every', '1d', '--account', 'tenant'];
    expect((await run('create', name, 'https://example.com/', ...times)).stderr).toBe('');
    expect((await run('list', '--account', 'tenant')).stdout).toContain(name);
    expect((await run('list')).stdout).not.toContain(name);
    const absent = await run('list', '--account', 'absent');
    expect([absent.exitCode === 0, absent.stderr]).toEqual([
      false,
      expect.stringContaining('no account absent'),
    ]);
  });

  it('are made from options, listed and run', async () => {
    const name = newName();
    const times = ['--cron', '30 2 * * *', '--time-zone', 'Europe/Berlin'];
    const created = await run(
      ...['create', name, 'https://example.com/', '--kind', 'crawl', '--max-pages', '5', ...times, '--json'],
    );
    expect([created.exitCode, created.stderr]).toEqual([0, '']);
    expect(JSON.parse(created.stdout)).toMatchObject({
      name,
      cron: '30 2 * * *',
      timeZone: 'Europe/Berlin',
      job: { kind: 'crawl', urls: ['https://example.com/'], maxPages: 5 },
    });
    expect((await run('list')).stdout).toMatch(/news-\d+\s+active\s+30 2 \* \* \*\s+Europe\/Berlin\s+crawl/);
    expect((await run('run', name)).stdout).toMatch(/^Job \S+ has begun\.\n$/);
    expect((await run('history', name)).stdout).toMatch(/manual\s+started\s+\S+\s+queued/);
  });

  it('are made from a file, paused and deleted', async () => {
    const name = newName();
    writeFileSync(
      join(dir, 'prices.yaml'),
      'every: 15m\noverlap: queue\njob: { kind: scrape, url: "https://example.com/" }\n',
    );
    const created = await run('create', name, '--file', 'prices.yaml', '--json');
    expect(JSON.parse(created.stdout)).toMatchObject({ name, everyMs: 900_000, overlap: 'queue' });
    expect((await run('pause', name)).stdout).toMatch(/status\s+paused/);
    expect((await run('delete', name)).exitCode).toBe(0);
    expect((await run('show', name)).stderr).toMatch(/There is no schedule "news-\d+"/);
  });

  it('with a wrong line are refused under the name of the option', async () => {
    const wrong = await run('create', 'bad', 'https://example.com/', '--cron', '0 0 31 2 *');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/--cron.*never fires/s)]);
    const preview = await run('preview', '--cron', '0 9 * * MON#1', '--json');
    expect(JSON.parse(preview.stdout).items).toHaveLength(10);
  });
});
