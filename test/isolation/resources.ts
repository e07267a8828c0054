import { vi } from 'vitest';
import type { Tenant } from './tenants.ts';

/**
 * Resources that the isolation test makes for one account and then asks for with the key of another.
 *
 * An operation with a parameter in its path needs an entry here, under the longest beginning of its path that ends with
 * the parameter. Each maker makes one resource with the key of its owner and returns the values of the parameters, and
 * values of the same form that belong to nothing.
 */
export interface Maker {
  make(owner: Tenant): Promise<Made>;
}

export interface Made {
  readonly own: Readonly<Record<string, string>>;
  readonly missing: Readonly<Record<string, string>>;
  /** Texts that are in the resource and must be in no answer to another account; the values of `own` are looked for anyway. */
  readonly canaries?: readonly string[];
}

/** Operations that need no key. Each of them must be free of anything that belongs to an account. */
export const OPEN_OPERATIONS: ReadonlySet<string> = new Set([
  'GET /healthz',
  'GET /readyz',
  // Owners of sites have no account.
  'POST /v1/owner-requests',
  'GET /v1/owner-requests/{id}',
  'POST /v1/owner-requests/{id}/check',
]);

/** What an operation needs besides its path: a query, in which parameters of the path may stand, or a body where the examples of its schema do not do. */
export const REQUESTS: Readonly<Record<string, { readonly query?: string; readonly body?: object }>> = {
  'GET /v1/pages': { query: 'url=https://canary.example/' },
  'GET /v1/sightings': { query: 'url=https://canary.example/' },
  'GET /v1/search': { query: 'q=canary' },
  'GET /v1/jobs/{id}/why': { query: 'url=https://canary.example/' },
  'GET /v1/why': { query: 'url=https://canary.example/' },
  'GET /v1/jobs/{id}/links': { query: 'url=https://canary.example/' },
  'GET /v1/jobs/{id}/diff': { query: 'against={id}' },
  'POST /v1/jobs/{id}/reextract': { body: { formats: ['text'] } },
  // A valid one would make a credential of the same name for the other account.
  'PUT /v1/credentials/{name}': { body: {} },
  'POST /v1/sessions/{name}/login': { body: { url: 'https://canary.example/login' } },
};

/** Operations that make something of the caller's own under a name that another account may use as well. */
export const NAMED_BY_CALLER: ReadonlySet<string> = new Set([
  'PUT /v1/credentials/{name}',
  // A session is made when it is first used.
  'POST /v1/sessions/{name}/login',
]);

const CANARY_PAGE = 'https://canary.example/';

/** An id that no job has, as long as a real one, so that answers that repeat the id have the same length. */
const MISSING_JOB = '01900000-0000-7000-8000-000000000000';

const endedJob: Maker = {
  async make(owner) {
    const job = await owner.post('/v1/batch', { urls: [CANARY_PAGE], options: { formats: ['screenshot'] } });
    const id = String(job.at('data.id'));
    await owner.waitFor(id);
    return { own: { id }, missing: { id: MISSING_JOB }, canaries: ['canary.example'] };
  },
};

const MISSING_WEBHOOK = `wh_${'0'.repeat(32)}`;

async function createWebhook(owner: Tenant): Promise<string> {
  const webhook = { url: 'https://canary.example/hook', events: ['job.completed'] };
  return String((await owner.post('/v1/webhooks', webhook)).at('data.id'));
}

/** Operations whose answer has no end: streams of events. */
export const ENDLESS: ReadonlySet<string> = new Set(['GET /v1/events']);

async function createSchedule(owner: Tenant): Promise<string> {
  const job = { kind: 'scrape', url: CANARY_PAGE };
  return String(
    (await owner.post('/v1/schedules', { name: 'canary schedule', every: '1d', job })).at('data.id'),
  );
}

const MISSING_SNAPSHOT = `snap_${'0'.repeat(32)}`;

async function makeSnapshot(owner: Tenant): Promise<string> {
  const job = await owner.post('/v1/batch', { urls: [CANARY_PAGE], snapshots: true });
  await owner.waitFor(String(job.at('data.id')));
  await owner.readSnapshots();
  const history = await owner.get(`/v1/pages?url=${encodeURIComponent(CANARY_PAGE)}`);
  return String(history.at('data.items.0.id'));
}

/** An export is written by a thread of its own, which has to start first. */
const EXPORT_WAIT = { timeout: 30_000 };

const pageOfJob: Maker = {
  async make(owner) {
    const { own, missing } = await endedJob.make(owner);
    const pages = await owner.get(`/v1/jobs/${own.id}/results`);
    const url = String(pages.at('data.items.0.screenshot.url'));
    const [, page = ''] = /\/pages\/([^/]+)\/artifacts\//.exec(url) ?? [];
    return { own: { ...own, page }, missing: { ...missing, page } };
  },
};

