import {
  type PreviewRequest,
  previewRequestSchema,
  type ScheduleChangeRequest,
  type ScheduleRequest,
  scheduleChangeSchema,
  scheduleRequestSchema,
} from '../../capabilities/schedules/schedule-request.ts';
import type { Schedules } from '../../capabilities/schedules/schedules.ts';
import {
  type NextView,
  nextView,
  type RunView,
  runView,
  type ScheduleView,
  scheduleView,
} from '../../capabilities/views/schedule-view.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { ApiClient } from './api-client.ts';

/** The schedules of an installation, as commands read and change them. `id` is the id of a schedule. */
export interface BackendSchedules {
  create(request: ScheduleRequest): Promise<ScheduleView>;
  change(id: string, request: ScheduleChangeRequest): Promise<ScheduleView>;
  preview(request: PreviewRequest): Promise<NextView>;
  list(limit: number): Promise<ScheduleView[]>;
  get(id: string): Promise<ScheduleView>;
  next(id: string): Promise<NextView>;
  pause(id: string): Promise<ScheduleView>;
  resume(id: string): Promise<ScheduleView>;
  /** A server that works on the data folder begins with the job; without one it waits there. */
  run(id: string): Promise<RunView>;
  history(id: string, limit: number): Promise<RunView[]>;
  delete(id: string): Promise<void>;
}

/** `schedules` is asked for when it is needed: `isWriting` where secrets may be stored. */
export function localSchedules(
  schedules: (isWriting: boolean) => Promise<Schedules>,
  accountId: AccountId,
  audit: (action: AuditAction, target: string) => Promise<void>,
): BackendSchedules {
  const changed = async (action: 'pause' | 'resume', id: string) => {
    const view = scheduleView(await (await schedules(false))[action](accountId, id));
    await audit(`schedule.${action}`, view.id);
    return view;
  };
  return {
    async create(request) {
      const owner = { accountId, credentials: 'read' } as const;
      const made = await (await schedules(true)).create(scheduleRequestSchema.parse(request), owner);
      await audit('schedule.create', made.id);
      return scheduleView(made);
    },
    async change(id, request) {
      const owner = { accountId, credentials: 'read' } as const;
      const changed = await (await schedules(true)).update(id, scheduleChangeSchema.parse(request), owner);
      await audit('schedule.update', changed.id);
      return scheduleView(changed);
    },
    preview: async (request) =>
      nextView(await (await schedules(false)).preview(previewRequestSchema.parse(request))),
    list: async (limit) =>
      (await (await schedules(false)).list({ accountId, limit })).items.map(scheduleView),
    get: async (id) => scheduleView(await (await schedules(false)).get(accountId, id)),
    next: async (id) => nextView(await (await schedules(false)).next(accountId, id)),
    pause: (id) => changed('pause', id),
    resume: (id) => changed('resume', id),
    async run(id) {
      const run = runView(await (await schedules(true)).runNow(accountId, id));
      await audit('schedule.run', run.scheduleId);
      return run;
    },
    history: async (id, limit) =>
      (await (await schedules(false)).runs({ accountId, id, limit })).items.map(runView),
    async delete(id) {
      await (await schedules(false)).delete(accountId, id);
      await audit('schedule.delete', id);
    },
  };
}

/** The same through the API of a running server. */
export function remoteSchedules(client: ApiClient): BackendSchedules {
  const path = (id: string, what = '') => `/v1/schedules/${urlPart(id)}${what}`;
  return {
    create: (request) => client.call('POST', '/v1/schedules', request),
    change: (id, request) => client.call('PATCH', path(id), request),
    preview: (request) => client.call('POST', '/v1/schedules/preview', request),
    list: (limit) => Array.fromAsync(client.list<ScheduleView>('/v1/schedules', limit)),
    get: (id) => client.call('GET', path(id)),
    next: (id) => client.call('GET', path(id, '/next')),
    pause: (id) => client.call('POST', path(id, '/pause')),
    resume: (id) => client.call('POST', path(id, '/resume')),
    run: (id) => client.call('POST', path(id, '/run')),
    history: (id, limit) => Array.fromAsync(client.list<RunView>(path(id, '/runs'), limit)),
    delete: async (id) => void (await client.call('DELETE', path(id))),
  };
}
