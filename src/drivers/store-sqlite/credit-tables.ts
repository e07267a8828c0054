/**
 * Credits and usage; see `CreditStore`. A row of `credits` exists for accounts with limits only, and a row of
 * `credit_holds` for their jobs that are going on. `usage_log` has what commits used, until it is added to `usage_sums`,
 * whose rows each belong to one day and to one value of one of the groups.
 */
export const SQLITE_CREDIT_TABLES = `
  ALTER TABLE jobs ADD COLUMN key_id TEXT;
  ALTER TABLE jobs ADD COLUMN microcredits INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN reserve_microcredits INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE credits (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    is_limited INTEGER NOT NULL,
    monthly INTEGER NOT NULL,
    low INTEGER NOT NULL,
    is_low INTEGER NOT NULL DEFAULT 0,
    -- Of which month the allowance is: see monthOf.
    month INTEGER NOT NULL,
    allowance INTEGER NOT NULL,
    balance INTEGER NOT NULL
  );
  CREATE TABLE credit_holds (
    job_seq INTEGER PRIMARY KEY REFERENCES jobs (seq),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    month INTEGER NOT NULL,
    allowance INTEGER NOT NULL,
    balance INTEGER NOT NULL
  );
  CREATE INDEX credit_holds_account ON credit_holds (account_id);
  CREATE TABLE credit_entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    microcredits INTEGER NOT NULL,
    reason TEXT NOT NULL,
    key TEXT,
    UNIQUE (account_id, key)
  );
  CREATE INDEX credit_entries_account ON credit_entries (account_id, seq);
  CREATE TABLE usage_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    engine TEXT NOT NULL,
    host TEXT NOT NULL,
    day INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    browser_ms INTEGER NOT NULL,
    proxy_bytes INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    microcredits INTEGER NOT NULL
  );
  CREATE TABLE usage_sums (
    account_id TEXT NOT NULL,
    grouped_by TEXT NOT NULL,
    day INTEGER NOT NULL,
    value TEXT NOT NULL,
    pages INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    browser_ms INTEGER NOT NULL,
    proxy_bytes INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    microcredits INTEGER NOT NULL,
    PRIMARY KEY (account_id, grouped_by, day, value)
  ) WITHOUT ROWID;
`;
