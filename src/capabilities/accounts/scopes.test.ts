import { describe, expect, it } from 'vitest';
import { type AccountId, DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import { allows, refusalOf, SCOPES } from './scopes.ts';

describe('scopes', () => {
  it('read and write stand for groups of others', () => {
    const heldBy = (scope: (typeof SCOPES)[number]) => SCOPES.filter((each) => allows([scope], each));
    expect(heldBy('read')).toEqual(['jobs:read', 'read']);
    expect(heldBy('write')).toEqual([
      'scrape',
      'jobs:read',
      'jobs:write',
      'exports',
      'schedules',
      'webhooks',
      'read',
      'write',
    ]);
    expect(heldBy('admin')).toEqual(SCOPES.filter((scope) => scope !== 'credentials:read'));
    expect(heldBy('credentials:read')).toEqual(['credentials', 'credentials:read']);
    for (const scope of ['scrape', 'jobs:read', 'jobs:write', 'exports', 'schedules', 'webhooks'] as const) {
      expect(heldBy(scope)).toEqual([scope]);
    }
  });
});

describe('access', () => {
  const of = (accountId: string, ...scopes: (typeof SCOPES)[number][]) => ({
    accountId: accountId as AccountId,
    scopes,
  });

  it('of the operator is the scope admin of the default account', () => {
    expect(refusalOf(of(DEFAULT_ACCOUNT, 'admin'), 'operator')).toBeNull();
    expect(refusalOf(of(DEFAULT_ACCOUNT, 'write'), 'operator')).toContain('"admin"');
    expect(refusalOf(of('other', 'admin'), 'operator')).toContain('account "default"');
    expect(refusalOf(of('other', 'admin'), 'admin')).toBeNull();
  });

  it('to figures about the whole installation is for the default account', () => {
    for (const access of ['installation', 'metrics'] as const) {
      expect(refusalOf(of(DEFAULT_ACCOUNT, 'read'), access)).toBeNull();
      expect(refusalOf(of('other', 'admin'), access)).toContain('account "default"');
      expect(refusalOf(of(DEFAULT_ACCOUNT, 'scrape'), access)).toContain('"jobs:read"');
    }
  });

  it('is given by any one of several scopes', () => {
    expect(refusalOf(of('other', 'read'), ['scrape', 'read'])).toBeNull();
    expect(refusalOf(of('other', 'exports'), ['scrape', 'read'])).toBe(
      'This API key lacks the scope "scrape" or "read".',
    );
    expect(refusalOf(of('other', 'exports'), 'key')).toBeNull();
  });
});
