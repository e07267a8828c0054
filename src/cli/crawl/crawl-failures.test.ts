import { describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../core/model/task.ts';
import { failedCount, failureLines, failuresOf } from './crawl-failures.ts';

const entry = (given: Partial<LedgerEntry>): LedgerEntry => ({
  url: 'http://127.0.0.1:4818/',
  kind: 'page',
  state: 'failed',
  decision: 'failed',
  rule: 'robots.unreachable: ADDRESS_REFUSED',
  errorCode: 'ADDRESS_REFUSED',
  depth: 0,
  foundBy: 'seed',
  foundOn: null,
  attempts: [],
  discoveredAt: '2026-01-01T00:00:00.000Z',
  finishedAt: null,
  ...given,
});

async function* listed(...entries: readonly Partial<LedgerEntry>[]) {
  yield* entries.map(entry);
}

describe('the failures of a crawl', () => {
  it('are counted by code, and shown by a page with the most frequent one', async () => {
    const failures = await failuresOf(
      listed(
        { url: 'http://a.example/', errorCode: 'DNS_FAILED' },
        { url: 'http://127.0.0.1:4818/robots.txt', kind: 'site' },
        {},
      ),
    );
    expect(failures).toMatchObject({
      pages: 2,
      sitemaps: 1,
      codes: { ADDRESS_REFUSED: 2, DNS_FAILED: 1 },
      first: { url: 'http://127.0.0.1:4818/', code: 'ADDRESS_REFUSED' },
    });
  });

  it('do not count the search for sitemaps as a page', async () => {
    const failures = await failuresOf(listed({ kind: 'site' }, {}));
    expect(failedCount(2, failures ?? undefined)).toBe('1 failed (and 1 sitemap)');
    expect(failedCount(0, undefined)).toBe('0 failed');
  });

  it('are told with the code, the URL, the reason, what to do and where to read more', async () => {
    const failures = await failuresOf(listed({ url: 'http://127.0.0.1/?a=1&b=2' }));
    const lines = failures === null ? [] : failureLines(failures, '--data-dir priv');
    expect(lines).toEqual([
      'Failed with ADDRESS_REFUSED (1).',
      expect.stringMatching(/^ {2}http:\/\/127\.0\.0\.1\/\?a=1&b=2: The address of 127\.0\.0\.1 is private/),
      expect.stringContaining('--allow-private'),
      "  More: scrapifie why 'http://127.0.0.1/?a=1&b=2' --data-dir priv",
    ]);
  });

  it('are none when nothing failed', async () => {
    expect(await failuresOf(listed())).toBeNull();
  });
});
