import { monitorChangeSchema, monitorRequestSchema } from '../../capabilities/monitors/monitor-request.ts';
import type { Monitors } from '../../capabilities/monitors/monitors.ts';
import {
  type MonitorChangeView,
  type MonitorView,
  monitorChangeView,
  monitorView,
} from '../../capabilities/views/monitor-view.ts';
import { type RunView, runView } from '../../capabilities/views/schedule-view.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { AccountId } from '../../core/model/ids.ts';
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

/** `monitors` is asked for when it is needed: `isWriting` where secrets may be stored. */
export function localMonitors(
  monitors: (isWriting: boolean) => Promise<Monitors>,
  accountId: AccountId,
  audit: (action: AuditAction, target: string) => Promise<void>,
): BackendMonitors {
  const owner = { accountId, credentials: 'read' } as const;
  const changed = async (action: 'pause' | 'resume', id: string) => {
    const view = monitorView(await (await monitors(false))[action](accountId, id));
    await audit(`monitor.${action}`, view.id);
    return view;
  };
  return {
    async create(request) {
      const made = await (await monitors(true)).create(monitorRequestSchema.parse(request), owner);
      await audit('monitor.create', made.monitor.id);
      return monitorView(made);
    },
    list: async (limit) => (await (await monitors(false)).list({ accountId, limit })).items.map(monitorView),
    get: async (id) => monitorView(await (await monitors(false)).get(accountId, id)),
    async change(id, change) {
      const made = await (await monitors(true)).update(id, monitorChangeSchema.parse(change), owner);
      await audit('monitor.update', id);
      return monitorView(made);
    },
    pause: (id) => changed('pause', id),
    resume: (id) => changed('resume', id),
    async run(id) {
      const run = runView(await (await monitors(true)).runNow(accountId, id));
      await audit('monitor.run', id);
      return run;
    },
    changes: async (id, { kind, limit }) =>
      (await (await monitors(false)).changes({ accountId, id, kind, limit })).items.map(monitorChangeView),
    async delete(id) {
      await (await monitors(false)).delete(accountId, id);
      await audit('monitor.delete', id);
    },
  };
}

/** The same through the API of a running server. */
export function remoteMonitors(client: ApiClient): BackendMonitors {
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
