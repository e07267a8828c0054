import type { YearOptions } from './schedule-year.ts';

/** Days around the changes of the clock in the three zones: the short form of the simulated year. */
const at = (day: string) => Date.parse(`${day}T00:00:00Z`);
const DAILY = {
  lines: [{ cron: '30 2 * * *', isNamed: (hour: number, minute: number) => hour === 2 && minute === 30 }],
  killChance: 0.05,
};

export const SHORT_YEAR: readonly (Omit<YearOptions, 'open'> & { readonly name: string })[] = [
  { name: 'spring', seed: 1, from: at('2026-03-05'), to: at('2026-04-08'), ...DAILY },
  { name: 'autumn', seed: 2, from: at('2026-10-01'), to: at('2026-11-04'), ...DAILY },
];
