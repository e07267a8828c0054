import { describe, expect, it } from 'vitest';
import type { HostKey } from '../../core/model/ids.ts';
import {
  buildPolicies,
  DEFAULT_POLICY,
  EMPTY_POLICY_FILE,
  hostPattern,
  type PolicyFile,
} from './policies.ts';

const key = (text: string) => text as HostKey;
const file = (changes: Partial<PolicyFile>): PolicyFile => ({ ...EMPTY_POLICY_FILE, ...changes });
const domains = (entries: Record<string, object>) =>
  buildPolicies(file({ domains: new Map(Object.entries(entries)) }));
const optOut = (host: string) => ({ host, reason: 'asked', contact: null, at: 0, minDelayMs: null });

describe('the policy of a host', () => {
  it('is polite when nothing is said', () => {
    expect(buildPolicies(EMPTY_POLICY_FILE).policyFor(key('x.example'))).toEqual({
      ...DEFAULT_POLICY,
      engines: ['http', 'browser'],
    });
    expect(DEFAULT_POLICY).toMatchObject({ ratePerSecond: 2, concurrency: 2, burst: 1, robots: 'obey' });
  });

  it('is the default overlaid by every entry that covers it, most specific last', () => {
    const policies = buildPolicies(
      file({
        default: { concurrency: 4, burst: 3 },
        domains: new Map([
          ['b.example.com:8080', { notes: 'port' }],
          ['b.example.com', { burst: 7 }],
          ['*.example.com', { ratePerSecond: 3, notes: 'wild' }],
          ['example.com', { ratePerSecond: 1, minDelayMs: 10 }],
        ]),
      }),
    );
    expect(policies.policyFor(key('b.example.com:8080'))).toMatchObject({
      concurrency: 4,
      burst: 7,
      ratePerSecond: 3,
      minDelayMs: 10,
      notes: 'port',
      matched: ['default', 'example.com', '*.example.com', 'b.example.com', 'b.example.com:8080'],
    });
    expect(policies.policyFor(key('example.com'))).toMatchObject({
      ratePerSecond: 1,
      matched: ['default', 'example.com'],
    });
    expect(policies.policyFor(key('b.example.com')).notes).toBe('wild');
  });

  it.each([
    ['example.com', 'example.com', true],
    ['example.com', 'a.example.com', true],
    ['example.com', 'a.b.example.com:8443', true],
    ['example.com', 'badexample.com', false],
    ['example.com', 'example.com.evil.net', false],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'a.b.example.com', true],
    ['localhost', 'localhost:8080', true],
    ['localhost:8080', 'localhost:8080', true],
    ['localhost:8080', 'localhost', false],
    ['localhost:8080', 'localhost:8081', false],
    ['localhost:8080', 'a.localhost:8080', false],
    ['127.0.0.1', '127.0.0.1:9000', true],
    ['[::1]', '[::1]:9000', true],
    ['com', 'example.com', true],
  ])('%s covers %s: %s', (pattern, host, isCovered) => {
    expect(domains({ [pattern]: { burst: 9 } }).policyFor(key(host)).burst === 9).toBe(isCovered);
  });

  it('ignores robots only while consent lasts', () => {
    const policies = domains({
      'example.com': { robots: 'ignore', consent: ['robots', 'stealth'] },
      'shop.example.com': { consent: ['identity'] },
    });
    expect(policies.policyFor(key('example.com'))).toMatchObject({
      robots: 'ignore',
      engines: ['http', 'browser', 'flaresolverr', 'stealth', 'firecrawl'],
    });
    expect(policies.policyFor(key('shop.example.com'))).toMatchObject({
      robots: 'obey',
      engines: ['http', 'browser'],
    });
    expect(policies.policyFor(key('other.net')).robots).toBe('obey');
  });

  it('is made once for each host, and stays right when more hosts are asked for than are kept', () => {
    const policies = domains({ 'example.com': { burst: 9 } });
    expect(policies.policyFor(key('example.com'))).toBe(policies.policyFor(key('example.com')));
    for (let n = 0; n < 10_050; n++) policies.policyFor(key(`h${n}.example.net`));
    expect(policies.policyFor(key('example.com')).burst).toBe(9);
  });
});

