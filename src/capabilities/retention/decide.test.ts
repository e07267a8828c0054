import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobId, JobSeq } from '../../core/model/ids.ts';
import {
  combineLimits,
  type RetentionLimits,
  shortestAges,
  UNLIMITED_RETENTION,
} from '../../core/model/retention.ts';
import type { RetainedJob } from '../../core/ports/retention-store.ts';
import { decideRetention, type NewerJobs, NO_NEWER_JOBS, type RetentionStep } from './decide.ts';

const NOW = 1_000_000;
const jobOf = (changes: Partial<RetainedJob> = {}): RetainedJob => ({
  seq: 1 as JobSeq,
  id: 'one' as JobId,
  createdAt: NOW - 1_000,
  finishedAt: NOW - 500,
  urls: 10,
  bytes: 100,
  ages: {},
  pagesEnd: 11,
  expired: { bodies: 0, artifacts: 0, records: 0 },
  isLedgerExpired: false,
  ...changes,
});
const limitsOf = (changes: Partial<RetentionLimits>): RetentionLimits => ({
  ...UNLIMITED_RETENTION,
  ...changes,
});
const stepsOf = (job: RetainedJob, limits: Partial<RetentionLimits>, newer = NO_NEWER_JOBS) =>
  decideRetention(job, limitsOf(limits), newer, NOW).steps;
const kindsOf = (steps: readonly RetentionStep[]) => steps.map(({ kind, reason }) => `${kind} by ${reason}`);

describe('the decision about a job', () => {
  it('keeps everything where nothing is limited', () => {
    expect(stepsOf(jobOf(), {})).toEqual([]);
    expect(stepsOf(jobOf({ createdAt: 0, finishedAt: 0 }), {})).toEqual([]);
  });

  it('lets each kind go by its own age, counted from the end of the job', () => {
    expect(kindsOf(stepsOf(jobOf(), { ages: { bodiesMs: 500 } }))).toEqual(['bodies by age']);
    expect(kindsOf(stepsOf(jobOf(), { ages: { artifactsMs: 500 } }))).toEqual(['artifacts by age']);
    expect(kindsOf(stepsOf(jobOf(), { ages: { ledgerMs: 500 } }))).toEqual(['ledger by age']);
    expect(kindsOf(stepsOf(jobOf(), { ages: { jobsMs: 500, ledgerMs: 1 } }))).toEqual(['jobs by age']);
    expect(stepsOf(jobOf(), { ages: { jobsMs: 501, ledgerMs: 501 } })).toEqual([]);
  });

  it('lets bodies and artifacts go with the record that names them', () => {
    const steps = stepsOf(jobOf(), { ages: { recordsMs: 400 } });
    expect(kindsOf(steps)).toEqual(['bodies by age', 'artifacts by age', 'records by age']);
  });

  it('lets parts of old pages go while the job goes on, and nothing else', () => {
    const ages = { bodiesMs: 600, ledgerMs: 900, jobsMs: 900 };
    const steps = stepsOf(jobOf({ finishedAt: null }), { ages, maxJobs: 0, maxBytes: 0 });
    expect(steps.map(({ kind, fetchedBefore }) => [kind, fetchedBefore])).toEqual([['bodies', NOW - 600]]);
  });

  it('goes by the shortest of the times of job and limits', () => {
    expect(kindsOf(stepsOf(jobOf({ ages: { jobsMs: 100 } }), { ages: { jobsMs: 9_999 } }))).toEqual([
      'jobs by age',
    ]);
    expect(kindsOf(stepsOf(jobOf({ ages: { jobsMs: 9_999 } }), { ages: { jobsMs: 100 } }))).toEqual([
      'jobs by age',
    ]);
  });

  it('keeps the newest ended jobs', () => {
    expect(stepsOf(jobOf(), { maxJobs: 2 }, { jobs: 1, bytes: 0 })).toEqual([]);
    expect(kindsOf(stepsOf(jobOf(), { maxJobs: 2 }, { jobs: 2, bytes: 0 }))).toEqual(['jobs by count']);
  });

  it('lets the bodies of the oldest jobs go when there are too many bytes', () => {
    expect(stepsOf(jobOf(), { maxBytes: 300 }, { jobs: 1, bytes: 200 })).toEqual([]);
    expect(kindsOf(stepsOf(jobOf(), { maxBytes: 299 }, { jobs: 1, bytes: 200 }))).toEqual([
      'bodies by bytes',
      'artifacts by bytes',
    ]);
  });

  it('does nothing twice', () => {
    const gone = { bodies: 11, artifacts: 11, records: 11 };
    expect(stepsOf(jobOf({ expired: gone }), { ages: { recordsMs: 1 }, maxBytes: 0 })).toEqual([]);
    expect(stepsOf(jobOf({ isLedgerExpired: true }), { ages: { ledgerMs: 1 }, maxBytes: 0 })).toEqual([]);
  });
});

