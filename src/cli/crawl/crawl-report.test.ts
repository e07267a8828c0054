import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Job } from '../../core/model/job.ts';
import { readEarlier, reportOf, writeReport } from './crawl-report.ts';

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
    const stopped = { ...job, stopReason: 'budget.pages' };
    expect(reportOf({ ...facts, job: stopped, isInterrupted: true }).stopReason).toBe('budget.pages');
  });

  it.each([
    ['budget.pages', 'Stopped at --max-pages 30; continue with --resume --max-pages N.'],
    ['budget.bytes', 'Stopped at --max-bytes 500; continue with --resume --max-bytes N.'],
    ['budget.duration', 'Stopped at --max-duration 9000ms; continue with --resume --max-duration TIME.'],
    ['budget.browser', 'Stopped at --max-browser-time 70ms; continue with --resume --max-browser-time TIME.'],
    ['budget.proxy', 'Stopped at --max-proxy-bytes 80; continue with --resume --max-proxy-bytes N.'],
    [null, null],
  ])('says after %s which flag goes on: %s', (stopReason, stopMessage) => {
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
