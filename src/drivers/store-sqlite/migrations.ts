import { SQLITE_PLACE_TABLES } from './account-places.ts';
import { SQLITE_ACCOUNT_TABLES } from './account-tables.ts';
import { SQLITE_ANSWER_TABLES } from './answer-tables.ts';
import { SQLITE_AUDIT_TABLES } from './audit-tables.ts';
import { SQLITE_CREDIT_TABLES } from './credit-tables.ts';
import { SQLITE_DELETION_TABLES, SQLITE_OPERATOR_RETENTION } from './deletion-tables.ts';
import { SQLITE_TURN_TABLES } from './due-tasks.ts';
import { SQLITE_EVENT_TABLES } from './event-tables.ts';
import { SQLITE_EXPIRY_TABLES } from './expiry-tables.ts';
import { SQLITE_EXPORT_TABLES } from './export-tables.ts';
import { SQLITE_INSTALLATION_TABLES } from './installation-tables.ts';
import { SQLITE_LAKE_TABLES } from './lake-tables.ts';
import { SQLITE_MONITOR_TABLES } from './monitor-tables.ts';
import { SQLITE_OWNER_TABLES } from './owner-tables.ts';
import { SQLITE_READER_TABLES } from './reader-tables.ts';
import { SQLITE_SCHEDULE_TABLES } from './schedule-tables.ts';
import { SQLITE_SIGN_IN_TABLES } from './sign-in-tables.ts';
import { SQLITE_SNAPSHOT_TABLES, SQLITE_SNAPSHOT_USAGE } from './snapshot-tables.ts';
import { SQLITE_SOURCE_TABLES } from './source-tables.ts';
import { SQLITE_SPENDING_TABLES } from './spending-tables.ts';
import { SQLITE_WEBHOOK_TABLES } from './webhook-tables.ts';

/** The host of a task's current URL, in SQL: canonical URLs have neither a user nor an empty path. */
const HOST_OF_TASK = `substr(
  substr(coalesce(at_url, url), instr(coalesce(at_url, url), '//') + 2), 1,
  instr(substr(coalesce(at_url, url), instr(coalesce(at_url, url), '//') + 2) || '/', '/') - 1
)`;

/**
 * The schema, one entry per version; never edited once released, only added to. Kept to SQL that PostgreSQL
 * understands with other type names, except where SQLite's own features earn their place.
 *
 * tasks_ready and tasks_waiting are the mailboxes of the hosts: partial, so that they hold open work only and
 * stay small however many URLs have ended.
 */
