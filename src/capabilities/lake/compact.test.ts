import { describe, expect, it } from 'vitest';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { LakeFile, LakeRule } from '../../core/ports/lake-store.ts';
import { planCompaction } from './compact.ts';

const NOW = Date.UTC(2026, 0, 2);
const JOB = 'job_1' as JobId;
const MEGABYTE = 1_048_576;

const file = (id: string, changes: Partial<LakeFile> = {}): LakeFile => ({
  id,
  accountId: 'acc_1' as AccountId,
  table: 'pages',
  domain: 'a.test',
  date: '2026-01-01',
  path: id,
  rows: 1,
  bytes: 1_000,
  schemaVersion: 1,
  madeAt: NOW - 1_000,
  addedAt: NOW - 1_000,
  jobs: [{ jobId: JOB, firstPage: 10 }],
  ...changes,
});
const files = (count: number, changes: Partial<LakeFile> = {}) =>
  Array.from({ length: count }, (_, index) => file(`f${index}`, changes));
const rule = (changes: Partial<LakeRule>): LakeRule => ({
  ...{ jobId: JOB, keepFrom: 0, isResumed: false, isPrivate: false, finishedAt: NOW },
  ...changes,
});
const plan = (all: readonly LakeFile[], rules: readonly LakeRule[] = [], isForced = false) =>
  planCompaction({ version: 1, files: all, hasMore: false, rules }, NOW, isForced).map((step) => [
    step.reason,
    step.files.length,
  ]);

describe('what is compacted', () => {
  it('is many small files of a partition, and few of them once it is quiet, or when it is asked for', () => {
    expect(plan(files(7))).toEqual([]);
    expect(plan(files(8))).toEqual([['small files', 8]]);
    expect(plan(files(2, { addedAt: NOW - 600_000 }))).toEqual([['small files', 2]]);
    expect(plan(files(2), [], true)).toEqual([['small files', 2]]);
    expect(plan(files(1, { addedAt: 0 }), [], true)).toEqual([]);
  });

  it('is nothing across partitions, and no large file', () => {
    const dates = files(8).map((each, index) => ({ ...each, date: `2026-01-0${(index % 4) + 1}` }));
    expect(plan(dates)).toEqual([]);
    expect(plan(files(20, { bytes: 9 * MEGABYTE }), [], true)).toEqual([]);
  });

  it('reads a bounded number of bytes at once', () => {
    expect(plan(files(16, { bytes: 4 * MEGABYTE }))).toEqual([
      ['small files', 8],
      ['small files', 8],
    ]);
  });

  it('is each file with rows that are hidden, once', () => {
    const large = files(1, { bytes: 9 * MEGABYTE });
    expect(plan(large, [rule({ keepFrom: null })])).toEqual([['hidden rows', 1]]);
    expect(plan(large, [rule({ keepFrom: 11 })])).toEqual([['hidden rows', 1]]);
    // Its first page is the first that is kept: it was rewritten.
    expect(plan(large, [rule({ keepFrom: 10 })])).toEqual([]);
    const resumed = rule({ isResumed: true, finishedAt: NOW - 500 });
    expect(plan(large, [resumed])).toEqual([['hidden rows', 1]]);
    expect(plan(large, [{ ...resumed, finishedAt: null }])).toEqual([]);
    expect(plan(files(1, { bytes: 9 * MEGABYTE, addedAt: NOW }), [resumed])).toEqual([]);
    expect(plan(large, [rule({ isPrivate: true })])).toEqual([]);
  });
});
