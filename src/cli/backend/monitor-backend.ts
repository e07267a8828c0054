import type { MonitorChangeView, MonitorView } from '../../capabilities/views/monitor-view.ts';
import type { RunView } from '../../capabilities/views/schedule-view.ts';
import type { ChangeKind } from '../../core/model/monitor.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { ApiClient } from './api-client.ts';

/** The monitors of an installation, as commands read and change them. `id` is the id of a monitor. Requests are those of the API. */
export interface BackendMonitors {
  create(request: object): Promise<MonitorView>;
  list(limit: number): Promise<MonitorView[]>;
  get(id: string): Promise<MonitorView>;
  change(id: string, change: object): Promise<MonitorView>;
  pause(id: string): Promise<MonitorView>;
  resume(id: string): Promise<MonitorView>;
  /** A server that works on the data folder begins with the check; without one it waits there. */
  run(id: string): Promise<RunView>;
  changes(
    id: string,
    query: { readonly kind?: ChangeKind | undefined; readonly limit: number },
  ): Promise<MonitorChangeView[]>;
  delete(id: string): Promise<void>;
}

export function monitorsOver(client: ApiClient): BackendMonitors {
  const path = (id: string, what = '') => `/v1/monitors/${urlPart(id)}${what}`;
  return {
    create: (request) => client.call('POST', '/v1/monitors', request),
    list: (limit) => Array.fromAsync(client.list<MonitorView>('/v1/monitors', limit)),
    get: (id) => client.call('GET', path(id)),
    change: (id, change) => client.call('PATCH', path(id), change),
    pause: (id) => client.call('POST', path(id, '/pause')),
    resume: (id) => client.call('POST', path(id, '/resume')),
    run: (id) => client.call('POST', path(id, '/run')),
    changes: (id, { kind, limit }) =>
      Array.fromAsync(
        client.list<MonitorChangeView>(
          path(id, kind === undefined ? '/changes' : `/changes?kind=${kind}`),
          limit,
        ),
      ),
    delete: async (id) => void (await client.call('DELETE', path(id))),
  };
}
