import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/integration/cli-command.ts';
import { createCredentials } from '../../capabilities/sessions/credentials.ts';
import { createSessions } from '../../capabilities/sessions/sessions.ts';
import { createVault } from '../../capabilities/sessions/vault.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';

const VAULT_KEY = 'c3'.repeat(32);
const ACCOUNT = 'default' as AccountId;
const vault = createVault(VAULT_KEY);

let dir: string;
let store: Store;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'scrapifie-credentials-'));
  store = await createSqliteStore({ path: join(dir, 'scrapifie.db') });
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Runs a command on the folder with this as its standard input. */
const run = (
  args: readonly string[],
  input = '',
  env: Record<string, string> = { SCRAPIFIE_VAULT_KEY: VAULT_KEY },
) => runCommand([...args, '--data-dir', dir], { cwd: dir, env, input });

describe('credentials on the command line', () => {
  const credentials = () => createCredentials({ store, vault, service: null, now: Date.now });

  it('take the secret from standard input and show it nowhere', async () => {
    const set = await run(
      ['credentials', 'set', 'shop', '--kind', 'login', '--host', 'shop.example', '--username', 'ann'],
      'a very secret pass word \n',
    );
    expect(set).toEqual({ exitCode: 0, stdout: 'Credentials shop are stored.\n', stderr: '' });
    expect(await credentials().get(ACCOUNT, 'shop')).toEqual({
      kind: 'login',
      hosts: ['shop.example'],
      username: 'ann',
      password: 'a very secret pass word ',
    });
    const { stdout } = await run(['credentials', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'shop', kind: 'login', hosts: ['shop.example'] });
    expect(stdout).not.toMatch(/secret|ann/);
    expect((await store.listAudit({ limit: 1 })).items).toMatchObject([
      { action: 'credential.put', target: 'shop' },
    ]);
  });

  it('take several headers or cookies as lines', async () => {
    const input = 'X-Key: a:b\r\nX-Other:  c \n\n';
    await run(['credentials', 'set', 'api', '--kind', 'headers', '--host', 'api.example'], input);
    expect(await credentials().get(ACCOUNT, 'api')).toMatchObject({
      headers: { 'X-Key': 'a:b', 'X-Other': 'c' },
    });
    expect((await run(['credentials', 'delete', 'api'])).exitCode).toBe(0);
    expect((await run(['credentials', 'delete', 'api'])).stderr).toMatch(/^error NOT_FOUND/);
  });

  it.each([
    [['--kind', 'bearer', '--host', '*.com'], 'very-secret', /--host: /],
    [['--kind', 'bearer', '--host', 'a.example'], 'very secret', /The token: /],
    [['--kind', 'login', '--host', 'a.example'], 'very-secret', /needs --username/],
    [['--kind', 'cookies', '--host', 'a.example'], 'very-secret', /Line 1 has no name/],
    [['--kind', 'bearer'], 'very-secret', /--host/],
  ])('that are wrong (%j) are refused and not repeated', async (args, input, message) => {
    const { exitCode, stdout, stderr } = await run(['credentials', 'set', 'wrong', ...args], input);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/very.secret/);
  });

  it('are refused without the key that others are encrypted with', async () => {
    const args = ['credentials', 'set', 'shop', '--kind', 'bearer', '--host', 'a.example'];
    expect((await run(args, 'x', {})).stderr).toMatch(/^error INVALID_SETTINGS: .*SCRAPIFIE_VAULT_KEY/);
  });
});

describe('sessions on the command line', () => {
  it('are listed, shown without what is secret, and deleted', async () => {
    const sessions = createSessions({ store, vault, now: Date.now, hours: 24 });
    const use = await sessions.begin(ACCOUNT, 'shop');
    use.jar.store(new URL('https://shop.example/'), 'sid=a-very-secret-cookie', Date.now());
    await sessions.end(use, {});
    const list = await run(['sessions', 'list']);
    expect(list.stdout).toMatch(/shop +usable +1 /);
    const shown = await run(['sessions', 'show', 'shop']);
    expect(shown.stdout).toMatch(/cookie +sid \(shop\.example\)/);
    expect(JSON.parse((await run(['sessions', 'show', 'shop', '--json'])).stdout)).toMatchObject({
      name: 'shop',
      cookies: [{ name: 'sid', domain: 'shop.example' }],
    });
    expect(list.stdout + shown.stdout).not.toMatch(/very-secret/);
    expect((await run(['sessions', 'delete', 'shop'])).stdout).toBe('Session shop is deleted.\n');
    expect((await run(['sessions', 'show', 'shop'])).stderr).toMatch(/^error NOT_FOUND/);
  });
});