describe('a host that may not be fetched', () => {
  const policies = buildPolicies(
    file({
      domains: new Map([
        ['closed.com', { deny: true }],
        ['open.closed.com', { deny: false }],
      ]),
      denyList: ['listed.com', '*.half.com'],
    }),
    [optOut('gone.com'), optOut('Gone.ORG'), optOut('localhost:9000')],
  );

  it.each([
    ['closed.com', 'policy.deny:closed.com'],
    ['a.closed.com', 'policy.deny:closed.com'],
    ['open.closed.com', null],
    ['listed.com:8080', 'policy.deny-list:listed.com'],
    ['half.com', null],
    ['a.half.com', 'policy.deny-list:*.half.com'],
    ['gone.com', 'opt-out:gone.com'],
    ['www.gone.org', 'opt-out:gone.org'],
    ['localhost:9000', 'opt-out:localhost:9000'],
    ['localhost', null],
    ['fine.com', null],
  ])('%s: %s', (host, rule) => {
    expect(policies.denied(key(host))?.rule ?? null).toBe(rule);
  });

  it('is every host that an allow list does not name', () => {
    const strict = buildPolicies(file({ allowList: ['example.com'], denyList: ['private.example.com'] }));
    expect(strict.denied(key('www.example.com'))).toBeNull();
    expect(strict.denied(key('example.net'))).toEqual({ rule: 'policy.allow-list' });
    expect(strict.denied(key('private.example.com'))).toEqual({
      rule: 'policy.deny-list:private.example.com',
    });
    expect(buildPolicies(file({ allowList: [] })).denied(key('example.com'))).toEqual({
      rule: 'policy.allow-list',
    });
  });

  it('may be one that the default denies, unless an entry admits it', () => {
    const strict = buildPolicies(
      file({ default: { deny: true }, domains: new Map([['example.com', { deny: false }]]) }),
    );
    expect(strict.denied(key('example.net'))).toEqual({ rule: 'policy.deny:default' });
    expect(strict.denied(key('example.com'))).toBeNull();
  });

  it('is one that opted out since, in the policies made with that', () => {
    const changed = policies.withOptOuts([optOut('fine.com')]);
    expect(changed.denied(key('fine.com'))).toEqual({ rule: 'opt-out:fine.com' });
    expect(changed.denied(key('gone.com'))).toBeNull();
    expect(policies.denied(key('fine.com'))).toBeNull();
  });
});

describe('a host pattern', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['*.Example.com', '*.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['localhost:08080', 'localhost:8080'],
    ['[::1]:80', '[::1]:80'],
    ['[0:0::1]', '[::1]'],
  ])('%s is %s', (text, pattern) => {
    expect(hostPattern(text)).toBe(pattern);
  });

  it.each([
    '',
    '*',
    '*.',
    '*.*.com',
    'a.*.com',
    'https://example.com',
    'example.com/x',
    'user@example.com',
    'a b',
    'example.com:0',
    'example.com:99999',
    '*.example.com:80',
    '*.127.0.0.1',
    '::1',
    'exa%20mple.com',
    'example.com:',
    ':80',
    '[::1',
  ])('is not %j', (text) => {
    expect(hostPattern(text)).toBeNull();
  });
});

describe('a site owner who asks for a slower rate', () => {
  const slower = (host: string, minDelayMs: number) => ({ ...optOut(host), minDelayMs });
  const policies = buildPolicies(
    {
      ...EMPTY_POLICY_FILE,
      domains: new Map([['shop.test', { concurrency: 8, minDelayMs: 500, burst: 9 }]]),
    },
    [slower('shop.test', 5_000), slower('www.shop.test', 9_000), slower('gentle.test', 100)],
  );
  const delayOf = (host: string) => policies.policyFor(host as HostKey).minDelayMs;

  it('gets it on the host and its subdomains, the slowest that was asked for', () => {
    expect([delayOf('shop.test'), delayOf('a.shop.test'), delayOf('www.shop.test:8080')]).toEqual([
      5_000, 5_000, 9_000,
    ]);
    expect(policies.policyFor('shop.test' as HostKey)).toMatchObject({
      concurrency: 1,
      burst: 1,
      matched: ['default', 'shop.test', 'owner:shop.test'],
    });
    expect(policies.denied('shop.test' as HostKey)).toBeNull();
  });

  it('never makes the crawler faster than the operator wants', () => {
    const slow = buildPolicies({ ...EMPTY_POLICY_FILE, default: { minDelayMs: 60_000 } }, [
      slower('gentle.test', 100),
    ]);
    expect(slow.policyFor('gentle.test' as HostKey).minDelayMs).toBe(60_000);
  });
});
