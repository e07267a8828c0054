import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { exportsOfJob, removeFiles } from '../../capabilities/exports/export-file.ts';
import { MAX_DURATION_MS } from '../../capabilities/jobs/request/job-request.ts';
import { jobSchema, jobView } from '../../capabilities/views/job-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import { MOST_CREDITS, microcreditsOf } from '../../core/model/credits.ts';
import type { ScheduleId } from '../../core/model/ids.ts';
import { type Budgets, JOB_STATUSES, type Job } from '../../core/model/job.ts';
import { JOB_KINDS } from '../../core/model/job-kinds.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, placeOfCaller } from '../server/caller.ts';
import { answers, deletedSchema, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

export const jobParams = z.strictObject({ id: z.string().max(64).describe('The job.') });

const budget = z.number().int().min(1).nullable().optional();
const duration = z.number().int().min(1).max(MAX_DURATION_MS).nullable().optional();
/** Left out stays, null lifts. */
const resumeSchema = z
  .strictObject({
    maxPages: budget.describe('New page budget of the whole job.'),
    maxBytes: budget.describe('New byte budget of the whole job.'),
    maxDurationMs: duration.describe('Time the job gets from now on.'),
    maxBrowserMs: budget.describe('New budget of browser time of the whole job.'),
    maxProxyBytes: budget.describe('New budget of bytes through proxies of the whole job.'),
    maxCredits: z
      .number()
      .positive()
      .max(MOST_CREDITS)
      .nullable()
      .optional()
      .describe('New budget of credits of the whole job.'),
  })
  .nullish()
  .meta({ examples: [{ maxPages: 500 }] });

const timeOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

export function addJobRoutes(app: App, { jobs, store, exportFiles, now }: SharedRouteDeps): void {
  /** After the change: what was refused has not happened. */
  async function recorded(request: FastifyRequest, action: AuditAction, job: Job): Promise<Job> {
    const { id: actor } = apiKeyOf(request);
    await store.audit([{ at: now(), actor, action, target: job.id, details: placeOfCaller(request) }]);
    return job;
  }

  app.route({
    method: 'GET',
    url: '/v1/jobs',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'List jobs, newest first',
      querystring: z.strictObject({
        status: z.enum(JOB_STATUSES).optional(),
        kind: z.enum(JOB_KINDS).optional(),
        domain: z
          .string()
          .min(1)
          .max(253)
          .optional()
          .describe(
            'Only jobs that start on this domain or a subdomain of it (of a batch, the first 100 URLs count). A page of the list may then be shorter than `limit`, and empty, although `nextCursor` leads on.',
          ),
        text: z
          .string()
          .min(1)
          .max(500)
          .optional()
          .describe(
            'Only jobs with this text in their id or a start URL; pages of the list as with `domain`.',
          ),
        since: z.iso
          .datetime({ offset: true })
          .optional()
          .describe('Only jobs that were made at this time or later.'),
        until: z.iso.datetime({ offset: true }).optional().describe('Only jobs that were made before.'),
        schedule: z.string().max(64).optional().describe('Only jobs of this schedule.'),
        ...pagingFields,
      }),
      response: answers({ 200: listSchema(jobSchema) }),
    },
    async handler(request) {
      const { status, kind, domain, text, schedule, limit } = request.query;
      const [since, until] = [timeOf(request.query.since), timeOf(request.query.until)];
      const cursor = unwrapCursor('jobs', request.query.cursor);
      const scheduleId = schedule as ScheduleId | undefined;
      const accountId = accountOf(request);
      const filter = { status, kind, domain, text, since, until, scheduleId };
      const slice = await jobs.list({ accountId, ...filter, cursor, limit });
      return success(listAnswer('jobs', slice, (job) => jobView(job)));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'One job, and what it waits for',
      params: jobParams,
      response: answers({ 200: jobSchema }),
    },
    async handler(request) {
      const job = await jobs.get(request.params.id, accountOf(request));
      return success(jobView(job, await jobs.waitingFor(job)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/jobs/:id/cancel',
    config: { access: 'jobs:write' },
    schema: {
      tags: ['jobs'],
      summary: 'Cancel a job',
      description:
        'URLs not yet begun are dropped; what runs is finished and kept. `resume` brings them back. 409 for a job that ' +
        'has ended.',
      params: jobParams,
      response: answers({ 200: jobSchema }),
    },
    async handler(request) {
      const job = await jobs.cancel(request.params.id, accountOf(request));
      return success(jobView(await recorded(request, 'job.cancel', job)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/jobs/:id/resume',
    config: { access: 'jobs:write' },
    schema: {
      tags: ['jobs'],
      summary: 'Go on with a cancelled job, or one whose budget was spent',
      params: jobParams,
      body: resumeSchema,
      response: answers({ 200: jobSchema }),
    },
    async handler(request) {
      const { maxCredits, ...others } = request.body ?? {};
      const given = Object.entries(others).filter(([, value]) => value !== undefined);
      const budgets: Partial<Budgets> = {
        ...Object.fromEntries(given),
        ...(maxCredits === undefined
          ? {}
          : { maxMicrocredits: maxCredits === null ? null : microcreditsOf(maxCredits) }),
      };
      const job = await jobs.resume(request.params.id, accountOf(request), budgets);
      return success(jobView(await recorded(request, 'job.resume', job)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/jobs/:id/retry',
    config: { access: 'jobs:write' },
    schema: {
      tags: ['jobs'],
      summary: 'Try the failed URLs of a job again',
      params: jobParams,
      response: answers({ 200: jobSchema }),
    },
    async handler(request) {
      const job = await jobs.retry(request.params.id, accountOf(request));
      return success(jobView(await recorded(request, 'job.retry', job)));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/jobs/:id',
    config: { access: 'jobs:write' },
    schema: {
      tags: ['jobs'],
      summary: 'Delete a job that has ended, with its pages and ledger',
      params: jobParams,
      response: answers({ 200: deletedSchema }),
    },
    async handler(request) {
      const { id } = request.params;
      const key = apiKeyOf(request);
      const job = await jobs.get(id, key.accountId);
      const exports = await exportsOfJob(store, key.accountId, job.id);
      await jobs.delete(id, key.accountId);
      // A file that cannot be removed now is removed by the cleanup, because nothing refers to it any more.
      for (const each of exports) await removeFiles(each, exportFiles).catch(() => undefined);
      await store.audit([{ at: now(), actor: key.id, action: 'job.delete', target: id, details: {} }]);
      return success({ id, deleted: true as const });
    },
  });
}
