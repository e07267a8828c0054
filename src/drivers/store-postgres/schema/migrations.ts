import { ACCOUNT_TABLES } from './account-tables.ts';
import { ANSWER_TABLES } from './answer-tables.ts';
import { POSTGRES_AUDIT_TABLES } from './audit-tables.ts';
import { BLOB_TABLES } from './blob-tables.ts';
import { BOUNDED_CLAIMS } from './bounded-claims.ts';
import { CREDIT_FUNCTIONS } from './credit-functions.ts';
import { CREDIT_TABLES } from './credit-tables.ts';
import { DELETION_TABLES, OPERATOR_RETENTION } from './deletion-tables.ts';
import { EVENT_TABLES } from './event-tables.ts';
import { EVENT_TIMES } from './event-times.ts';
import { EXPIRY_TABLES } from './expiry-tables.ts';
import { EXPORT_TABLES } from './export-tables.ts';
import { FRONTIER_FUNCTIONS } from './frontier-functions.ts';
import { HOST_FUNCTIONS } from './host-functions.ts';
import { INCARNATION_FUNCTIONS } from './incarnation-functions.ts';
import { INSTALLATION_TABLES } from './installation-tables.ts';
import { INTERRUPTION_FUNCTIONS } from './interruption-functions.ts';
import { JOB_FUNCTIONS } from './job-functions.ts';
import { LAKE_TABLES } from './lake-tables.ts';
import { LEDGER_FUNCTIONS } from './ledger-functions.ts';
import { MONITOR_TABLES } from './monitor-tables.ts';
import { OWNER_TABLES } from './owner-tables.ts';
import { PRIVATE_SEARCH } from './private-search.ts';
import { READER_TABLES } from './reader-tables.ts';
import { SCHEDULE_TABLES } from './schedule-tables.ts';
import { SEARCH_TABLES } from './search-tables.ts';
import { SECRET_INDEX } from './secret-index.ts';
import { SESSION_TABLES } from './session-tables.ts';
import { SIGN_IN_TABLES } from './sign-in-tables.ts';
import { SNAPSHOT_TABLES, SNAPSHOT_USAGE } from './snapshot-tables.ts';
import { SOURCE_TABLES } from './source-tables.ts';
import { SPENDING_FUNCTIONS } from './spending-functions.ts';
import { TABLES } from './tables.ts';
import { TURN_FUNCTIONS } from './turn-functions.ts';
import { USAGE_FUNCTIONS } from './usage-functions.ts';
import { WEBHOOK_TABLES } from './webhook-tables.ts';

export interface Migration {
  /**
   * The oldest program, by the number of migrations it knows, that still works with the schema after this one. A
   * migration that only adds names its predecessor, so that a fleet can be restarted one by one; what programs of
   * that age need is taken away by a later migration.
   */
  readonly minReader: number;
  readonly sql: string;
}

/**
 * The schema, one entry per version; never edited once released, only added to. Functions belong to the schema: one
 * that is to behave otherwise gets a new name, because programs of the last version go on calling the old.
 */
export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  {
    minReader: 1,
    sql: [TABLES, JOB_FUNCTIONS, FRONTIER_FUNCTIONS, HOST_FUNCTIONS, LEDGER_FUNCTIONS].join('\n'),
  },
  { minReader: 1, sql: SESSION_TABLES },
  { minReader: 1, sql: INCARNATION_FUNCTIONS },
  { minReader: 2, sql: BLOB_TABLES },
  // Earlier programs would send what stands in options in place of sealed values.
  { minReader: 5, sql: SECRET_INDEX },
  { minReader: 2, sql: INTERRUPTION_FUNCTIONS },
  { minReader: 2, sql: POSTGRES_AUDIT_TABLES },
  { minReader: 2, sql: SOURCE_TABLES },
  { minReader: 5, sql: SPENDING_FUNCTIONS },
  { minReader: 5, sql: EVENT_TABLES },
  { minReader: 5, sql: EXPIRY_TABLES },
  { minReader: 5, sql: OWNER_TABLES },
  { minReader: 5, sql: WEBHOOK_TABLES },
  { minReader: 5, sql: ACCOUNT_TABLES },
  { minReader: 5, sql: [CREDIT_TABLES, CREDIT_FUNCTIONS, USAGE_FUNCTIONS].join('\n') },
  { minReader: 5, sql: SCHEDULE_TABLES },
  { minReader: 5, sql: BOUNDED_CLAIMS },
  { minReader: 5, sql: ANSWER_TABLES },
  { minReader: 5, sql: DELETION_TABLES },
  { minReader: 5, sql: OPERATOR_RETENTION },
  { minReader: 5, sql: READER_TABLES },
  { minReader: 5, sql: EXPORT_TABLES },
  { minReader: 5, sql: SNAPSHOT_TABLES },
  { minReader: 5, sql: SEARCH_TABLES },
  // Programs before the table `kept_answers` would look for the one that is dropped.
  { minReader: 18, sql: INSTALLATION_TABLES },
  { minReader: 5, sql: LAKE_TABLES },
  { minReader: 18, sql: MONITOR_TABLES },
  { minReader: 18, sql: SNAPSHOT_USAGE },
  { minReader: 18, sql: PRIVATE_SEARCH },
  { minReader: 18, sql: SIGN_IN_TABLES },
  { minReader: 18, sql: EVENT_TIMES },
  { minReader: 18, sql: TURN_FUNCTIONS },
];
