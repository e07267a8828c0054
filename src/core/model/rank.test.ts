import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobKind } from './job.ts';
import { MAX_RANK_DELAY_MS, rankOf } from './rank.ts';

const largeKind = fc.constantFrom<JobKind>('batch', 'crawl', 'map');
const size = fc.oneof(fc.nat(10_000_000), fc.constant(Number.POSITIVE_INFINITY));
const now = fc.integer({ min: 0, max: 4_102_444_800_000 });

describe('Property 36: the rank of a task', () => {
  it('puts smaller jobs first among those that came together', () => {
    fc.assert(
      fc.property(largeKind, largeKind, size, size, now, (one, other, a, b, at) => {
        const [small, large] = a < b ? [a, b] : [b, a];
        expect(rankOf({ kind: one, size: small }, at)).toBeLessThanOrEqual(
          rankOf({ kind: other, size: large }, at),
        );
      }),
    );
  });

  it('tells jobs apart whose sizes differ by a tenth, up to a million', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900_000 }), now, (tasks, at) => {
        const larger = Math.ceil(tasks * 1.1);
        expect(rankOf({ kind: 'batch', size: tasks }, at)).toBeLessThan(
          rankOf({ kind: 'crawl', size: larger }, at),
        );
      }),
    );
  });

  it('puts single scrapes before everything', () => {
    fc.assert(
      fc.property(largeKind, size, now, now, (kind, tasks, at, later) => {
        expect(rankOf({ kind: 'scrape', size: 1 }, later)).toBeLessThanOrEqual(
          rankOf({ kind, size: tasks }, at),
        );
      }),
    );
    expect(rankOf({ kind: 'scrape', size: 1 }, 5_000)).toBe(0);
  });

  it('never falls with time', () => {
    fc.assert(
      fc.property(largeKind, size, now, fc.nat(), (kind, tasks, at, gap) => {
        expect(rankOf({ kind, size: tasks }, at)).toBeLessThanOrEqual(
          rankOf({ kind, size: tasks }, at + gap),
        );
      }),
    );
  });

  it('starves nobody: what comes after the greatest delay is behind, however small its job', () => {
    fc.assert(
      fc.property(
        largeKind,
        largeKind,
        size,
        size,
        now,
        fc.integer({ min: 1 }),
        (one, other, a, b, at, gap) => {
          const waiting = rankOf({ kind: one, size: a }, at);
          expect(waiting).toBeLessThan(rankOf({ kind: other, size: b }, at + MAX_RANK_DELAY_MS + gap));
        },
      ),
    );
  });

  it('is a whole number for any size', () => {
    for (const tasks of [-1, 0, 1, 7.5, 1e12, Number.POSITIVE_INFINITY]) {
      expect(Number.isSafeInteger(rankOf({ kind: 'crawl', size: tasks }, 1_800_000_000_000))).toBe(true);
    }
  });
});
