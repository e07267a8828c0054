-- Schedules and their runs.

CREATE TABLE schedules (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  rules TEXT NOT NULL,
  job TEXT NOT NULL,
  is_paused INTEGER NOT NULL,
  next_tick_at INTEGER,
  due_at INTEGER,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX schedules_account ON schedules (account_id, seq);
CREATE INDEX schedules_due ON schedules (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE schedule_runs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  started_by TEXT NOT NULL,
  tick_at INTEGER NOT NULL,
  is_late INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL,
  reason TEXT,
  job_id TEXT NOT NULL,
  missed_last_at INTEGER,
  missed_count INTEGER,
  created_at INTEGER NOT NULL,
  settled_at INTEGER
);
-- However many schedulers decide a tick, it has one row.
CREATE UNIQUE INDEX schedule_runs_tick ON schedule_runs (schedule_id, tick_at) WHERE started_by = 'tick';
CREATE INDEX schedule_runs_schedule ON schedule_runs (schedule_id, seq);
CREATE INDEX schedule_runs_open ON schedule_runs (seq) WHERE status IN ('pending', 'waiting');
