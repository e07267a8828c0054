import { randomUUID } from 'node:crypto';
import { noSuchAccount } from '../../capabilities/accounts/accounts.ts';
import { createComparisons } from '../../capabilities/compare/comparisons.ts';
import { invalidRequest, parseRequest } from '../../capabilities/jobs/invalid-request.ts';
import type { JobError } from '../../capabilities/jobs/job-reader.ts';
import { createMonitors } from '../../capabilities/monitors/monitors.ts';
import { createQueries } from '../../capabilities/query/queries.ts';
import { createSearches, type SearchHit } from '../../capabilities/query/search/searches.ts';
import { answerOf, sqlRequestSchema } from '../../capabilities/query/sql/sql-request.ts';
import { createSchedules } from '../../capabilities/schedules/schedules.ts';
import { createCredentials } from '../../capabilities/sessions/credentials.ts';
import { sessionRequestSchema } from '../../capabilities/sessions/session.ts';
import { createSessions } from '../../capabilities/sessions/sessions.ts';
import { createVault, openVault, type Vault } from '../../capabilities/sessions/vault.ts';
import { usageView } from '../../capabilities/views/credit-view.ts';
import { changeView, typesOf } from '../../capabilities/views/diff-view.ts';
import { jobView } from '../../capabilities/views/job-view.ts';
import { credentialView, sessionEntryView, sessionView } from '../../capabilities/views/session-view.ts';
import { createWebhooks } from '../../capabilities/webhooks/webhooks.ts';
import { readVaultKeys, withVaultKeys } from '../../core/config/vault-keys.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { hostOf } from '../../crawl/frontier/canonical.ts';
import { queryRequestSchema } from '../../http/routes/query.ts';
import { daysOf } from '../../http/routes/usage.ts';
import { readSettings } from '../flags/flags.ts';
import { dataPlaceOf, jobNamed, jobsIn, openExisting } from '../folders/data-folder.ts';
import { openLakeBeside } from '../folders/lake-folder.ts';
import type { Shell } from '../shell/shell.ts';
import { type Backend, MOST_LISTED } from './backend.ts';
import { localExports } from './export-backend.ts';
import { localHistory } from './history-backend.ts';
import { followLocally } from './local-events.ts';
import { createLocalWebhooks } from './local-webhooks.ts';
import { localMonitors } from './monitor-backend.ts';
import { localSchedules } from './schedule-backend.ts';

const ACTOR = 'command line';
const HITS_AT_ONCE = 100;

interface LocalPlace {
  readonly dataDir?: string | undefined;
  /** Whose jobs and other things; missing: those of the operator's account. */
  readonly account?: string | undefined;
}

