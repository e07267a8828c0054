import { createAccountAdmin } from '../capabilities/accounts/accounts.ts';
import { createCreditAdmin } from '../capabilities/accounts/credit-admin.ts';
import { createKeyAdmin } from '../capabilities/accounts/key-admin.ts';
import type { Capabilities } from '../capabilities/capabilities.ts';
import type { ComparisonDeps, Comparisons } from '../capabilities/compare/comparisons.ts';
import { createExports } from '../capabilities/exports/exports.ts';
import { createExtraction } from '../capabilities/jobs/extraction.ts';
import type { Jobs } from '../capabilities/jobs/jobs.ts';
import { createMonitors, type MonitorsDeps } from '../capabilities/monitors/monitors.ts';
import { createQueries } from '../capabilities/query/queries.ts';
import { createSearches } from '../capabilities/query/search/searches.ts';
import type { SqlQueries } from '../capabilities/query/sql/sql-queries.ts';
import { createRetentionAdmin, installationLimits } from '../capabilities/retention/retention-admin.ts';
import { createSchedules } from '../capabilities/schedules/schedules.ts';
import { createCredentials } from '../capabilities/sessions/credentials.ts';
import { createSessions } from '../capabilities/sessions/sessions.ts';
import type { Vault } from '../capabilities/sessions/vault.ts';
import { createPageContents } from '../capabilities/snapshots/page-contents.ts';
import type { Deliverers } from '../capabilities/webhooks/deliverer.ts';
import { type MailRules, mailRulesOf } from '../capabilities/webhooks/mail.ts';
import { createWebhooks, type Webhooks } from '../capabilities/webhooks/webhooks.ts';
import { readPlans } from '../core/config/plans-and-prices.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Blobs, Files } from '../core/ports/blobs.ts';
import type { Bus } from '../core/ports/bus.ts';
import type { Search } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { PageReader } from '../crawl/read/page-reading.ts';
import { defined } from '../lib/defined.ts';

export interface CapabilityParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly blobs: Blobs;
  readonly exportFiles: Files;
  readonly search: Search;
  readonly bus: Pick<Bus, 'publish'>;
  readonly vault: Vault | null;
  readonly sql: SqlQueries;
  /** Reads pages that are there already. */
  readonly reader: Pick<PageReader, 'read' | 'backlog'>;
  /** Channels of plug-ins that webhooks may use; left out where another process sends and knows them. */
  readonly deliverers?: Deliverers | undefined;
  /** Which e-mail addresses webhooks may use; left out: those of the settings. */
  readonly mail?: MailRules | null | undefined;
  /** Jobs may bring webhooks of their own. */
  readonly createJobs: (webhooks: Webhooks) => Jobs;
  /** After which time monitors look again at pages that a check was not sure of. */
  readonly recheckMs?: MonitorsDeps['recheckMs'] | undefined;
  /** Deletes accounts at once; left out where a scheduler does it in the background. */
  readonly deleteMarkedAccounts?: (() => Promise<unknown>) | undefined;
  readonly now: () => number;
}

export interface OpenCapabilities extends Capabilities {
  close(): Promise<void>;
}

/** Builds what an installation can do. This is the only place that does; a test names the exceptions. */
export function openCapabilities(parts: CapabilityParts): OpenCapabilities {
  const { settings, store, blobs, bus, vault, now } = parts;
  const { mail = mailRulesOf(settings), deliverers, recheckMs } = parts;
  const webhooks = createWebhooks({ store, vault, now, mail, deliverers });
  const jobs = parts.createJobs(webhooks);
  const scheduling = { store, jobs, vault, leastSeconds: settings.minScheduleSeconds };
  const comparisons = comparisonsLater({ store, blobs });
  const extraction = createExtraction({ reader: parts.reader, now });
  return {
    vault,
    jobs,
    webhooks,
    extraction,
    comparisons,
    contents: createPageContents({ blobs, extraction }),
    sessions: createSessions({ store, vault, now, hours: settings.sessionHours }),
    // What another service keeps is neither listed nor changed here.
    credentials: createCredentials({ store, vault, service: null, now }),
    schedules: createSchedules(scheduling),
    monitors: createMonitors({
      ...{ store, jobs, vault },
      schedules: createSchedules({ ...scheduling, isForMonitors: true }),
      watchPage: ({ version }, rules) => comparisons.comparer.watched(version, rules),
      addWebhooks: webhooks.createForMonitor,
      mostMonitors: settings.maxMonitors,
      ...defined({ recheckMs }),
    }),
    exports: createExports({ store, jobs, files: parts.exportFiles, places: settings, now }),
    queries: createQueries(store),
    sql: parts.sql,
    searches: createSearches(store, parts.search),
    accountAdmin: createAccountAdmin({
      ...{ store, bus, plans: readPlans(settings.plans) ?? {}, now },
      deleteMarked: parts.deleteMarkedAccounts,
    }),
    keyAdmin: createKeyAdmin({ store, bus, now }),
    creditAdmin: createCreditAdmin({ store, now }),
    retentionAdmin: createRetentionAdmin({ store, installation: installationLimits(settings), now }),
    close: () => comparisons.close(),
  };
}

/** What compares pages is loaded by the first comparison: few processes, and fewer commands, make one. */
function comparisonsLater(deps: ComparisonDeps): Comparisons {
  let made: Promise<Comparisons> | null = null;
  const comparisons = (): Promise<Comparisons> => {
    made ??= import('../capabilities/compare/comparisons.ts').then(({ createComparisons }) =>
      createComparisons(deps),
    );
    return made;
  };
  return {
    comparer: {
      compare: async (...asked) => (await comparisons()).comparer.compare(...asked),
      findSame: async (page, others, rules) => (await comparisons()).comparer.findSame(page, others, rules),
      watched: async (...asked) => (await comparisons()).comparer.watched(...asked),
    },
    async *changes(pair) {
      yield* (await comparisons()).changes(pair);
    },
    slice: async (...asked) => (await comparisons()).slice(...asked),
    summary: async (...asked) => (await comparisons()).summary(...asked),
    versions: async (...asked) => (await comparisons()).versions(...asked),
    async close() {
      await (await made)?.close();
    },
  };
}
