-- Monitors, what they remember of their pages, their checks, and the changes that they have told.

CREATE TABLE monitors (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  settings TEXT NOT NULL,
  revision INTEGER NOT NULL,
  checks INTEGER NOT NULL DEFAULT 0,
  last_check TEXT,
  last_change_at INTEGER,
  recheck TEXT,
  recheck_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX monitors_account ON monitors (account_id, seq);
CREATE INDEX monitors_schedule ON monitors (schedule_id);
CREATE INDEX monitors_recheck ON monitors (recheck_at) WHERE recheck_at IS NOT NULL;

CREATE TABLE monitor_pages (
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  page_key TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  url TEXT NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (monitor_id, page_key)
) WITHOUT ROWID;
CREATE INDEX monitor_pages_account ON monitor_pages (account_id);

-- The row of a check makes it unique: however many processes evaluate a job, it is recorded once.
CREATE TABLE monitor_checks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  job_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (monitor_id, job_id)
);
CREATE INDEX monitor_checks_age ON monitor_checks (monitor_id, seq);
CREATE INDEX monitor_checks_account ON monitor_checks (account_id);

CREATE TABLE monitor_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  job_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  url TEXT NOT NULL,
  from_url TEXT,
  title TEXT,
  summary TEXT NOT NULL,
  data BLOB NOT NULL
);
CREATE INDEX monitor_changes_monitor ON monitor_changes (monitor_id, seq);
CREATE INDEX monitor_changes_account ON monitor_changes (account_id);