/** Works on the store itself, also while servers run on it. `mayMake`: a data folder that is not there is made. */
export async function openLocalBackend(
  shell: Shell,
  { dataDir, account: accountId }: LocalPlace,
  mayMake = false,
): Promise<Backend> {
  const settings = readSettings(shell);
  const place = dataPlaceOf(shell, dataDir);
  const storage = mayMake ? await shell.openStorage(place) : await openExisting(shell, dataDir);
  const { store } = storage;
  const given = { ...settings, ...place };
  const accountNamed = async (id: string | undefined): Promise<AccountId> => {
    const found = id === undefined ? null : await store.getAccount(id as AccountId);
    if (id !== undefined && found === null) throw noSuchAccount(id);
    return found?.id ?? store.defaultAccount();
  };
  const account = await accountNamed(accountId).catch(async (error: unknown) => {
    await storage.close();
    throw error;
  });
  const jobs = jobsIn(storage);
  const parts = { store, now: Date.now };
  // Lists and deletes need no key, and must not make one.
  const reading = createVault(readVaultKeys(given).vaultKey, readVaultKeys(given).vaultOldKeys);
  const sessionsWith = (vault: Vault | null) =>
    createSessions({ ...parts, vault, hours: settings.sessionHours });
  const credentialsWith = (vault: Vault | null) => createCredentials({ ...parts, vault, service: null });
  const sealing = async () => openVault(await withVaultKeys(given, () => store.hasSealed()));
  const audit = (action: AuditAction, target: string, details: object) =>
    store.audit([{ at: Date.now(), actor: ACTOR, action, target, details: { ...details } }]);
  const named = (id: string) => jobNamed(id, jobs, account);
  /** After the change: what was refused has not happened. */
  const changed = async (action: AuditAction, job: Job) => {
    await audit(action, job.id, {});
    return jobView(job);
  };

  return {
    jobs: {
      async list({ status, limit }) {
        const { items } = await jobs.list({ accountId: account, status, limit });
        return items.map((job) => jobView(job));
      },
      async get(id) {
        const job = await named(id);
        return jobView(job, await jobs.waitingFor(job));
      },
      cancel: async (id) => changed('job.cancel', await jobs.cancel((await named(id)).id, account)),
      resume: async (id, budgets) =>
        changed('job.resume', await jobs.resume((await named(id)).id, account, budgets)),
      retry: async (id) => changed('job.retry', await jobs.retry((await named(id)).id, account)),
      async delete(id) {
        const job = await named(id);
        await jobs.delete(job.id, account);
        await audit('job.delete', job.id, {});
        return job.id;
      },
      async *urls(id, state) {
        yield* jobs.read.eachUrl(await named(id), state);
      },
      async *errors(id): AsyncGenerator<JobError> {
        const job = await named(id);
        let cursor: string | undefined;
        do {
          const slice = await jobs.read.errors(job, { cursor, limit: MOST_LISTED });
          yield* slice.items;
          cursor = slice.nextCursor ?? undefined;
        } while (cursor !== undefined);
      },
      async *events(id) {
        yield* followLocally(store, await named(id));
      },
      async *results(id) {
        const job = await named(id);
        await audit('job.export', job.id, { what: 'results' });
        yield* jobs.read.eachResult(job);
      },
      async *diff(earlier, later, rules, types) {
        const pair = { previous: await named(earlier), current: await named(later), rules };
        const wanted = typesOf(types?.join(','));
        await audit('job.export', pair.current.id, { what: 'diff', against: pair.previous.id });
        const comparisons = createComparisons({ store, blobs: storage.blobs });
        try {
          for await (const change of comparisons.changes(pair)) {
            if (wanted.includes(change.type)) yield changeView(change);
          }
        } finally {
          await comparisons.close();
        }
      },
    },
    exports: localExports({ store, blobs: storage.blobs, jobs, account, settings, named, audit }),
    schedules: localSchedules(
      async (isWriting) => {
        const vault = isWriting ? await sealing() : reading;
        return createSchedules({
          store,
          jobs: jobsIn(storage, vault),
          vault,
          leastSeconds: settings.minScheduleSeconds,
        });
      },
      account,
      (action, target) => audit(action, target, {}),
    ),
    monitors: localMonitors(
      async (isWriting) => {
        const vault = isWriting ? await sealing() : reading;
        const own = jobsIn(storage, vault);
        const webhooks = createWebhooks({
          store,
          vault,
          now: Date.now,
          mail: settings.smtpUrl === undefined ? null : { isAllowed: () => true, origin: '' },
        });
        return createMonitors({
          store,
          jobs: own,
          vault,
          schedules: createSchedules({
            store,
            jobs: own,
            vault,
            isForMonitors: true,
            leastSeconds: settings.minScheduleSeconds,
          }),
          watchPage: async () => null,
          addWebhooks: webhooks.createForMonitor,
          mostMonitors: settings.maxMonitors,
        });
      },
      account,
      (action, target) => audit(action, target, {}),
    ),
    sessions: {
      async create(request) {
        const wish = sessionRequestSchema.parse(request);
        const { credentials, proxy, identity, expiresInHours, name = randomUUID() } = wish;
        const isKnown =
          credentials === null ||
          settings.credentialServiceUrl !== undefined ||
          (await store.getCredential(account, credentials)) !== null;
        if (!isKnown)
          throw invalidRequest([
            { field: 'credentials', message: `There are no credentials "${credentials}".` },
          ]);
        const options = { name, credentials, proxy, identity, hours: expiresInHours };
        const { session } = await sessionsWith(await sealing()).create(account, options);
        await audit('session.create', name, { credentials, proxy, identity });
        return sessionView(session, Date.now());
      },
      async list(limit) {
        const { items } = await sessionsWith(reading).list({ accountId: account, limit });
        return items.map((entry) => sessionEntryView(entry, Date.now()));
      },
      get: async (name) => sessionView(await sessionsWith(reading).get(account, name), Date.now()),
      async delete(name) {
        if (!(await sessionsWith(reading).delete(account, name))) {
          throw new ScrapifieError('NOT_FOUND', `There is no session "${name}".`);
        }
        await audit('session.delete', name, {});
      },
    },
    credentials: {
      async list() {
        const { items } = await credentialsWith(reading).list({ accountId: account, limit: MOST_LISTED });
        return items.map(credentialView);
      },
      async put(name, credential) {
        await credentialsWith(await sealing()).put(account, name, credential);
        await audit('credential.put', name, { kind: credential.kind, hosts: credential.hosts });
      },
      async delete(name) {
        if (!(await credentialsWith(reading).delete(account, name))) {
          throw new ScrapifieError('NOT_FOUND', `There are no credentials "${name}".`);
        }
        await audit('credential.delete', name, {});
      },
    },
    history: localHistory(storage, account),
    usage: {
      async list({ account: named, by, from, to, limit }) {
        const days = daysOf({ from, to }, Date.now());
        const { items } = await store.listUsage({ accountId: await accountNamed(named), by, ...days, limit });
        return items.map(usageView);
      },
    },
    query: {
      async run(request) {
        const reader = { accountId: account, hasPrivate: true };
        if (!('sql' in request)) {
          return createQueries(store).run(reader, parseRequest(queryRequestSchema, request));
        }
        const asked = parseRequest(sqlRequestSchema, request);
        const lake = await openLakeBeside(shell, dataDir, storage);
        try {
          return await answerOf(await lake.sql.run(reader, asked));
        } finally {
          await lake.close();
        }
      },
    },
    search: {
      async run({ q, host, job, limit }) {
        const jobId = job === undefined ? undefined : (await named(job)).id;
        const request = { q, host: host === undefined ? undefined : hostOf(host), jobId };
        const searches = createSearches(store, storage.search);
        const hits: SearchHit[] = [];
        let cursor: string | undefined;
        do {
          const wanted = Math.min(HITS_AT_ONCE, limit - hits.length);
          const scope = { accountId: account, hasPrivate: true };
          const answer = await searches.run(scope, { ...request, limit: wanted, cursor });
          hits.push(...answer.items);
          cursor = answer.nextCursor ?? undefined;
        } while (cursor !== undefined && hits.length < limit);
        return hits;
      },
    },
    webhooks: createLocalWebhooks({
      store,
      account,
      reading,
      sealing,
      canMail: settings.smtpUrl !== undefined,
      audit,
    }),
    async close() {
      jobs.close();
      await storage.close();
    },
  };
}
