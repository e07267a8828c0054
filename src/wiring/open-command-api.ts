import { noSuchAccount } from '../capabilities/accounts/accounts.ts';
import { commandLineKey } from '../capabilities/accounts/api-key.ts';
import type { Exports } from '../capabilities/exports/exports.ts';
import { type Jobs, jobsBeside, SILENT_BUS } from '../capabilities/jobs/jobs.ts';
import type { SqlQueries } from '../capabilities/query/sql/sql-queries.ts';
import { deleteAccounts } from '../capabilities/retention/apply-retention.ts';
import { openVaultLater } from '../capabilities/sessions/vault.ts';
import type { Settings } from '../core/config/settings.ts';
import { readVaultKeys, withMadeKey } from '../core/config/vault-keys.ts';
import type { AccountId } from '../core/model/ids.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Store } from '../core/ports/store.ts';
import type { PageReader } from '../crawl/read/page-reading.ts';
import { type CommandApi, createCommandApi } from '../http/command-api.ts';
import { createIdempotency } from '../http/server/kept-answers.ts';
import { openCapabilities } from './open-capabilities.ts';
import { openExportFiles } from './open-exports.ts';
import { openStorage } from './storage.ts';

export interface CommandApiOptions {
  /** The settings name the place that the command works in. */
  readonly settings: Settings;
  /** Whose things the command works on; left out: those of the operator's account. */
  readonly account: string | undefined;
  /** SQL over the lake beside the store, for commands that ask for it. */
  readonly openSql: (store: Store) => Promise<{ readonly sql: SqlQueries; close(): Promise<void> }>;
}

/** What commands do in a data folder or database, also while servers work there. */
export interface OpenCommandApi extends CommandApi {
  readonly account: AccountId;
  readonly store: Store;
  readonly blobs: Blobs;
  readonly jobs: Jobs;
  readonly exports: Exports;
}

/** Nothing wakes the streams of events of a command up: other processes work on the jobs, so it looks this often. */
const EVENT_POLL_MS = 500;

export async function openCommandApi({
  settings,
  account,
  openSql,
}: CommandApiOptions): Promise<OpenCommandApi> {
  const storage = await openStorage(settings);
  const { store, blobs, search } = storage;
  try {
    const accountId = await accountNamed(store, account);
    const keyed = readVaultKeys(settings);
    const isKeyless = keyed.vaultKey === undefined && !keyed.allowPlainSecrets;
    const hasSealed = isKeyless && (await store.hasSealed());
    const vault = openVaultLater(keyed, () => withMadeKey(settings, hasSealed));
    const exportFiles = await openExportFiles(settings);
    const reader = readerLater(settings);
    let lake: ReturnType<typeof openSql> | null = null;
    const capabilities = openCapabilities({
      ...{ settings, store, blobs, exportFiles, search, bus: SILENT_BUS, vault, reader, now: Date.now },
      // The operator at the data folder allows the addresses that it names.
      mail: settings.smtpUrl === undefined ? null : { isAllowed: () => true, origin: '' },
      sql: {
        async run(...asked) {
          lake ??= openSql(store);
          return (await lake).sql.run(...asked);
        },
      },
      createJobs: ({ createForJob }) => jobsBeside({ store, blobs, vault, addWebhook: createForJob }),
      deleteMarkedAccounts: () => deleteAccounts(store),
    });
    const { jobs, exports } = capabilities;
    const api = createCommandApi(
      {
        ...capabilities,
        ...{ store, exportFiles, bus: SILENT_BUS, settings, dashboard: null, now: Date.now },
        idempotency: createIdempotency(store, jobs),
        keys: { isValid: async () => true },
        metrics: { connectionClosed: () => undefined },
        eventPollMs: EVENT_POLL_MS,
      },
      commandLineKey(accountId),
    );
    return {
      ...{ account: accountId, store, blobs, jobs, exports },
      send: api.send,
      async close() {
        await api.close();
        jobs.close();
        await Promise.all([capabilities.close(), reader.close(), exportFiles.close()]);
        await (await lake)?.close();
        await storage.close();
      },
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** What reads pages is loaded by the first page that a command reads. */
function readerLater(settings: Settings): Pick<PageReader, 'read' | 'backlog' | 'close'> {
  let reader: Promise<PageReader> | null = null;
  return {
    async read(request) {
      reader ??= import('./open-llm.ts').then(({ openReader }) => openReader(settings));
      return (await reader).read(request);
    },
    backlog: 0,
    async close() {
      await (await reader)?.close();
    },
  };
}

async function accountNamed(store: Store, id: string | undefined): Promise<AccountId> {
  if (id === undefined) return store.defaultAccount();
  const found = await store.getAccount(id as AccountId);
  if (found === null) throw noSuchAccount(id);
  return found.id;
}
