-- Exports.

CREATE TABLE exports (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  job_id TEXT NOT NULL,
  spec TEXT NOT NULL,
  secret TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  -- When an export that waits may be claimed. While it is being written: the end of the lease.
  due_at INTEGER,
  row_count INTEGER NOT NULL DEFAULT 0,
  size_bytes INTEGER NOT NULL DEFAULT 0,
  sha256 TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
);
CREATE INDEX exports_account ON exports (account_id, seq);
CREATE INDEX exports_job ON exports (job_id, seq);
CREATE INDEX exports_due ON exports (due_at, seq) WHERE due_at IS NOT NULL;
