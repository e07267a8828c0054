import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/integration/cli-command.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { NO_LIMITS } from '../../core/ports/account-store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';

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

const run = (...args: string[]) => runCommand(['schedules', ...args, '--data-dir', dir], { cwd: dir });

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
    const other = await run('create', newName(), '--file', 'prices.yaml', '--cron', '0 3 * * *', '--json');
    expect(JSON.parse(other.stdout)).toMatchObject({ cron: '0 3 * * *', everyMs: null, overlap: 'queue' });
    expect((await run('pause', name)).stdout).toMatch(/status\s+paused/);
    expect((await run('delete', name)).exitCode).toBe(0);
    expect((await run('show', name)).stderr).toMatch(/There is no schedule "news-\d+"/);
  });

  it('are changed by what is given, and by nothing else', async () => {
    const name = newName();
    const first = ['--cron', '0 3 * * *', '--time-zone', 'Europe/Berlin', '--overlap', 'queue'];
    await run('create', name, 'https://example.com/', '--kind', 'crawl', ...first);
    const changed = await run('change', name, '--every', '2h', '--json');
    expect(JSON.parse(changed.stdout)).toMatchObject({
      name,
      cron: null,
      everyMs: 7_200_000,
      timeZone: 'Europe/Berlin',
      overlap: 'queue',
      job: { kind: 'crawl' },
    });
    const other = await run('change', name, 'https://example.org/', '--name', `${name}-b`, '--json');
    expect(JSON.parse(other.stdout)).toMatchObject({
      name: `${name}-b`,
      everyMs: 7_200_000,
      job: { kind: 'scrape', url: 'https://example.org/' },
    });
    expect((await run('change', `${name}-b`)).stderr).toMatch(/Nothing is to be changed: give an option/);
    expect((await run('change', 'absent', '--every', '1h')).stderr).toContain('no schedule "absent"');
  });

  it.each([
    [['https://example.com/'], /no time to run at: give --cron.*or --every/],
    [
      ['https://example.com/', '--cron', '0 3 * * *', '--every', '1h'],
      /Give --cron or --every, and not both/,
    ],
    [['--every', '1h'], /nothing to run: give a URL, or --file/],
    [['--every', '1h', '--kind', 'crawl'], /--kind crawl needs a URL/],
    [['--every', '1h', '--max-pages', '5'], /--max-pages and --max-depth need URLs and --kind crawl/],
    [['https://example.com/', '--every', '1h', '--max-pages', '5'], /are for crawls: add --kind crawl/],
    [['https://a.example/', 'https://b.example/', '--kind', 'scrape', '--every', '1h'], /use --kind batch/],
    [['--file', 'empty.yaml'], /give a URL, or `job` in empty\.yaml/],
  ])('that are incomplete are refused with what to do: %j', async (args, told) => {
    writeFileSync(join(dir, 'empty.yaml'), 'every: 15m\n');
    const { exitCode, stderr } = await run('create', 'bad', ...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(told)]);
  });

  it('with a wrong line are refused under the name of the option', async () => {
    const wrong = await run('create', 'bad', 'https://example.com/', '--cron', '0 0 31 2 *');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/--cron.*never fires/s)]);
    const preview = await run('preview', '--cron', '0 9 * * MON#1', '--json');
    expect(JSON.parse(preview.stdout).items).toHaveLength(10);
  });
});
