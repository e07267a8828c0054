import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_LINE, commandLineKey } from '../capabilities/accounts/api-key.ts';
import { settingsSchema } from '../core/config/settings.ts';
import { type OpenCommandApi, openCommandApi } from './open-command-api.ts';

let dataDir: string;
let api: OpenCommandApi;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'scrapifie-command-'));
  api = await openCommandApi({
    settings: settingsSchema.parse({ dataDir }),
    account: undefined,
    openSql: () => Promise.reject(new Error('No lake is needed here.')),
  });
});
afterAll(async () => {
  await api.close();
  await rm(dataDir, { recursive: true, force: true });
});

const json = { 'content-type': 'application/json' };
const call = async (method: string, path: string, body?: object) => {
  const request = body === undefined ? { headers: {} } : { headers: json, body: JSON.stringify(body) };
  return (await api.send({ method, path, ...request })).json();
};

describe('the routes of the API in the process of a command', () => {
  it('answer like the API', async () => {
    expect(await call('GET', '/v1/jobs?limit=10')).toEqual({
      success: true,
      data: { items: [], nextCursor: null },
    });
  });

  it('throw what a use case throws, as it is', async () => {
    await expect(call('GET', '/v1/sessions/none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(call('POST', '/v1/webhooks', { url: 'no address' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
  });

  it('record the command line as the actor, without an address', async () => {
    await call('POST', '/v1/keys', { name: 'nightly' });
    const [entry] = (await api.store.listAudit({ limit: 1 })).items;
    expect(entry).toMatchObject({ actor: 'command line', action: 'key.create' });
    expect(entry?.details).toEqual({ scopes: ['read', 'write'] });
  });

  it('have a key that no store knows and no secret opens', async () => {
    const { hash, id } = commandLineKey(api.account);
    expect([hash, id]).toEqual(['', COMMAND_LINE]);
    expect(await api.store.findKey(hash)).toBeNull();
    expect((await api.store.listKeys(api.account)).map((key) => key.id)).not.toContain(COMMAND_LINE);
  });

  it('make a vault key when the first secret is stored, and not before', async () => {
    const keyFile = join(dataDir, 'vault.key');
    await call('GET', '/v1/credentials');
    expect(existsSync(keyFile)).toBe(false);
    await call('PUT', '/v1/credentials/shop', {
      ...{ kind: 'login', hosts: ['shop.example'], username: 'ann', password: 'secret' },
    });
    expect(existsSync(keyFile)).toBe(true);
  });
});
