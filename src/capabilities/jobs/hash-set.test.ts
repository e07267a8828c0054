import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentHash } from '../../core/model/ids.ts';
import { HashSet, PREFIX_END } from './hash-set.ts';

const hashes = fc
  .array(fc.stringMatching(/^[0-9a-f]{64}$/), { maxLength: 300 })
  .map((all) => all as ContentHash[]);

describe('a set of hashes', () => {
  it('knows what was added, and nothing else', () => {
    fc.assert(
      fc.property(hashes, hashes, (added, others) => {
        const set = new HashSet(0, 1_000);
        for (const hash of added) set.add(hash);
        for (const hash of added) expect(set.has(hash)).toBe(true);
        const prefixes = new Set(added.map((hash) => hash.slice(0, 13)));
        for (const hash of others) expect(set.has(hash)).toBe(prefixes.has(hash.slice(0, 13)));
      }),
    );
  });

  it('knows everything within its range when it is gone through in passes, however few it may hold', () => {
    fc.assert(
      fc.property(hashes, fc.integer({ min: 1, max: 20 }), (added, most) => {
        const seen = new Set<string>();
        for (let from = 0; from < PREFIX_END; ) {
          const set = new HashSet(from, most);
          for (const hash of added) set.add(hash);
          for (const hash of added) {
            expect(set.has(hash)).toBe(set.isInRange(hash));
            if (set.has(hash)) seen.add(hash);
          }
          expect(set.end).toBeGreaterThan(from);
          from = set.end;
        }
        expect(seen).toEqual(new Set(added));
      }),
      { numRuns: 50 },
    );
  });
});
