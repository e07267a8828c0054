-- Credits and usage; see CreditStore.

-- Only accounts with limits have a row.
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

-- What is held for jobs that are going on, of accounts with limits.
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

-- What commits used, until it is added to usage_sums.
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

-- Each row belongs to one day and to one value of one of the groups.
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
