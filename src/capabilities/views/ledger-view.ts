import { z } from 'zod';
import { ERRORS, type ErrorCode, type RetryPolicy } from '../../core/errors/registry.ts';
import { creditsOf } from '../../core/model/credits.ts';
import type { Job } from '../../core/model/job.ts';
import { TASK_STATES, type TaskState } from '../../core/model/task.ts';
import type { LedgerGroup, LedgerRow } from '../../core/ports/ledger-view-store.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import { adviceFor, ruleSentence } from '../jobs/results/outcome-words.ts';
import type { JobCounts } from '../query/job-views.ts';

/** What the rows and the counts of a job's ledger look like in answers. */

const time = z.iso.datetime();
const count = z.number().int().min(0);

export const jobRowSchema = z
  .object({
    page: z.string().describe('Of the URL in this job; part of the addresses of its artifacts.'),
    url: z.string(),
    kind: z.enum(['page', 'sitemap', 'site']),
    state: z.enum(TASK_STATES),
    statusCode: count.nullable(),
    title: z.string().nullable(),
    contentType: z.string().nullable(),
    bytes: count.nullable(),
    engine: z.string().nullable().describe('Of the last attempt.'),
    durationMs: z.number().nullable().describe('Of the last attempt.'),
    attempts: count,
    credits: z.number().describe('Of all attempts.'),
    depth: count,
    foundBy: z.string(),
    foundOn: z.string().nullable(),
    finalUrl: z.string().nullable().describe('Where redirects led; null without a stored page.'),
    duplicateOf: z.string().nullable(),
    contentHash: z.string().nullable(),
    errorCode: z.string().nullable(),
    rule: z.string().nullable(),
    message: z.string().nullable().describe('The rule or the error as a sentence.'),
    discoveredAt: time,
    fetchedAt: time.nullable(),
    finishedAt: time.nullable(),
  })
  .meta({ id: 'JobRow' });

export function jobRowView(row: LedgerRow, job: Job): z.infer<typeof jobRowSchema> {
  return {
    page: String(row.taskId),
    url: row.url,
    kind: row.kind,
    state: row.state,
    statusCode: row.statusCode,
    title: row.page?.title ?? null,
    contentType: row.page?.contentType ?? null,
    bytes: row.page?.bytes ?? null,
    engine: row.engine,
    durationMs: row.durationMs,
    attempts: row.attempts,
    credits: creditsOf(row.microcredits),
    depth: row.depth,
    foundBy: row.foundBy,
    foundOn: row.foundOn,
    finalUrl: row.page?.finalUrl ?? null,
    duplicateOf: row.page?.duplicateOf ?? null,
    contentHash: row.page?.contentHash ?? null,
    errorCode: row.errorCode,
    rule: row.rule,
    message: row.errorCode === null ? ruleSentence(row.rule, row, job) : ERRORS[row.errorCode].meaning,
    discoveredAt: isoTime(row.discoveredAt),
    fetchedAt: isoTimeOrNull(row.page?.fetchedAt ?? null),
    finishedAt: isoTimeOrNull(row.finishedAt),
  };
}

const counted = { urls: count };

export const jobSummarySchema = z
  .object({
    jobId: z.string(),
    at: time.describe('When it was counted. Of a job that goes on it may be some seconds old.'),
    urls: count.describe('URLs that the filter leaves; without one, all of the job.'),
    bytes: count.describe('Of the whole job, whatever the filter.'),
    credits: z.number().describe('Of the whole job, whatever the filter.'),
    states: z.array(z.object({ state: z.enum(TASK_STATES), ...counted })),
    causes: z
      .array(
        z.object({
          state: z.enum(TASK_STATES),
          cause: z
            .string()
            .describe('The error code, or the rule up to its colon; a value for the filter `reason`.'),
          errorCode: z.string().nullable(),
          ...counted,
          message: z.string().nullable().describe('Why, as a sentence about the example.'),
          advice: z.string().nullable().describe('What to do about it; null when there is nothing to do.'),
          retry: z
            .enum(['never', 'later', 'otherWay'])
            .nullable()
            .describe('Of errors: whether trying again can help.'),
          example: z.string().describe('One of the URLs.'),
        }),
      )
      .describe('Why URLs failed, were skipped, denied or cancelled; the most frequent cause first.'),
    statusCodes: z.array(z.object({ statusCode: count.nullable(), ...counted })),
    engines: z
      .array(
        z.object({
          engine: z.string(),
          ...counted,
          bytes: count,
          meanMs: z.number(),
          credits: z.number(),
        }),
      )
      .describe('By the engine of the last attempt, with the figures of these attempts.'),
    depths: z.array(z.object({ depth: count, ...counted })),
    hosts: z
      .array(
        z.object({
          host: z.string(),
          ...counted,
          done: count,
          failed: count,
          skipped: count,
          denied: count,
        }),
      )
      .describe('The 200 hosts with the most URLs.'),
    contentTypes: z
      .array(z.object({ contentType: z.string().nullable(), pages: count, bytes: count }))
      .describe('Of the first 100,000 stored pages.'),
    timeline: z
      .object({
        bucketMs: count,
        points: z.array(z.object({ at: time, done: count, failed: count, bytes: count })),
      })
      .describe('URLs that ended, in at most 200 points; those without any are left out.'),
  })
  .meta({ id: 'JobSummary' });

