import { describe, expect, it } from 'vitest';
import type { ChangeRules, PageState } from '../../core/model/monitor.ts';
import { StepBudget } from '../../extract/diff/text-diff.ts';
import { compareLines } from './compare-lines.ts';
import { decideChange, EMPTY_STATE } from './decide-change.ts';
import { linesOf } from './watched-lines.ts';

const T0 = Date.UTC(2026, 10, 17, 9, 0);
const HOUR_MS = 3_600_000;
const RULES: ChangeRules = { confirm: 2, settleMs: 6 * HOUR_MS, failAfter: 3, learnNoise: true };

/** Lines that differ in their numbers only, other ones at each look. */
const numbered = (count: number, look: number) =>
  Array.from({ length: count }, (_, at) => `w${(at + 1) * 7_919 + look * 1_000_003}`);
/** Dates long ago: none has gone on with the clock, and each has to be compared with all others. */
const dated = (count: number, look: number) =>
  Array.from({ length: count }, (_, at) => `on ${1_000 + look * 500 + (at % 499)}-05-${10 + (at % 19)}`);

const contentOf = (lines: readonly string[], at = T0) => ({ at, lines });

describe('the search for lines that are the same but for numbers and times', () => {
  it.each([12_000, 60_000])('takes a few looks for each of %i lines that are alike', (count) => {
    const looks = new StepBudget(8 * count);
    const before = contentOf(numbered(count, 0));
    expect(compareLines(before, contentOf(numbered(count, 1), T0 + HOUR_MS), [], true, looks)).toBeNull();
    expect(looks.isSpent).toBe(false);
  });

  it('ends when its looks are spent', () => {
    const looks = new StepBudget(50_000);
    const after = contentOf(dated(5_000, 1), T0 + HOUR_MS / 3);
    expect(compareLines(contentOf(dated(5_000, 0)), after, [], true, looks)).toBeNull();
    expect(looks.isSpent).toBe(true);
    looks.spend(-100);
    // The search stopped at once, since its looks did not become fewer.
    expect(looks.isSpent).toBe(false);
  });

  it('finds a line elsewhere whose counter or time has gone on', () => {
    const before = contentOf(['a', '12 visitors online', 'at 9:00', 'b', 'c']);
    const after = contentOf(['a', 'at 9:20', 'b', '19 visitors online', 'c'], T0 + HOUR_MS / 3);
    const found = compareLines(before, after, [], true);
    expect(found?.differences).toEqual([
      { from: 1, to: 2, part: null, lines: [] },
      { from: 4, to: 4, part: null, lines: ['12 visitors online'] },
    ]);
  });

  it('takes a line with very many numbers that differ as another line', () => {
    const row = (from: number) => Array.from({ length: 40 }, (_, at) => from + at).join(' ');
    const around = ['a', 'b', 'c'];
    const found = compareLines(contentOf([...around, row(100)]), contentOf([...around, row(500)]), [], true);
    expect(found?.differences).toEqual([{ from: 3, to: 4, part: null, lines: [row(500)] }]);
  });
});

describe.each([12_000, 60_000])('a page of %i lines that are others at each look', (count) => {
  it('is never a change, and told as a page that cannot be compared', () => {
    let state: PageState = EMPTY_STATE;
    const troubles = Array.from({ length: 6 }, (_, look) => {
      const text = numbered(count, look).join('\n');
      const lines = linesOf({
        textHash: null,
        fields: {},
        texts: [{ name: 'text', text }],
        screenshot: null,
      });
      const content = contentOf(lines, T0 + look * HOUR_MS);
      const decision = decideChange(state, { kind: 'content', content, title: null, source: null }, RULES);
      expect(decision.change).toBeNull();
      state = decision.state ?? EMPTY_STATE;
      return decision.trouble;
    });
    expect(troubles).toEqual([null, null, null, null, 'failed', null]);
    expect(state.trouble).toMatchObject({ reason: 'not-comparable', isTold: true });
    expect(state.baseline?.lines).toHaveLength(5_000);
    expect(state.doubt?.content?.lines).toHaveLength(5_000);
  });
});

it('remembers a million characters of a page at most', () => {
  const text = Array.from({ length: 4_000 }, (_, at) => `${at} ${'x'.repeat(1_900)}`).join('\n');
  const lines = linesOf({ textHash: null, fields: {}, texts: [{ name: 'text', text }], screenshot: null });
  const chars = lines.reduce((sum, line) => sum + line.length, 0);
  expect(chars).toBeLessThanOrEqual(1_000_000);
  expect(chars).toBeGreaterThan(990_000);
});