export const MAKERS: Readonly<Record<string, Maker>> = {
  '/v1/jobs/{id}': endedJob,
  '/v1/jobs/{id}/pages/{page}/artifacts/{name}': {
    async make(owner) {
      const { own, missing } = await pageOfJob.make(owner);
      const rest = { name: 'screenshot' };
      return { own: { ...own, ...rest }, missing: { ...missing, ...rest } };
    },
  },
  '/v1/jobs/{id}/pages/{page}/preview': pageOfJob,
  '/v1/exports/{id}': {
    async make(owner) {
      const { own } = await endedJob.make(owner);
      const made = await owner.post(`/v1/jobs/${own.id}/exports`, { type: 'full', format: 'csv' });
      const id = String(made.at('data.id'));
      await vi.waitFor(async () => {
        const status = (await owner.get(`/v1/exports/${id}`)).at('data.status');
        if (status !== 'ready') throw new Error(`The export is ${status}.`);
      }, EXPORT_WAIT);
      return { own: { id }, missing: { id: `exp_${MISSING_JOB}` }, canaries: [String(own.id)] };
    },
  },
  '/v1/sessions/{name}': {
    async make(owner) {
      await owner.post('/v1/sessions', { name: 'canary-session' });
      return { own: { name: 'canary-session' }, missing: { name: 'absent-session' } };
    },
  },
  '/v1/credentials/{name}': {
    async make(owner) {
      const secret = { kind: 'login', hosts: ['canary.example'], username: 'canary', password: 'x' };
      await owner.put('/v1/credentials/canary-login', secret);
      return { own: { name: 'canary-login' }, missing: { name: 'absent-login' } };
    },
  },
  '/v1/domains/{host}': {
    async make(owner) {
      await owner.post('/v1/batch', { urls: [CANARY_PAGE] });
      return { own: { host: 'canary.example' }, missing: { host: 'absent.example' } };
    },
  },
  '/v1/keys/{id}': {
    async make(owner) {
      const key = await owner.post('/v1/keys', { name: 'canary key' });
      return {
        own: { id: String(key.at('data.id')) },
        missing: { id: '00000000-0000-4000-8000-000000000000' },
        canaries: ['canary key'],
      };
    },
  },
  '/v1/schedules/{id}': {
    async make(owner) {
      const id = await createSchedule(owner);
      return { own: { id }, missing: { id: MISSING_JOB }, canaries: ['canary schedule'] };
    },
  },
  '/v1/monitors/{id}': {
    async make(owner) {
      const request = { name: 'canary monitor', urls: [CANARY_PAGE], schedule: { every: '1d' } };
      const id = String((await owner.post('/v1/monitors', request)).at('data.id'));
      return { own: { id }, missing: { id: MISSING_JOB }, canaries: ['canary monitor'] };
    },
  },
  '/v1/schedules/{id}/runs/{run}': {
    async make(owner) {
      const id = await createSchedule(owner);
      const run = String((await owner.post(`/v1/schedules/${id}/run`, {})).at('data.id'));
      return { own: { id, run }, missing: { id: MISSING_JOB, run: MISSING_JOB } };
    },
  },
  '/v1/webhooks/{id}': {
    async make(owner) {
      return { own: { id: await createWebhook(owner) }, missing: { id: MISSING_WEBHOOK } };
    },
  },
  '/v1/deliveries/{id}': {
    async make(owner) {
      const delivery = await owner.post(`/v1/webhooks/${await createWebhook(owner)}/test`, {});
      return { own: { id: String(delivery.at('data.id')) }, missing: { id: `dl_${'0'.repeat(32)}` } };
    },
  },
  '/v1/snapshots/{id}': {
    async make(owner) {
      const id = await makeSnapshot(owner);
      return { own: { id }, missing: { id: MISSING_SNAPSHOT }, canaries: ['canary.example'] };
    },
  },
  '/v1/snapshots/{id}/diff/{other}': {
    async make(owner) {
      const id = await makeSnapshot(owner);
      const missing = { id: MISSING_SNAPSHOT, other: MISSING_SNAPSHOT };
      return { own: { id, other: id }, missing, canaries: ['canary.example'] };
    },
  },
  '/v1/accounts/{id}': {
    make: async (owner) => ({ own: { id: owner.account }, missing: { id: 'absent' } }),
  },
};

/** The longest beginning of the path that ends with a parameter and has a maker. */
export function makerOf(path: string): string | null {
  const names = Object.keys(MAKERS).filter((each) => path === each || path.startsWith(`${each}/`));
  const best = names.sort((a, b) => b.length - a.length)[0];
  return best !== undefined && !path.slice(best.length).includes('{') ? best : null;
}
