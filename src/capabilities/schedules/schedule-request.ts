import { z } from 'zod';
import { SCHEDULED_KINDS, type ScheduledKind, traitsOfKind } from '../../core/model/job-kinds.ts';
import { CATCH_UPS, OVERLAPS } from '../../core/ports/schedule-store.ts';
import { hoursProblem } from '../../crawl/politeness/hours.ts';
import { isTimeZone } from '../../lib/zone-time.ts';
import { JOB_REQUESTS, type JobRequest } from '../jobs/request/job-request.ts';
import { readCronLine } from './cron-line.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const MAX_EVERY_MS = 366 * DAY_MS;
const UNITS_MS = { ms: 1, s: SECOND_MS, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS } as const;
const EVERY = /^(?:\d{1,9}(?:ms|[smhdw]))+$/;

const cron = z
  .string()
  .max(256)
  .superRefine((line, context) => {
    const read = readCronLine(line);
    if ('problem' in read) {
      context.addIssue({ code: 'custom', message: `Not a cron line that can run: ${read.problem}.` });
    }
  })
  .describe(
    'Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ' +
      'ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.',
  );

const every = z
  .union([z.string().max(64), z.number()])
  .superRefine((value, context) => {
    const ms = everyMsOf(value);
    if (ms === null || ms < SECOND_MS || ms > MAX_EVERY_MS) {
      context.addIssue({
        code: 'custom',
        message:
          'Must be a time such as `90s`, `15m`, `1h30m` or `7d`, or milliseconds, from 1 s to 366 days.',
      });
    }
  })
  .describe(
    'The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else.',
  );

const timeZone = z
  .string()
  .max(64)
  .refine((zone) => isTimeZone(zone) && !/^[+-]/.test(zone), 'Not the name of an IANA time zone.')
  .describe('IANA time zone of the cron line and of the active hours.');

const activeHours = z
  .strictObject({
    from: z.string().max(5).describe('The local time at which they begin, `08:30`.'),
    to: z
      .string()
      .max(5)
      .describe('The local time at which they end, at most `24:00`; before `from`: the next day.'),
    days: z
      .array(z.number().int().min(0).max(6))
      .max(7)
      .default([])
      .describe('Days on which they begin, 0 is Sunday; empty: every day.'),
  })
  .superRefine((hours, context) => {
    const problem = hoursProblem({ ...hours, timeZone: 'UTC' });
    if (problem !== null) context.addIssue({ code: 'custom', message: `Wrong hours: ${problem}.` });
  })
  .meta({ id: 'ActiveHours' })
  .nullable()
  .describe('Times outside of these hours are left out; null: none are.');

/** The request of a kind with its kind. */
type ScheduledSchema = {
  [Kind in ScheduledKind]: (typeof JOB_REQUESTS)[Kind] extends z.ZodObject<infer Shape, infer Config>
    ? z.ZodObject<Shape & { kind: z.ZodLiteral<Kind> }, Config>
    : never;
}[ScheduledKind];

const scheduledSchemas = () =>
  SCHEDULED_KINDS.map((kind) =>
    (JOB_REQUESTS[kind] as z.ZodObject)
      .safeExtend({ kind: z.literal(kind) })
      .meta({ id: `Scheduled${traitsOfKind(kind).label}` }),
  ) as unknown as [ScheduledSchema, ...ScheduledSchema[]];

const PATHS = SCHEDULED_KINDS.map((kind) => `\`/v1/${kind}\``);
const LAST_PATH = PATHS.pop() ?? '';

export const scheduledJobSchema = z
  .discriminatedUnion('kind', scheduledSchemas())
  .meta({ id: 'ScheduledJob' })
  .describe(`What each run starts: \`kind\`, and what ${PATHS.join(', ')} or ${LAST_PATH} takes.`);

