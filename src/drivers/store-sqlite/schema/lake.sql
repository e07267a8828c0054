-- The files of the lake.

CREATE TABLE lake_files (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL,
  domain TEXT NOT NULL,
  date TEXT NOT NULL,
  path TEXT NOT NULL,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  -- Set when another file has replaced this one. The row stays until the file is deleted.
  removed_at INTEGER
);
CREATE INDEX lake_files_account ON lake_files (account_id, kind, domain, date) WHERE removed_at IS NULL;
CREATE INDEX lake_files_removed ON lake_files (removed_at) WHERE removed_at IS NOT NULL;

CREATE TABLE lake_file_jobs (
  file_id TEXT NOT NULL REFERENCES lake_files (id) ON DELETE CASCADE,
  job_id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- The smallest number of a page of the job in the file.
  first_page INTEGER NOT NULL,
  PRIMARY KEY (file_id, job_id)
);
CREATE INDEX lake_file_jobs_account ON lake_file_jobs (account_id, job_id);

-- Jobs that went on after their end.
CREATE TABLE lake_resumed_jobs (
  job_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id)
);
CREATE INDEX lake_resumed_jobs_account ON lake_resumed_jobs (account_id);

CREATE TABLE lake_versions (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  version INTEGER NOT NULL,
  manifest_version INTEGER
);
