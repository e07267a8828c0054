import { z } from 'zod';
import { CHANGE_KINDS, MONITOR_TARGETS } from '../../core/model/monitor.ts';
import type { MonitorChange } from '../../core/ports/monitor-store.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import type { ChangeData } from '../monitors/check-report.ts';
import type { MonitorDetail, MonitorPreview } from '../monitors/monitors.ts';
import { hideScheduledJob } from '../sessions/job-secrets.ts';
import { selfLinks } from './list.ts';

const time = z.iso.datetime();

export const monitorSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    target: z.enum(MONITOR_TARGETS).describe('What is watched: `urls`, a `site` or a `sitemap`.'),
    urls: z.array(z.string()).describe('The pages, or the one address of the site or sitemap.'),
    schedule: z
      .object({
        id: z.string(),
        cron: z.string().nullable(),
        everyMs: z.number().int().nullable(),
        timeZone: z.string(),
        jitterMs: z.number().int(),
        activeHours: z
          .object({ from: z.string(), to: z.string(), days: z.array(z.number().int()) })
          .nullable(),
      })
      .meta({ id: 'MonitorTiming' }),
    watch: z.looseObject({}).describe('What of each page is compared.'),
    ignore: z.looseObject({}),
    threshold: z.looseObject({}),
    confirm: z.number().int(),
    settleMs: z.number().int(),
    failAfter: z.number().int(),
    learnNoise: z.boolean(),
    recheck: z.boolean(),
    maxPages: z.number().int(),
    options: z.looseObject({}).describe('How each page is fetched, with all defaults; secrets are hidden.'),
    notify: z.array(z.string()).describe('The webhooks of this monitor alone.'),
    status: z.enum(['active', 'paused']),
    checks: z.number().int().describe('Checks so far; the first ones make the baseline.'),
    lastCheck: z
      .object({
        at: time,
        jobId: z.string(),
        pages: z.number().int(),
        changes: z.number().int(),
        failed: z.number().int(),
        isCovered: z
          .boolean()
          .describe(
            'Of a site: the crawl is proven to have covered it, so that pages that are missing count as removed.',
          ),
      })
      .nullable(),
    lastChangeAt: time.nullable(),
    nextCheckAt: time.nullable(),
    createdAt: time,
    updatedAt: time,
    links: z.object({ self: z.string(), changes: z.string(), schedule: z.string(), jobs: z.string() }),
  })
  .meta({ id: 'Monitor' });

export function monitorView({ monitor, schedule }: MonitorDetail) {
  const { id, name, settings, lastCheck } = monitor;
  const { target, rules, diff, maxPages, recheckMs, webhookIds } = settings;
  const { timing, jitterMs } = schedule;
  const { watch, ignore, threshold } = diff as DiffRules;
  const request = hideScheduledJob(schedule.job).request as {
    readonly urls: readonly string[];
    readonly sitemapUrls?: readonly string[];
    readonly options: Record<string, unknown>;
  };
  const { self } = selfLinks('monitors', id);
  return {
    id,
    name,
    target,
    urls: [...request.urls, ...(request.sitemapUrls ?? [])],
    schedule: {
      id: schedule.id,
      cron: timing.cron,
      everyMs: timing.everyMs,
      timeZone: timing.timeZone,
      jitterMs,
      activeHours: timing.activeHours,
    },
    watch,
    ignore,
    threshold,
    ...rules,
    recheck: recheckMs !== null,
    maxPages,
    options: request.options,
    notify: webhookIds,
    status: schedule.isPaused ? ('paused' as const) : ('active' as const),
    checks: monitor.checks,
    lastCheck:
      lastCheck === null
        ? null
        : {
            at: isoTime(lastCheck.at),
            jobId: lastCheck.jobId,
            pages: lastCheck.pages,
            changes: lastCheck.changes,
            failed: lastCheck.failed,
            isCovered: lastCheck.isCovered,
          },
    lastChangeAt: isoTimeOrNull(monitor.lastChangeAt),
    nextCheckAt: isoTimeOrNull(schedule.dueAt),
    createdAt: isoTime(monitor.createdAt),
    updatedAt: isoTime(monitor.updatedAt),
    links: {
      self,
      changes: `${self}/changes`,
      schedule: selfLinks('schedules', schedule.id).self,
      jobs: `/v1/jobs?schedule=${schedule.id}`,
    },
  };
}

const sideSchema = z
  .object({ jobId: z.string(), taskId: z.number().int() })
  .nullable()
  .describe('The stored page; it may be gone.');

export const monitorChangeSchema = z
  .object({
    id: z.string(),
    monitorId: z.string(),
    jobId: z.string(),
    at: time,
    kind: z.enum(CHANGE_KINDS),
    url: z.string(),
    fromUrl: z.string().nullable().describe('Of MOVED: where the page was before.'),
    title: z.string().nullable(),
    text: z.string().describe('What changed, in a sentence.'),
    diff: z
      .object({
        texts: z
          .array(z.looseObject({ name: z.string() }))
          .describe('By name, with segments as in the diff of snapshots.'),
        fields: z.array(z.looseObject({ field: z.string() })),
      })
      .nullable()
      .describe('Null for pages that are new, gone or elsewhere.'),
    before: sideSchema,
    after: sideSchema,
    links: z.object({ self: z.string(), monitor: z.string(), job: z.string() }),
  })
  .meta({ id: 'MonitorChange' });

export function monitorChangeView(change: MonitorChange) {
  const { id, monitorId, jobId, at, kind, url, fromUrl, title, summary } = change;
  const data = JSON.parse(Buffer.from(change.data).toString('utf8')) as ChangeData;
  const side = (source: ChangeData['after']) =>
    source === null ? null : { jobId: source.jobId, taskId: source.taskId };
  const monitor = selfLinks('monitors', monitorId).self;
  return {
    id,
    monitorId,
    jobId,
    at: isoTime(at),
    kind,
    url,
    fromUrl,
    title,
    text: summary,
    diff:
      data.comparison === null
        ? null
        : {
            texts: data.comparison.texts.map(({ name, diff }) => ({ name, ...diff })),
            fields: [...data.comparison.fields],
          },
    before: side(data.before),
    after: side(data.after),
    links: { self: `${monitor}/changes?change=${id}`, monitor, job: `/v1/jobs/${jobId}` },
  };
}

export const monitorPreviewSchema = z
  .object({
    url: z.string(),
    title: z.string().nullable(),
    texts: z
      .array(z.object({ name: z.string(), text: z.string(), chars: z.number().int() }))
      .describe('The texts that would be compared; long ones are cut, `chars` is their whole length.'),
    fields: z.looseObject({}).describe('The values that would be compared.'),
    lines: z.number().int().describe('Lines that would be compared, over all texts and fields.'),
    jobId: z.string(),
    links: z.object({ job: z.string() }),
  })
  .meta({ id: 'MonitorPreview' });

export const monitorPreviewView = ({ jobId, url, title, texts, fields, lines }: MonitorPreview) => ({
  url,
  title,
  texts: [...texts],
  fields,
  lines,
  jobId,
  links: { job: `/v1/jobs/${jobId}` },
});

export type MonitorView = ReturnType<typeof monitorView>;
export type MonitorChangeView = ReturnType<typeof monitorChangeView>;
