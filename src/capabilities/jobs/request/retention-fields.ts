import { z } from 'zod';
import type { RetentionAges } from '../../../core/model/retention.ts';

const TIMES = { ms: 1, s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 } as const;
const TIME = /^(\d{1,9})(ms|s|m|h|d)$/;
export const DAY_MS = TIMES.d;

export function ageMsOf(age: number | string): number {
  if (typeof age === 'number') return age;
  const [, number = '0', unit = 'ms'] = TIME.exec(age) ?? [];
  return Number(number) * TIMES[unit as keyof typeof TIMES];
}

/** A span of time in a request: milliseconds, or a number with its unit. */
export const timeField = z.union([
  z.number().int().min(0),
  z.string().regex(TIME, 'Must be milliseconds, or a time such as `90s`, `15m`, `2h` or `7d`.'),
]);

/** Results can be read for a while before anything of them goes. */
const LEAST_AGE_MS = 60_000;
const MOST_AGE_MS = 36_500 * DAY_MS;

const keptFor = (what: string) =>
  timeField
    .refine((age) => ageMsOf(age) >= LEAST_AGE_MS, 'At least a minute.')
    .refine((age) => ageMsOf(age) <= MOST_AGE_MS, 'At most a hundred years.')
    .nullable()
    .default(null)
    .describe(`${what}; null: as the account and the installation say.`);

const retentionAgeFields = {
  bodies: keptFor('How long bodies are kept as they were fetched'),
  artifacts: keptFor('How long pictures, PDFs and recorded answers are kept'),
  records: keptFor('How long is kept what was read out of pages'),
  ledger: keptFor('How long the URLs and pages of an ended job are kept, but for its summary'),
  jobs: keptFor('How long an ended job is kept at all'),
  exports: keptFor('How long exports are kept after they were written'),
};

/** The ages of an account, where the history of its pages has an age as well. */
export const accountAgeFields = {
  ...retentionAgeFields,
  snapshots: keptFor('How long snapshots are kept after their content was last seen'),
};

/** The field of a request that creates a job. */
export const retentionField = z
  .strictObject(retentionAgeFields)
  .meta({ id: 'JobRetention' })
  .nullable()
  .default(null)
  .describe(
    'How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and ' +
      'installation counts. Pages count from when they were fetched, jobs from their end.',
  )
  .meta({ examples: [{ bodies: '24h', jobs: '30d' }] });

/** Undefined when the request leaves everything to the account and the installation. */
export function retentionAgesOf(
  given: Readonly<Partial<Record<keyof typeof accountAgeFields, number | string | null>>> | null,
): RetentionAges | undefined {
  const ages = Object.entries(given ?? {}).flatMap(([kind, age]) =>
    age === null || age === undefined ? [] : [[`${kind}Ms`, ageMsOf(age)] as const],
  );
  return ages.length === 0 ? undefined : Object.fromEntries(ages);
}
