import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../test/program.ts';
import type { Credential } from '../../capabilities/sessions/credential.ts';
import { createCredentials } from '../../capabilities/sessions/credentials.ts';
import { openOptions, sealOptions } from '../../capabilities/sessions/job-secrets.ts';
import { NO_DATA, packData } from '../../capabilities/sessions/session-data.ts';
import { createSessions } from '../../capabilities/sessions/sessions.ts';
import { createVault, type Vault } from '../../capabilities/sessions/vault.ts';
import { withVaultKeys } from '../../core/config/vault-keys.ts';
import type { AccountId, JobId, SessionId } from '../../core/model/ids.ts';
import type { JobOptions } from '../../core/model/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';

const CREDENTIAL: Credential = { kind: 'bearer', hosts: ['a.example'], token: 'canary-token' };
const SESSIONS = 400;

let dir: string;
let keyFile: string;
let account: AccountId;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'scrapifie-vault-'));
  keyFile = join(dir, 'vault.key');
  await withStore(async (store) => {
    account = await store.defaultAccount();
    const vault = await vaultOfFolder(store);
    await createCredentials({ store, vault, service: null, now: Date.now }).put(account, 'api', CREDENTIAL);
    for (let index = 0; index < SESSIONS; index += 1) {
      const name = `s${index}`;
      await store.openSession({
        id: name as SessionId,
        accountId: account,
        name,
        wish: { credentials: null, proxy: null, identity: null },
        createdAt: Date.now(),
        expiresAt: Date.now() + 3_600_000,
        // Every other one as it was stored before there was a key.
        data: packData(NO_DATA, index % 2 === 0 ? vault : null, {
          kind: 'session',
          accountId: account,
          name,
        }),
      });
    }
    const job = { id: JOB, accountId: account };
    const options = sealOptions(OPTIONS, vault, job);
    await store.createJob({ ...job, kind: 'scrape', options, seeds: [] }, []);
    await store.createJob({ ...job, id: PLAIN_JOB, kind: 'scrape', options: OPTIONS, seeds: [] }, []);
  });
}, 60_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const JOB = '019f0000-0000-7000-8000-000000000001' as JobId;
const PLAIN_JOB = '019f0000-0000-7000-8000-000000000002' as JobId;
const OPTIONS = {
  page: { headers: { 'x-token': 'canary-header' }, cookies: {}, body: null, proxy: null, render: null },
  budgets: { maxPages: null, maxBytes: null, maxDurationMs: null },
} as unknown as JobOptions;

async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  const store = await createSqliteStore({ path: join(dir, 'scrapifie.db') });
  try {
    await store.migrate();
    await work(store);
  } finally {
    await store.close();
  }
}

async function vaultOfFolder(store: Store): Promise<Vault> {
  const given = {
    vaultKey: undefined,
    vaultOldKeys: '',
    vaultKeyPath: undefined,
    allowPlainSecrets: false,
    databaseUrl: undefined,
    dataDir: dir,
  };
  const { vaultKey, vaultOldKeys } = await withVaultKeys(given, () => store.hasSealed());
  const vault = createVault(vaultKey, vaultOldKeys);
  if (vault === null) throw new Error('The folder has a key.');
  return vault;
}

function start(args: readonly string[]) {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', PROGRAM, 'vault', ...args, '--data-dir', dir],
    { cwd: dir, env: { PATH: process.env.PATH ?? '' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, stdout: text(child.stdout), stderr: text(child.stderr) };
}

const keysInFile = () => readFileSync(keyFile, 'utf8').trim().split('\n');

/** Everything opens with the keys of the folder. */
async function expectWhole(): Promise<void> {
  await withStore(async (store) => {
    const vault = await vaultOfFolder(store);
    const credentials = createCredentials({ store, vault, service: null, now: Date.now });
    expect(await credentials.get(account, 'api')).toEqual(CREDENTIAL);
    const sessions = createSessions({ store, vault, now: Date.now, hours: 24 });
    for (let index = 0; index < SESSIONS; index += 1) {
      expect((await sessions.get(account, `s${index}`)).cookies).toEqual([]);
    }
    for (const id of [JOB, PLAIN_JOB]) {
      const job = await store.getJob(id);
      expect(job && openOptions(job.options, vault, job).page.headers).toEqual({
        'x-token': 'canary-header',
      });
    }
  });
}

describe('a rotation of the vault key', { timeout: 120_000 }, () => {
  it('that is killed half-way leaves everything readable, and goes on with the key that it had made', async () => {
    const [first] = keysInFile();
    const killed = start(['rotate']);
    const watcher = watch(dir, () => {
      // The new key is in the file: records are being changed from now on.
      if (keysInFile().length === 2) killed.child.kill('SIGKILL');
    });
    await killed.ended;
    watcher.close();
    const [second, former] = keysInFile();
    expect(former).toBe(first);
    await expectWhole();

    const again = start(['rotate', '--json']);
    expect(await again.ended, await again.stderr).toBe(0);
    expect(JSON.parse(await again.stdout)).toMatchObject({ locked: 0 });
    expect(keysInFile()).toEqual([second]);
    await expectWhole();
  });

  it('encrypts what was stored without a key, and leaves nothing under the former one', async () => {
    const former = createVault(keysInFile()[0]);
    const rotation = start(['rotate', '--json']);
    expect(await rotation.ended).toBe(0);
    expect(JSON.parse(await rotation.stdout)).toMatchObject({ changed: SESSIONS + 3, locked: 0 });
    expect(keysInFile()).toHaveLength(1);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    await withStore(async (store) => {
      for (const kind of ['credential', 'session'] as const) {
        for (const record of (await store.listSecrets({ kind, limit: 1_000 })).items) {
          expect(() => former?.open(record.data, { ...record, kind })).toThrow('is encrypted with vault key');
        }
      }
      const { items } = await store.listSecrets({ kind: 'job', limit: 10 });
      expect(items.map(({ data }) => Buffer.from(data).includes('canary-header'))).toEqual([false, false]);
    });
    await expectWhole();
  });

  it('is refused where the key file is gone, and no other key is made', async () => {
    const text = readFileSync(keyFile, 'utf8');
    rmSync(keyFile);
    const refused = start(['rotate']);
    expect(await refused.ended).toBe(5);
    expect(await refused.stderr).toMatch(/^error INVALID_SETTINGS/);
    await withStore(async (store) => {
      await expect(vaultOfFolder(store)).rejects.toMatchObject({ code: 'INVALID_SETTINGS' });
    });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(keyFile, text, { mode: 0o600 });
  });
});
