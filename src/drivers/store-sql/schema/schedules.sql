-- Schedules and their runs. The row of a schedule is locked after those of jobs and hosts, and a transaction that holds it
-- locks no job.

CREATE TABLE schedules (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  account_id text NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  rules text NOT NULL,
  job text NOT NULL,
  is_paused boolean NOT NULL,
  next_tick_at bigint,
  due_at bigint,
  revision bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX schedules_account ON schedules (account_id, seq);
CREATE INDEX schedules_due ON schedules (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE schedule_runs (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  schedule_id text NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  account_id text NOT NULL REFERENCES accounts (id),
  started_by text NOT NULL,
  tick_at bigint NOT NULL,
  is_late boolean NOT NULL DEFAULT false,
  status text NOT NULL,
  reason text,
  job_id text NOT NULL,
  missed_last_at bigint,
  missed_count bigint,
  created_at bigint NOT NULL,
  settled_at bigint
);
-- However many schedulers decide a tick, it has one row.
CREATE UNIQUE INDEX schedule_runs_tick ON schedule_runs (schedule_id, tick_at) WHERE started_by = 'tick';
CREATE INDEX schedule_runs_schedule ON schedule_runs (schedule_id, seq);
CREATE INDEX schedule_runs_open ON schedule_runs (seq) WHERE status IN ('pending', 'waiting');

-- Monitors, what they remember of their pages, their checks, and the changes that they have told. The row of a
-- monitor is locked before that of its schedule.

CREATE TABLE monitors (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  account_id text NOT NULL REFERENCES accounts (id),
  schedule_id text NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  name text NOT NULL,
  settings text NOT NULL,
  revision bigint NOT NULL,
  checks bigint NOT NULL DEFAULT 0,
  last_check text,
  last_change_at bigint,
  recheck text,
  recheck_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX monitors_account ON monitors (account_id, seq);
CREATE INDEX monitors_schedule ON monitors (schedule_id);
CREATE INDEX monitors_recheck ON monitors (recheck_at) WHERE recheck_at IS NOT NULL;

CREATE TABLE monitor_pages (
  monitor_id text NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  page_key text COLLATE "C" NOT NULL,
  account_id text NOT NULL REFERENCES accounts (id),
  url text NOT NULL,
  state bytea NOT NULL,
  PRIMARY KEY (monitor_id, page_key)
) /* WITHOUT ROWID in SQLite */;
CREATE INDEX monitor_pages_account ON monitor_pages (account_id);

-- The row of a check makes it unique: however many processes evaluate a job, it is recorded once.
CREATE TABLE monitor_checks (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  monitor_id text NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  account_id text NOT NULL REFERENCES accounts (id),
  job_id text NOT NULL,
  at bigint NOT NULL,
  UNIQUE (monitor_id, job_id)
);
CREATE INDEX monitor_checks_age ON monitor_checks (monitor_id, seq);
CREATE INDEX monitor_checks_account ON monitor_checks (account_id);

CREATE TABLE monitor_changes (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  monitor_id text NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  account_id text NOT NULL REFERENCES accounts (id),
  job_id text NOT NULL,
  at bigint NOT NULL,
  kind text NOT NULL,
  url text NOT NULL,
  from_url text,
  title text,
  summary text NOT NULL,
  data bytea NOT NULL
);
CREATE INDEX monitor_changes_monitor ON monitor_changes (monitor_id, seq);
CREATE INDEX monitor_changes_account ON monitor_changes (account_id);
