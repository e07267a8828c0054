import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Job } from '../../core/model/job.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import { failedCount, failureLines, failuresOf, readEarlier, reportOf, writeReport } from './crawl-report.ts';

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

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-report-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const counters = {
  known: 9,
  open: 2,
  claimed: 0,
  pages: 4,
  done: 4,
  failed: 1,
  skipped: 1,
  denied: 1,
  cancelled: 0,
  bytes: 80,
  browserMs: 700,
  proxyBytes: 30,
};
const job = {
  id: 'job-1',
  status: 'running',
  stopReason: null,
  seeds: ['http://a.example/'],
  options: {
    budgets: { maxPages: 30, maxBytes: 500, maxDurationMs: 9_000, maxBrowserMs: 70, maxProxyBytes: 80 },
  },
  counters,
  createdAt: 0,
  startedAt: 1_000,
  finishedAt: null,
} as unknown as Job;
const facts = {
  job,
  earlier: { durationMs: 1_500, runs: 2 },
  runMs: 500,
  isInterrupted: false,
  version: '1.2.3',
};

describe('the report of a crawl', () => {
  it('adds the time of this run to that of earlier ones', () => {
    expect(reportOf(facts)).toMatchObject({
      durationMs: 2_000,
      pagesPerSecond: 2,
      runs: 3,
      left: 2,
      finishedAt: null,
    });
  });

  it('never tells of more time than lies between the start of the crawl and its end', () => {
    const finished = { ...job, finishedAt: 1_500 };
    const late = { ...facts, job: finished, earlier: { durationMs: 0, runs: 0 }, runMs: 2_509 };
    expect(reportOf(late)).toMatchObject({ durationMs: 500, pagesPerSecond: 8 });
    expect(reportOf({ ...late, runMs: 400 })).toMatchObject({ durationMs: 400, pagesPerSecond: 10 });
  });

  it('names the interruption unless a budget was the reason', () => {
    expect(reportOf({ ...facts, isInterrupted: true }).stopReason).toBe('interrupted');
    const stopped = { ...job, stopReason: 'budget.pages' } as const;
    expect(reportOf({ ...facts, job: stopped, isInterrupted: true }).stopReason).toBe('budget.pages');
  });

  it.each([
    ['budget.pages', 'Stopped at --max-pages 30; continue with --resume --max-pages N.'],
    ['budget.bytes', 'Stopped at --max-bytes 500; continue with --resume --max-bytes N.'],
    ['budget.duration', 'Stopped at --max-duration 9000ms; continue with --resume --max-duration TIME.'],
    ['budget.browser', 'Stopped at --max-browser-time 70ms; continue with --resume --max-browser-time TIME.'],
    ['budget.proxy', 'Stopped at --max-proxy-bytes 80; continue with --resume --max-proxy-bytes N.'],
    [null, null],
  ] as const)('says after %s which flag goes on: %s', (stopReason, stopMessage) => {
    expect(reportOf({ ...facts, job: { ...job, stopReason } }).stopMessage).toBe(stopMessage);
  });

  it('is found again by the next run of the same crawl only', () => {
    const path = join(dir, 'report.json');
    writeReport(path, reportOf(facts));
    expect(readEarlier(path, 'job-1')).toEqual({ durationMs: 2_000, runs: 3 });
    expect(readEarlier(path, 'job-2')).toEqual({ durationMs: 0, runs: 0 });
    writeFileSync(path, '{"jobId":"job-1","durationMs":"many"');
    expect(readEarlier(path, 'job-1')).toEqual({ durationMs: 0, runs: 0 });
  });

  it('that cannot be written says so', () => {
    expect(() => writeReport(join(dir, 'none/report.json'), reportOf(facts))).toThrow(
      expect.objectContaining({ code: 'DATA_DIR_UNUSABLE' }),
    );
  });
});
