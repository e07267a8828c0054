import type { JobError } from '../../capabilities/jobs/results/job-reader.ts';
import type { PageResult } from '../../capabilities/jobs/results/page-result.ts';
import type { SearchHit } from '../../capabilities/query/search/searches.ts';
import type { ChangeView } from '../../capabilities/views/diff-view.ts';
import type { JobView } from '../../capabilities/views/job-view.ts';
import type { MonitorChangeView, MonitorView } from '../../capabilities/views/monitor-view.ts';
import type { RunView, ScheduleView } from '../../capabilities/views/schedule-view.ts';
import type { CredentialView, SessionEntryView } from '../../capabilities/views/session-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { creditsOf } from '../../core/model/credits.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import { urlPart } from '../../lib/url-part.ts';
import { type ApiClient, followEvents } from './api-client.ts';
import {
  type Backend,
  type BackendExports,
  type BackendHistory,
  type BackendMonitors,
  type BackendSchedules,
  MOST_LISTED,
} from './backend.ts';
import { remoteExports } from './export-backend.ts';

const HITS_AT_ONCE = 100;

/** `exportsOf`: how the bytes of an export come, by the paths of jobs. */
export function createApiBackend(
  client: ApiClient,
  exportsOf: (client: ApiClient, pathOf: (id: string) => Promise<string>) => BackendExports = remoteExports,
): Backend {
  const listed = <T>(path: string, limit: number) => Array.fromAsync(client.list<T>(path, limit));

  /** The path of a job; of "latest", that of the newest one. */
  async function pathOf(id: string): Promise<string> {
    if (id !== 'latest') return `/v1/jobs/${urlPart(id)}`;
    const [latest] = await listed<JobView>('/v1/jobs', 1);
    if (latest === undefined) throw new ScrapifieError('NOT_FOUND', 'There are no jobs.');
    return `/v1/jobs/${latest.id}`;
  }
  const change = async (id: string, what: string, body?: object) =>
    client.call<JobView>('POST', `${await pathOf(id)}/${what}`, body);
  const named = (resource: 'sessions' | 'credentials', name: string) => `/v1/${resource}/${urlPart(name)}`;
  const webhook = (id: string) => `/v1/webhooks/${urlPart(id)}`;

  return {
    jobs: {
      list: ({ status, limit }) =>
        listed('/v1/jobs'.concat(status === undefined ? '' : `?status=${status}`), limit),
      get: async (id) => client.call('GET', await pathOf(id)),
      cancel: (id) => change(id, 'cancel'),
      resume(id, { maxMicrocredits, ...budgets } = {}) {
        if (maxMicrocredits === undefined) return change(id, 'resume', budgets);
        const maxCredits = maxMicrocredits === null ? null : creditsOf(maxMicrocredits);
        return change(id, 'resume', { ...budgets, maxCredits });
      },
      retry: (id) => change(id, 'retry'),
      async delete(id) {
        const deleted = await client.call<{ readonly id: string }>('DELETE', await pathOf(id));
        return deleted.id;
      },
      async *urls(id, state) {
        const filter = state === undefined ? '' : `?state=${state}`;
        yield* client.stream<LedgerEntry>(`${await pathOf(id)}/urls${filter}`);
      },
      async *errors(id) {
        yield* client.list<JobError>(`${await pathOf(id)}/errors`);
      },
      async *events(id) {
        yield* followEvents(client, `${await pathOf(id)}/events`);
      },
      async *results(id) {
        yield* client.stream<PageResult>(`${await pathOf(id)}/results`);
      },
      async *diff(earlier, later, rules, types) {
        const against = decodeURIComponent((await pathOf(earlier)).split('/').at(-1) ?? earlier);
        const query = new URLSearchParams({ against, rules: JSON.stringify(rules) });
        if (types !== undefined) query.set('type', types.join(','));
        yield* client.stream<ChangeView>(`${await pathOf(later)}/diff?${query}`);
      },
    },
    sessions: {
      create: (request) => client.call('POST', '/v1/sessions', request),
      list: (limit) => listed<SessionEntryView>('/v1/sessions', limit),
      get: (name) => client.call('GET', named('sessions', name)),
      delete: async (name) => void (await client.call('DELETE', named('sessions', name))),
    },
    credentials: {
      list: () => listed<CredentialView>('/v1/credentials', MOST_LISTED),
      put: async (name, credential) =>
        void (await client.call('PUT', named('credentials', name), credential)),
      delete: async (name) => void (await client.call('DELETE', named('credentials', name))),
    },
    exports: exportsOf(client, pathOf),
    schedules: schedulesOver(client),
    history: historyOver(client),
    monitors: monitorsOver(client),
    webhooks: {
      create: (request) => client.call('POST', '/v1/webhooks', request),
      list: (limit) => listed('/v1/webhooks', limit),
      get: (id) => client.call('GET', webhook(id)),
      change: (id, patch) => client.call('PATCH', webhook(id), patch),
      rotate: (id, request) => client.call('POST', `${webhook(id)}/rotate`, request),
      delete: async (id) => void (await client.call('DELETE', webhook(id))),
      test: (id) => client.call('POST', `${webhook(id)}/test`),
      deliveries(id, { state, event, limit }) {
        const filters = Object.entries({ state, event }).flatMap(([name, value]) =>
          value === undefined ? [] : [`${name}=${urlPart(value)}`],
        );
        const query = filters.length === 0 ? '' : `?${filters.join('&')}`;
        return listed(`${webhook(id)}/deliveries${query}`, limit);
      },
      delivery: (id) => client.call('GET', `/v1/deliveries/${urlPart(id)}`),
      redeliver: (id) => client.call('POST', `/v1/deliveries/${urlPart(id)}/redeliver`),
    },
    usage: {
      list({ account, by, from, to, limit }) {
        const more = [
          ...(account === undefined ? [] : [`&account=${urlPart(account)}`]),
          ...(from === undefined ? [] : [`&from=${from}`]),
          ...(to === undefined ? [] : [`&to=${to}`]),
        ];
        return listed(`/v1/usage?by=${by}${more.join('')}`, limit);
      },
    },
    query: { run: (request) => client.call('POST', '/v1/query', request) },
    search: {
      async run({ q, host, job, limit }) {
        const named = job === 'latest' ? (await pathOf(job)).split('/').at(-1) : job;
        const fields = Object.entries({ q, host, job: named }).flatMap(([name, value]) =>
          value === undefined ? [] : [`${name}=${urlPart(value)}`],
        );
        return Array.fromAsync(client.list<SearchHit>(`/v1/search?${fields.join('&')}`, limit, HITS_AT_ONCE));
      },
    },
  };
}

function historyOver(client: ApiClient): BackendHistory {
  const listed = <T>(list: string, url: string, limit: number) =>
    Array.fromAsync(client.list<T>(`/v1/${list}?url=${urlPart(url)}`, limit));
  return {
    snapshots: (url, limit) => listed('pages', url, limit),
    sightings: (url, limit) => listed('sightings', url, limit),
    diff(before, after, mode, rules) {
      const query = new URLSearchParams({ mode, rules: JSON.stringify(rules) });
      const [a, b] = [before, after].map(urlPart);
      return client.call('GET', `/v1/snapshots/${a}/diff/${b}?${query}`);
    },
  };
}

function monitorsOver(client: ApiClient): BackendMonitors {
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

function schedulesOver(client: ApiClient): BackendSchedules {
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