const age = fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: null });
const ages = fc.record({ bodiesMs: age, artifactsMs: age, recordsMs: age, ledgerMs: age, jobsMs: age });
const someLimits = fc.record({
  ages,
  maxJobs: fc.option(fc.nat(8), { nil: null }),
  maxBytes: fc.option(fc.nat(2_000), { nil: null }),
});
const someJobs = fc.array(
  fc
    .record({
      age: fc.nat(2_000),
      ranMs: fc.option(fc.nat(500), { nil: null }),
      bytes: fc.nat(400),
      own: ages,
    })
    .map(({ age: createdMs, ranMs, bytes, own }) => ({ createdMs, ranMs, bytes, own })),
  { maxLength: 12 },
);

describe('the decisions about the jobs of an account, from the newest to the oldest', () => {
  const decideAll = (given: readonly RetainedJob[], limits: RetentionLimits) => {
    let newer: NewerJobs = NO_NEWER_JOBS;
    return given.map((job) => {
      const { steps, newer: next } = decideRetention(job, limits, newer, NOW);
      newer = next;
      return { job, steps };
    });
  };
  const jobsOf = (
    given: readonly { createdMs: number; ranMs: number | null; bytes: number; own: object }[],
  ) =>
    given
      .toSorted((one, other) => one.createdMs - other.createdMs)
      .map(({ createdMs, ranMs, bytes, own }, n) =>
        jobOf({
          seq: (100 - n) as JobSeq,
          createdAt: NOW - createdMs,
          finishedAt: ranMs === null ? null : Math.min(NOW, NOW - createdMs + ranMs),
          bytes,
          ages: own,
        }),
      );

  it('leave no more jobs and bytes than allowed, and delete nothing of a job that goes on but parts of pages', () => {
    fc.assert(
      fc.property(someJobs, someLimits, (given, limits) => {
        const decided = decideAll(jobsOf(given), limits);
        const has = (steps: readonly RetentionStep[], kinds: readonly string[]) =>
          steps.some(({ kind, fetchedBefore }) => kinds.includes(kind) && fetchedBefore > NOW);
        const kept = decided.filter(({ job, steps }) => job.finishedAt !== null && !has(steps, ['jobs']));
        expect(kept.length).toBeLessThanOrEqual(limits.maxJobs ?? Number.POSITIVE_INFINITY);
        const running = decided.filter(({ job }) => job.finishedAt === null);
        expect(running.filter(({ steps }) => has(steps, ['jobs', 'ledger', 'bodies']))).toEqual([]);
        const bytes = kept
          .filter(({ steps }) => !has(steps, ['ledger', 'bodies']))
          .reduce((sum, { job }) => sum + job.bytes, 0);
        expect(bytes).toBeLessThanOrEqual(limits.maxBytes ?? Number.POSITIVE_INFINITY);
      }),
    );
  });

  it('never keep more when a limit is tightened', () => {
    fc.assert(
      fc.property(someJobs, ages, ages, (given, first, second) => {
        const steps = (limits: RetentionLimits) =>
          decideAll(jobsOf(given), limits).map(({ steps: each }) => each.length > 0);
        const loose = steps(limitsOf({ ages: first }));
        const tight = steps(combineLimits(limitsOf({ ages: first }), limitsOf({ ages: second })));
        loose.forEach((goes, n) => {
          if (goes) expect(tight[n]).toBe(true);
        });
      }),
    );
  });
});

it('bodies and artifacts never outlive the record of their page, whatever the times are', () => {
  fc.assert(
    fc.property(fc.array(ages, { minLength: 1, maxLength: 3 }), (given) => {
      const { records, artifacts, bodies } = shortestAges(...given);
      expect(Math.max(artifacts, bodies)).toBeLessThanOrEqual(records);
    }),
  );
});
