import type {
  PreviewRequest,
  ScheduleChangeRequest,
  ScheduleRequest,
} from '../../capabilities/schedules/schedule-request.ts';
import type { NextView, RunView, ScheduleView } from '../../capabilities/views/schedule-view.ts';
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

export function schedulesOver(client: ApiClient): BackendSchedules {
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