/** Adds the groups that have a key in common. */
function sumBy<K, T>(
  groups: readonly LedgerGroup[],
  keyOf: (group: LedgerGroup) => K,
  view: (key: K, urls: number, of: readonly LedgerGroup[]) => T,
): T[] {
  const found = new Map<K, LedgerGroup[]>();
  for (const group of groups) {
    const key = keyOf(group);
    const list = found.get(key);
    if (list === undefined) found.set(key, [group]);
    else list.push(group);
  }
  const sums = [...found].map(([key, of]) => ({
    key,
    of,
    urls: of.reduce((sum, each) => sum + each.urls, 0),
  }));
  return sums.sort((a, b) => b.urls - a.urls).map(({ key, urls, of }) => view(key, urls, of));
}

const HAS_CAUSE: ReadonlySet<TaskState> = new Set(['failed', 'skipped', 'denied', 'cancelled']);

function causeView([first]: readonly LedgerGroup[], urls: number, job: Job) {
  const { state, errorCode = null, example, depth, cause = null } = first ?? NO_GROUP;
  const message =
    errorCode === null
      ? ruleSentence(example.rule, { url: example.url, depth, foundOn: null }, job)
      : ERRORS[errorCode].meaning;
  const retry: RetryPolicy | null = errorCode === null ? null : ERRORS[errorCode].retry;
  return {
    state,
    cause: errorCode ?? cause ?? state,
    errorCode,
    urls,
    message,
    advice: adviceFor(state, cause, errorCode),
    retry,
    example: example.url,
  };
}

const NO_GROUP: Pick<LedgerGroup, 'state' | 'example' | 'depth'> & {
  errorCode?: ErrorCode | null;
  cause?: string | null;
} = { state: 'ready', example: { url: '', rule: null }, depth: 0 };

export function jobSummaryView(job: Job, counts: JobCounts): z.infer<typeof jobSummarySchema> {
  const { groups, hosts, contentTypes, timeline, bucketMs, at } = counts;
  const attempted = groups.filter(({ engine }) => engine !== null);
  const total = (of: readonly LedgerGroup[], field: 'bytes' | 'durationMs' | 'microcredits') =>
    of.reduce((sum, each) => sum + each[field], 0);
  return {
    jobId: job.id,
    at: isoTime(at),
    urls: groups.reduce((sum, { urls }) => sum + urls, 0),
    bytes: job.counters.bytes,
    credits: creditsOf(job.microcredits),
    states: sumBy(
      groups,
      ({ state }) => state,
      (state, urls) => ({ state, urls }),
    ),
    causes: sumBy(
      groups.filter(({ state }) => HAS_CAUSE.has(state)),
      ({ state, errorCode, cause }) => JSON.stringify([state, errorCode ?? cause]),
      (_key, urls, of) => causeView(of, urls, job),
    ),
    statusCodes: sumBy(
      attempted,
      ({ statusCode }) => statusCode,
      (statusCode, urls) => ({ statusCode, urls }),
    ),
    engines: sumBy(
      attempted,
      ({ engine }) => engine ?? '',
      (engine, urls, of) => ({
        engine,
        urls,
        bytes: total(of, 'bytes'),
        meanMs: Math.round((total(of, 'durationMs') / urls) * 10) / 10,
        credits: creditsOf(total(of, 'microcredits')),
      }),
    ),
    depths: sumBy(
      groups,
      ({ depth }) => depth,
      (depth, urls) => ({ depth, urls }),
    ).sort((a, b) => a.depth - b.depth),
    hosts: [...hosts],
    contentTypes: [...contentTypes],
    timeline: { bucketMs, points: timeline.map((point) => ({ ...point, at: isoTime(point.at) })) },
  };
}
