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
