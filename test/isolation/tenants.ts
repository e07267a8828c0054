import { newKey, newSecret } from '../../src/capabilities/accounts/api-key.ts';
import type { AccountId, JobId } from '../../src/core/model/ids.ts';
import type { KeyScope } from '../../src/core/ports/key-store.ts';
import { type Answer, lookUp, type Platform } from '../property/api-platform.ts';

/** An account with a key that may do everything in it. */
export interface Tenant {
  readonly account: AccountId;
  readonly secret: string;
  get(path: string): Promise<Answer>;
  /** Throws when it is refused. */
  post(path: string, body: object): Promise<Answer>;
  put(path: string, body: object): Promise<Answer>;
  /** Until the job has ended. */
  waitFor(job: string): Promise<void>;
  /** Until the pages of all jobs are in the history of their URLs. */
  readSnapshots(): Promise<void>;
}

export async function createTenant(platform: Platform, id: string): Promise<Tenant> {
  const account = id as AccountId;
  const made = await platform.call({
    method: 'POST',
    url: '/v1/accounts',
    payload: { id, name: `Account ${id}` },
  });
  if (made.statusCode !== 201) throw new Error(`${id}: ${made.payload}`);
  return tenantOf(platform, account, ['admin', 'credentials:read']);
}

export async function tenantOf(
  platform: Platform,
  account: AccountId,
  scopes: readonly KeyScope[],
): Promise<Tenant> {
  const secret = await keyOf(platform, account, scopes);
  async function call(method: 'GET' | 'POST' | 'PUT', url: string, payload?: object): Promise<Answer> {
    const answer = await platform.api.inject({
      method,
      url,
      headers: { 'x-api-key': secret },
      ...(payload === undefined ? {} : { payload }),
    });
    if (method !== 'GET' && answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.payload}`);
    const { statusCode, headers, payload: text } = answer;
    return { statusCode, headers, payload: text, at: (path) => lookUp(answer.json(), path) };
  }
  return {
    account,
    secret,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    waitFor: async (job) => void (await platform.jobs.waitFor(job as JobId, 60_000)),
    readSnapshots: platform.readSnapshots,
  };
}

export async function keyOf(
  platform: Platform,
  account: AccountId,
  scopes: readonly KeyScope[],
  changes: { readonly expiresAt?: number; readonly isRevoked?: boolean } = {},
): Promise<string> {
  const secret = newSecret();
  const options = { name: 'isolation', scopes, ratePerMinute: null, expiresAt: changes.expiresAt ?? null };
  const key = newKey(account, secret, options, 0);
  await platform.store.createKey(key);
  if (changes.isRevoked === true) await platform.store.revokeKey(account, key.id, Date.now());
  return secret;
}
