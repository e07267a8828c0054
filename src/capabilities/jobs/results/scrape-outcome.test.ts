import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { LedgerEntry } from '../../../core/model/task.ts';
import { scrapeFailure } from './outcome-words.ts';

const id = 'job' as JobId;
const entry = (given: Partial<LedgerEntry>): LedgerEntry => ({
  url: 'https://example.com/',
  kind: 'page',
  state: 'failed',
  decision: 'failed',
  rule: null,
  errorCode: null,
  depth: 0,
  foundBy: 'seed',
  foundOn: null,
  attempts: [],
  discoveredAt: '2026-01-01T00:00:00.000Z',
  finishedAt: null,
  ...given,
});

describe('a scrape without a page', () => {
  it('fails with the code of its last attempt', () => {
    expect(scrapeFailure(id, entry({ errorCode: 'DNS_FAILED' }))).toMatchObject({
      code: 'DNS_FAILED',
      details: { jobId: id, url: 'https://example.com/' },
    });
  });

  it('says when to try again only where that may help', () => {
    const finishedAt = '2026-01-01T00:00:00.000Z';
    const until = Date.parse(finishedAt) + 60_000;
    const failureOf = (errorCode: ErrorCode) =>
      scrapeFailure(id, entry({ errorCode, rule: 'robots.unreachable: x', finishedAt }), undefined, until);
    expect(failureOf('ROBOTS_UNREACHABLE').retryAfterMs).toBe(60_000);
    expect(failureOf('ADDRESS_REFUSED').retryAfterMs).toBeUndefined();
  });

  it('says why robots.txt could not be read', () => {
    const rule = 'robots.unreachable: redirected, then ADDRESS_REFUSED';
    expect(scrapeFailure(id, entry({ errorCode: 'ROBOTS_UNREACHABLE', rule })).message).toBe(
      'robots.txt could not be read (redirected, then ADDRESS_REFUSED), which puts the whole host off limits for now.',
    );
  });

  it.each([
    [
      'ADDRESS_REFUSED',
      'http://127.0.0.1:4818/',
      /^The address of 127\.0\.0\.1 is private .*--allow-private/,
    ],
    ['CONNECT_FAILED', 'http://127.0.0.1:1/', /^127\.0\.0\.1:1 refuses connections/],
    ['DNS_FAILED', 'http://nourl/', /^nourl has no address in DNS\./],
  ] as const)('names %s as the cause, and then robots.txt', (errorCode, url, cause) => {
    const rule = `robots.unreachable: ${errorCode}`;
    const { message } = scrapeFailure(id, entry({ url, errorCode, rule }));
    expect(message).toMatch(cause);
    expect(message).toContain(`Therefore robots.txt could not be read either (${errorCode}).`);
  });

  it('fails with what the deciding rule stands for', () => {
    const cases: [Partial<LedgerEntry>, ErrorCode][] = [
      [{ state: 'denied', rule: 'robots: disallow: /x (line 3)' }, 'ROBOTS_DISALLOWED'],
      [{ state: 'denied', rule: 'robots.unreachable: 500' }, 'ROBOTS_UNREACHABLE'],
      [{ state: 'denied', rule: 'policy.deny:example.com' }, 'DOMAIN_DENIED'],
      [{ state: 'denied', rule: 'opt-out:example.com' }, 'DOMAIN_DENIED'],
      [{ state: 'denied', rule: 'something new' }, 'DOMAIN_DENIED'],
      [{ state: 'skipped', rule: 'budget.duration' }, 'BUDGET_SPENT'],
      [{ state: 'skipped', rule: 'credits.exhausted' }, 'CREDITS_EXHAUSTED'],
      [{ state: 'skipped', rule: 'limit.stored-bytes' }, 'STORAGE_LIMIT'],
      [{ state: 'skipped', rule: 'login-walls' }, 'LOGIN_REQUIRED'],
      [{ state: 'cancelled' }, 'CANCELLED'],
    ];
    for (const [given, code] of cases) expect(scrapeFailure(id, entry(given)).code).toBe(code);
  });
});
