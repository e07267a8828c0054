import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  previewRequestSchema,
  scheduleChangeSchema,
  scheduleRequestSchema,
} from '../../capabilities/schedules/schedule-request.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import {
  nextSchema,
  nextView,
  runSchema,
  runView,
  scheduleSchema,
  scheduleView,
} from '../../capabilities/views/schedule-view.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { RunId, ScheduleId } from '../../core/model/ids.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, ownerOf, placeOfCaller } from '../server/caller.ts';
import { answers, deletedSchema, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const scheduleParams = z.strictObject({ id: z.string().max(64).describe('The schedule.') });

/** The routes of schedules: the schedules themselves, their changes, and their runs and times. */
export function addScheduleRoutes(app: App, deps: SharedRouteDeps): void {
  addSchedules(app, deps);
  addScheduleChanges(app, deps);
  addScheduleRuns(app, deps);
}

/** Writes the audit log after the change: what was refused has not happened. */
const recorder =
  ({ store, now }: SharedRouteDeps) =>
  async (request: FastifyRequest, action: AuditAction, target: string): Promise<void> => {
    const { id: actor } = apiKeyOf(request);
    await store.audit([{ at: now(), actor, action, target, details: placeOfCaller(request) }]);
  };

function addSchedules(app: App, deps: SharedRouteDeps): void {
  const { schedules, idempotency } = deps;
  const record = recorder(deps);

  app.route({
    method: 'POST',
    url: '/v1/schedules',
    config: { access: 'schedules', creates: true },
    schema: {
      tags: ['schedules'],
      summary: 'Run a job again and again',
      description:
        'By a cron line in a time zone, or at an interval. The job is checked now as it will be with every run. A local ' +
        'time that does not exist runs once when the clock has jumped over it; one that occurs twice runs once.',
      body: scheduleRequestSchema,
      response: answers({ 201: scheduleSchema }),
    },
    async handler(request, reply) {
      const { id, isRepeated } = idempotency.idOf(request);
      const schedule = await schedules.create(request.body, ownerOf(request), id as string as ScheduleId);
      if (!isRepeated) await record(request, 'schedule.create', schedule.id);
      reply.code(201).header('location', `/v1/schedules/${schedule.id}`);
      return success(scheduleView(schedule));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/schedules/preview',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'The next ten times of a schedule that is not stored',
      body: previewRequestSchema,
      response: answers({ 200: nextSchema }),
    },
    handler: async (request) => success(nextView(await schedules.preview(request.body))),
  });

  app.route({
    method: 'GET',
    url: '/v1/schedules',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'List schedules, newest first',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(scheduleSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('schedules', request.query.cursor);
      const { limit } = request.query;
      const slice = await schedules.list({ accountId: accountOf(request), cursor, limit });
      return success(listAnswer('schedules', slice, scheduleView));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/schedules/:id',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'One schedule',
      params: scheduleParams,
      response: answers({ 200: scheduleSchema }),
    },
    handler: async (request) =>
      success(scheduleView(await schedules.get(accountOf(request), request.params.id))),
  });
}

function addScheduleChanges(app: App, deps: SharedRouteDeps): void {
  const { schedules } = deps;
  const record = recorder(deps);

  app.route({
    method: 'PATCH',
    url: '/v1/schedules/:id',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'Change a schedule',
      description:
        'Fields that are left out stay. With other times it goes on at the first of them from now; an interval that is ' +
        'changed is counted from now.',
      params: scheduleParams,
      body: scheduleChangeSchema,
      response: answers({ 200: scheduleSchema }),
    },
    async handler(request) {
      const schedule = await schedules.update(request.params.id, request.body, ownerOf(request));
      await record(request, 'schedule.update', schedule.id);
      return success(scheduleView(schedule));
    },
  });

  for (const action of ['pause', 'resume'] as const) {
    app.route({
      method: 'POST',
      url: `/v1/schedules/:id/${action}`,
      config: { access: 'schedules' },
      schema: {
        tags: ['schedules'],
        summary: action === 'pause' ? 'Pause a schedule' : 'Go on with a paused schedule',
        description:
          action === 'pause'
            ? 'It does not run until `resume`. Runs that wait are skipped; jobs go on.'
            : 'It goes on with its next time from now; what was passed over meanwhile is not made up for.',
        params: scheduleParams,
        response: answers({ 200: scheduleSchema }),
      },
      async handler(request) {
        const schedule = await schedules[action](accountOf(request), request.params.id);
        await record(request, `schedule.${action}`, schedule.id);
        return success(scheduleView(schedule));
      },
    });
  }

  app.route({
    method: 'DELETE',
    url: '/v1/schedules/:id',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'Delete a schedule with its history; its jobs stay',
      params: scheduleParams,
      response: answers({ 200: deletedSchema }),
    },
    async handler(request) {
      const { id } = request.params;
      await schedules.delete(accountOf(request), id);
      await record(request, 'schedule.delete', id);
      return success({ id, deleted: true as const });
    },
  });
}

function addScheduleRuns(app: App, deps: SharedRouteDeps): void {
  const { schedules, idempotency } = deps;
  const record = recorder(deps);

  app.route({
    method: 'POST',
    url: '/v1/schedules/:id/run',
    config: { access: 'schedules', creates: true },
    schema: {
      tags: ['schedules'],
      summary: 'Run a schedule now',
      description:
        'By its rule for overlaps: 409 when it is skipped because the job before goes on; `waiting` when it waits for ' +
        'that job. A paused schedule runs, too. Its times stay as they are.',
      params: scheduleParams,
      response: answers({ 202: runSchema }),
    },
    async handler(request, reply) {
      const { id } = idempotency.idOf(request);
      const run = await schedules.runNow(accountOf(request), request.params.id, id as string as RunId);
      await record(request, 'schedule.run', run.scheduleId);
      reply.code(202);
      return success(runView(run));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/schedules/:id/runs',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'The history of a schedule, newest first',
      description:
        'The last 1,000 entries at least: runs with their jobs, and those that were skipped, refused or missed with the ' +
        'reason.',
      params: scheduleParams,
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(runSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('runs', request.query.cursor);
      const { limit } = request.query;
      const slice = await schedules.runs({
        accountId: accountOf(request),
        id: request.params.id,
        cursor,
        limit,
      });
      return success(listAnswer('runs', slice, runView));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/schedules/:id/runs/:run',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'One run of a schedule',
      params: scheduleParams.extend({ run: z.string().max(64).describe('The run.') }),
      response: answers({ 200: runSchema }),
    },
    handler: async (request) =>
      success(runView(await schedules.run(accountOf(request), request.params.id, request.params.run))),
  });

  app.route({
    method: 'GET',
    url: '/v1/schedules/:id/next',
    config: { access: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'The next ten times of a schedule',
      description: 'Of a paused schedule those that it would have.',
      params: scheduleParams,
      response: answers({ 200: nextSchema }),
    },
    handler: async (request) =>
      success(nextView(await schedules.next(accountOf(request), request.params.id))),
  });
}