export const SQLITE_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  );
  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    scopes TEXT NOT NULL,
    rate_per_minute INTEGER,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  );
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    stop_reason TEXT,
    options TEXT NOT NULL,
    seeds TEXT NOT NULL,
    max_pages INTEGER,
    max_bytes INTEGER,
    deadline_at INTEGER,
    known INTEGER NOT NULL DEFAULT 0,
    open INTEGER NOT NULL DEFAULT 0,
    claimed INTEGER NOT NULL DEFAULT 0,
    claimed_pages INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    denied INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER
  );
  CREATE INDEX jobs_account ON jobs (account_id, seq);
  CREATE INDEX jobs_unfinished ON jobs (deadline_at) WHERE finished_at IS NULL;
  CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    state TEXT,
    rank INTEGER NOT NULL,
    -- When the host may have work to hand out; NULL: none. While it is owned: the end of the lease.
    next_at INTEGER,
    blocked_until INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX hosts_offered ON hosts (rank, id) WHERE next_at IS NOT NULL;
  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    job_seq INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    rank INTEGER NOT NULL,
    ready_at INTEGER,
    epoch INTEGER NOT NULL DEFAULT 0,
    depth INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    hops INTEGER NOT NULL DEFAULT 0,
    found_by TEXT NOT NULL,
    found_on INTEGER,
    url_key TEXT NOT NULL,
    url TEXT NOT NULL,
    at_url TEXT,
    rule TEXT,
    error_code TEXT,
    trace TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
  );
  CREATE UNIQUE INDEX tasks_url ON tasks (job_seq, url_key);
  CREATE INDEX tasks_job ON tasks (job_seq, id);
  CREATE INDEX tasks_ready ON tasks (host_id, rank, id) WHERE state = 'ready';
  CREATE INDEX tasks_waiting ON tasks (host_id, ready_at) WHERE state = 'waiting';
  CREATE INDEX tasks_claimed ON tasks (host_id) WHERE state = 'claimed';
  CREATE INDEX tasks_failed ON tasks (job_seq, id) WHERE state = 'failed';
  CREATE TABLE pages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL UNIQUE,
    job_seq INTEGER NOT NULL,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status_code INTEGER,
    content_type TEXT,
    charset TEXT,
    fetched_at INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    content_hash TEXT,
    text_hash TEXT,
    bytes INTEGER NOT NULL,
    title TEXT,
    etag TEXT,
    last_modified TEXT,
    duplicate_of TEXT,
    error_code TEXT,
    error_message TEXT,
    record BLOB
  );
  CREATE INDEX pages_job ON pages (job_seq, seq);
  CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    body TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    reason TEXT NOT NULL
  );
  CREATE TABLE opt_outs (
    host TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    contact TEXT,
    at INTEGER NOT NULL
  );
  CREATE TABLE idempotency (
    account_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    job_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
  );
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL
  );
  CREATE TABLE probe (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  INSERT INTO accounts (id, name, created_at) VALUES ('default', 'default', 0);
  `,
  `
  CREATE TABLE sessions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    wish TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER,
    request_count INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 1,
    data BLOB NOT NULL,
    UNIQUE (account_id, name)
  );
  CREATE INDEX sessions_account ON sessions (account_id, seq);
  CREATE INDEX sessions_end ON sessions (expires_at);
  CREATE TABLE credentials (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    hosts TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (account_id, name)
  );
  CREATE INDEX credentials_account ON credentials (account_id, seq);
  `,
  // References of tasks and pages. Earlier programs could leave tasks on a host row that had been rolled back: these get
  // the row of their host and are due at once. The references are added to the text of the schema, which SQLite allows
  // for constraints that do not change how rows are stored; copying tables of many gigabytes would take as much room
  // again. pages.job_seq has none: the task of the page has one. tasks.found_on has none: it only tells where a URL came
  // from, and deleting a job would need an index on it.
  `
  CREATE TEMP TABLE strays AS SELECT id, ${HOST_OF_TASK} AS key FROM tasks t
    WHERE NOT EXISTS (SELECT 1 FROM hosts h WHERE h.id = t.host_id);
  INSERT OR IGNORE INTO hosts (key, rank) SELECT DISTINCT key, 0 FROM strays;
  UPDATE tasks SET host_id = (SELECT h.id FROM strays s JOIN hosts h ON h.key = s.key WHERE s.id = tasks.id)
    WHERE id IN (SELECT id FROM strays);
  UPDATE hosts SET next_at = 0 WHERE owner IS NULL AND key IN (
    SELECT s.key FROM strays s JOIN tasks t ON t.id = s.id WHERE t.state IN ('ready', 'waiting', 'claimed')
  );
  DROP TABLE strays;
  DELETE FROM tasks WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.seq = tasks.job_seq);
  DELETE FROM pages WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = pages.task_id);
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(replace(sql,
      'job_seq INTEGER NOT NULL,', 'job_seq INTEGER NOT NULL REFERENCES jobs (seq),'),
      'host_id INTEGER NOT NULL,', 'host_id INTEGER NOT NULL REFERENCES hosts (id),')
    WHERE type = 'table' AND name = 'tasks';
  UPDATE sqlite_schema SET sql = replace(sql,
      'task_id INTEGER NOT NULL UNIQUE,', 'task_id INTEGER NOT NULL UNIQUE REFERENCES tasks (id),')
    WHERE type = 'table' AND name = 'pages';
  PRAGMA writable_schema = RESET;
  `,
  // The incarnation in which the host was acquired last.
  'ALTER TABLE hosts ADD COLUMN leased_in TEXT;',
  `
  CREATE TABLE work_leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL);
  `,
  // Finds out at every start whether a job has sealed options, without reading all jobs.
  "CREATE INDEX jobs_sealed ON jobs (seq) WHERE json_extract(options, '$.sealed') IS NOT NULL;",
  // How often an owner died while it had the task, and while it had nothing but the task. `started_under` is the claim
  // (host:epoch) under which the task was last recorded as started, `started_alone` whether it was alone.
  `
  ALTER TABLE tasks ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tasks ADD COLUMN lone_interruptions INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tasks ADD COLUMN started_under TEXT;
  ALTER TABLE tasks ADD COLUMN started_alone INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE robots ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0;
  `,
  SQLITE_AUDIT_TABLES,
  SQLITE_SOURCE_TABLES,
  SQLITE_SPENDING_TABLES,
  SQLITE_EVENT_TABLES,
  SQLITE_EXPIRY_TABLES,
  SQLITE_OWNER_TABLES,
  SQLITE_WEBHOOK_TABLES,
  SQLITE_ACCOUNT_TABLES,
  SQLITE_CREDIT_TABLES,
  SQLITE_SCHEDULE_TABLES,
  SQLITE_PLACE_TABLES,
  SQLITE_ANSWER_TABLES,
  SQLITE_DELETION_TABLES,
  SQLITE_OPERATOR_RETENTION,
  SQLITE_READER_TABLES,
  SQLITE_EXPORT_TABLES,
  SQLITE_SNAPSHOT_TABLES,
  SQLITE_INSTALLATION_TABLES,
  SQLITE_LAKE_TABLES,
  SQLITE_MONITOR_TABLES,
  SQLITE_SNAPSHOT_USAGE,
  SQLITE_SIGN_IN_TABLES,
  SQLITE_TURN_TABLES,
];