const fields = {
  name: z.string().trim().min(1).max(200).describe('For people.'),
  cron: cron.optional(),
  every: every.optional(),
  timeZone: timeZone.default('UTC'),
  job: scheduledJobSchema,
  jitterMs: z
    .number()
    .int()
    .min(0)
    .max(DAY_MS)
    .default(0)
    .describe(
      'Runs begin up to this much later, each tick always by the same part; never after the next tick.',
    ),
  overlap: z
    .enum(OVERLAPS)
    .default('skip')
    .describe(
      'What becomes of a run that is due while the job before goes on: it is left out, waits (one at most), or the job ' +
        'before is cancelled.',
    ),
  catchUp: z
    .enum(CATCH_UPS)
    .default('one')
    .describe('After a time without schedulers: one run for all that were missed, or none.'),
  activeHours: activeHours.default(null),
};

const EXAMPLE = {
  name: 'nightly crawl',
  cron: '30 2 * * MON-FRI',
  timeZone: 'Europe/Berlin',
  job: { kind: 'crawl', urls: ['https://example.com/'], maxPages: 100 },
};

export const scheduleRequestSchema = z
  .strictObject(fields)
  .superRefine(({ cron: line, every: interval }, context) => {
    if ((line === undefined) === (interval === undefined)) {
      context.addIssue({ code: 'custom', path: ['cron'], message: 'Give `cron` or `every`, and not both.' });
    }
  })
  .meta({ id: 'ScheduleRequest', examples: [EXAMPLE] });

/** Left out stays; `cron` replaces `every`, and the other way round. */
export const scheduleChangeSchema = z
  .strictObject({
    name: fields.name.optional(),
    cron: fields.cron,
    every: fields.every,
    timeZone: timeZone.optional(),
    job: scheduledJobSchema.optional(),
    jitterMs: z.number().int().min(0).max(DAY_MS).optional(),
    overlap: z.enum(OVERLAPS).optional(),
    catchUp: z.enum(CATCH_UPS).optional(),
    activeHours: activeHours.optional(),
  })
  .superRefine(({ cron: line, every: interval }, context) => {
    if (line !== undefined && interval !== undefined) {
      context.addIssue({ code: 'custom', path: ['cron'], message: 'Give `cron` or `every`, and not both.' });
    }
  })
  .meta({ id: 'ScheduleUpdate', examples: [{ cron: '0 4 * * *', overlap: 'queue' }] });

/** The times of a schedule that is not stored. */
export const previewRequestSchema = z
  .strictObject({
    cron: fields.cron,
    every: fields.every,
    timeZone: fields.timeZone,
    activeHours: fields.activeHours,
  })
  .superRefine(({ cron: line, every: interval }, context) => {
    if ((line === undefined) === (interval === undefined)) {
      context.addIssue({ code: 'custom', path: ['cron'], message: 'Give `cron` or `every`, and not both.' });
    }
  })
  .meta({
    id: 'SchedulePreviewRequest',
    examples: [{ cron: '0 9 * * MON#1', timeZone: 'America/New_York' }],
  });

export type ScheduleRequest = z.output<typeof scheduleRequestSchema>;
export type ScheduleChangeRequest = z.output<typeof scheduleChangeSchema>;
export type PreviewRequest = z.output<typeof previewRequestSchema>;

/** The interval in milliseconds; null when the text is none. */
export function everyMsOf(value: string | number): number | null {
  if (typeof value === 'number') return Number.isInteger(value) ? value : null;
  const text = value.trim().toLowerCase();
  if (!EVERY.test(text)) return null;
  let ms = 0;
  for (const [, number = '', unit = ''] of text.matchAll(/(\d+)(ms|[smhdw])/g)) {
    ms += Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS];
  }
  return ms;
}

/** The request of a job that a schedule can start. */
export type ScheduledRequest = JobRequest<ScheduledKind>;

/** The request behind `job`, as the routes of its kind take it. */
export function jobRequestOf({ kind, ...request }: ScheduleRequest['job']): ScheduledRequest {
  return { kind, request } as ScheduledRequest;
}

/** Reads a stored request again, so that fields of later versions have their defaults. */
export const readJobRequest = (kind: ScheduledKind, request: unknown): ScheduledRequest =>
  jobRequestOf(scheduledJobSchema.parse({ ...(request as object), kind }));
