import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/integration/cli-command.ts';
import { openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { NO_LIMITS } from '../../core/ports/account-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';

const TENANT = { id: 'tenant' as AccountId, name: 'Tenant', plan: 'custom', limits: NO_LIMITS };
let dir: string;
let store: Store;
let platform: Platform;
let api: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'scrapifie-terms-'));
  store = await createSqliteStore({ path: join(dir, 'scrapifie.db') });
  await store.migrate();
  platform = await openPlatform();
  api = await platform.api.listen({ host: '127.0.0.1', port: 0 });
  for (const each of [store, platform.store]) await each.createAccount(TENANT, null);
});
afterAll(async () => {
  await store.close();
  await platform.close();
  rmSync(dir, { recursive: true, force: true });
});

const inFolder = (...args: string[]) => runCommand([...args, '--data-dir', dir]);
const onServer = (...args: string[]) =>
  runCommand([...args, '--api', api], { env: { SCRAPIFIE_API_KEY: platform.secret } });

describe.each([
  ['on a data folder', inFolder],
  ['with a server', onServer],
])('%s', (_, run) => {
  const json = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await run(...args, '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return JSON.parse(stdout.split('\n')[0] ?? '') as Record<string, unknown>;
  };

  it('credits of an account are limited, granted once for a key, taken, shown and lifted', async () => {
    expect((await run('credits', 'show', 'tenant')).stdout).toBe('Account tenant is not limited.\n');
    await json('credits', 'limit', 'tenant', '--monthly', '100', '--low', '5');
    const grant = ['credits', 'grant', 'tenant', '20.5', '--reason', 'invoice', '--key', 'i-1'];
    expect(await json(...grant)).toMatchObject({ kind: 'grant', amount: 20.5, reason: 'invoice' });
    expect(await json(...grant)).toMatchObject({ amount: 20.5 });
    await json('credits', 'take', 'tenant', '0.5', '--reason', 'paid back');
    const refused = await run('credits', 'take', 'tenant', '21', '--reason', 'too much');
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('balance of 20 credits')]);
    expect((await run('credits', 'show', 'tenant')).stdout).toMatch(/available +120\n.*balance +20\n/s);
    const entries = (await run('credits', 'entries', 'tenant')).stdout;
    expect(entries).toMatch(/grant +-0\.5 +paid back\n.*grant +20\.5 +invoice\n.*allowance +100 /s);
    expect(await json('credits', 'lift', 'tenant')).toEqual({ credits: null });
    expect((await run('credits', 'show', 'absent')).stderr).toMatch(/^error NOT_FOUND/);
    expect((await run('credits', 'grant', 'tenant', 'much', '--reason', 'x')).exitCode).toBe(2);
  });

  it('retention is set for an account and by the operator, and the shortest time is effective', async () => {
    const own = await json('retention', 'set', '--bodies', '24h', '--max-jobs', '10');
    expect(own).toMatchObject({ own: { bodiesMs: 86_400_000, maxJobs: 10 }, operator: null });
    const ofTenant = await json('retention', 'set', '--account', 'tenant', '--jobs', '7d');
    expect(ofTenant).toMatchObject({ own: null, operator: { jobsMs: 7 * 86_400_000 } });
    const shown = (await run('retention', 'show', '--account', 'tenant')).stdout;
    expect(shown).toMatch(/KEPT +ACCOUNT +OPERATOR +EFFECTIVE\n.*jobs +– +7 d +7 d\n/s);
    const wrong = await run('retention', 'set', '--jobs', '1s');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/--jobs: At least a minute/)]);
    expect((await run('retention', 'show', '--account', 'absent')).stderr).toMatch(/^error NOT_FOUND/);
  });
});

it('a job that has ended is deleted; one that goes on, or is not there, is refused', async () => {
  const post = (url: string, payload?: object) =>
    platform.call({ method: 'POST', url, ...(payload && { payload }) });
  const id = String((await post('/v1/batch', { urls: ['https://example.com/'] })).at('data.id'));
  expect((await onServer('jobs', 'delete', id)).stderr).toMatch(/^error CONFLICT/);
  await post(`/v1/jobs/${id}/cancel`);
  expect((await onServer('jobs', 'delete', 'latest')).stdout).toBe(`Job ${id} is deleted.\n`);
  expect((await onServer('jobs', 'delete', id)).stderr).toMatch(/^error NOT_FOUND/);
  expect((await inFolder('jobs', 'delete', 'latest')).stderr).toMatch(/^error NOT_FOUND/);
});
