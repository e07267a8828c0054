import type { AccountAdmin } from './accounts/accounts.ts';
import type { CreditAdmin } from './accounts/credit-admin.ts';
import type { KeyAdmin } from './accounts/key-admin.ts';
import type { Comparisons } from './compare/comparisons.ts';
import type { Exports } from './exports/exports.ts';
import type { Extraction } from './jobs/extraction.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Monitors } from './monitors/monitors.ts';
import type { Queries } from './query/queries.ts';
import type { Searches } from './query/search/searches.ts';
import type { SqlQueries } from './query/sql/sql-queries.ts';
import type { RetentionAdmin } from './retention/retention-admin.ts';
import type { Schedules } from './schedules/schedules.ts';
import type { Credentials } from './sessions/credentials.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { Vault } from './sessions/vault.ts';
import type { PageContents } from './snapshots/page-contents.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/**
 * What an installation can do, each part built once for a process: `src/wiring/open-capabilities.ts`. The routes of the API,
 * the tools of MCP, other products' dialects, schedules and the command line all call these.
 */
export interface Capabilities {
  readonly jobs: Jobs;
  readonly extraction: Extraction;
  readonly contents: PageContents;
  readonly sessions: Sessions;
  readonly credentials: Credentials;
  readonly webhooks: Webhooks;
  readonly schedules: Schedules;
  readonly monitors: Monitors;
  readonly exports: Exports;
  /** Compares what is stored; its thread starts with the first comparison. */
  readonly comparisons: Comparisons;
  /** Typed queries over what is stored; all callers share their turns. */
  readonly queries: Queries;
  /** SQL over the lake. */
  readonly sql: SqlQueries;
  readonly searches: Searches;
  readonly accountAdmin: AccountAdmin;
  readonly keyAdmin: KeyAdmin;
  readonly creditAdmin: CreditAdmin;
  readonly retentionAdmin: RetentionAdmin;
  /** Seals secrets before they are stored; null: the operator allows them in the open. */
  readonly vault: Vault | null;
}
