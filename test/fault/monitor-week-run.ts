import { parseArgs } from 'node:util';
import { MORE_TEMPLATES } from './monitor-week/more-templates.ts';
import { TEMPLATES } from './monitor-week/page-templates.ts';
import { simulateWeek } from './monitor-week/simulate-week.ts';

/**
 * Weeks of simulated time over pages with clocks, counters, advertisements, tests, outages and block pages:
 * `node test/fault/monitor-week-run.ts [--pages 50] [--every-minutes 10] [--seed 1] [--template product]`.
 */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '50' },
    'every-minutes': { type: 'string', default: '10' },
    days: { type: 'string', default: '7' },
    seed: { type: 'string', default: '1' },
    template: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
let problems = 0;
for (const template of [...TEMPLATES, ...MORE_TEMPLATES].filter(
  ({ name }) => values.template === undefined || name === values.template,
)) {
  const sum = {
    visits: 0,
    realChanges: 0,
    trueEvents: 0,
    missed: 0,
    falseEvents: 0,
    noisyEvents: 0,
    variantEvents: 0,
    repeatedVariants: 0,
    failures: 0,
  };
  for (let page = 0; page < Number(values.pages); page += 1) {
    const report = simulateWeek({
      template,
      seed: Number(values.seed) * 1_000 + page,
      everyMs: Number(values['every-minutes']) * 60_000,
      days: Number(values.days),
    });
    sum.visits += report.visits;
    sum.realChanges += report.realChanges;
    sum.trueEvents += report.trueEvents;
    sum.failures += report.failures;
    sum.missed += report.missed.length;
    sum.falseEvents += report.falseEvents.length;
    sum.noisyEvents += report.noisyEvents.length;
    sum.variantEvents += report.variantEvents.length;
    sum.repeatedVariants += report.variantEvents.length - new Set(report.variantEvents).size;
    if (values.verbose) {
      for (const each of report.missed) console.log(`  missed (page ${page}): ${each}`);
      for (const each of report.falseEvents) console.log(`  false (page ${page}): ${each}`);
      for (const each of report.noisyEvents) console.log(`  noisy (page ${page}): ${each}`);
    }
  }
  problems += sum.missed + sum.falseEvents + sum.repeatedVariants;
  console.log(`${template.name}: ${JSON.stringify(sum)}`);
}
process.exitCode = problems === 0 ? 0 : 1;
