import { describe, expect, it } from 'vitest';
import { MORE_TEMPLATES } from './monitor-week/more-templates.ts';
import { TEMPLATES } from './monitor-week/page-templates.ts';
import { simulateWeek } from './monitor-week/simulate-week.ts';

/** The short form of `monitor-week-run.ts`. */
describe('a week of a page with clocks, counters, advertisements, tests, outages and block pages', () => {
  it.each([...TEMPLATES, ...MORE_TEMPLATES])('has no false event and no missed change: $name', (template) => {
    let trueEvents = 0;
    for (const seed of [1_004, 1_016]) {
      const report = simulateWeek({ template, seed, everyMs: 1_800_000, days: 7 });
      expect(report).toMatchObject({ missed: [], falseEvents: [] });
      expect(new Set(report.variantEvents).size).toBe(report.variantEvents.length);
      trueEvents += report.trueEvents;
    }
    expect(trueEvents).toBeGreaterThanOrEqual(1);
  });
});
