/**
 * Schedules and their runs. The partial index makes a tick unique: however many schedulers decide it, it has one row. A
 * job refers to its schedule by id only, because it outlives the schedule.
 *
 * The row of a schedule is locked after those of jobs and hosts, and a transaction that holds it locks no job.
 */
export const SCHEDULE_TABLES = `
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
  CREATE UNIQUE INDEX schedule_runs_tick ON schedule_runs (schedule_id, tick_at) WHERE started_by = 'tick';
  CREATE INDEX schedule_runs_schedule ON schedule_runs (schedule_id, seq);
  CREATE INDEX schedule_runs_open ON schedule_runs (seq) WHERE status IN ('pending', 'waiting');
  ALTER TABLE jobs ADD COLUMN schedule_id text;
  CREATE INDEX jobs_schedule ON jobs (schedule_id, seq) WHERE schedule_id IS NOT NULL;

  -- Marks the run as started by the job that this transaction has made. Raises SC409, so that there is no job, when the run
  -- is not open or another job of its schedule goes on.
  CREATE FUNCTION start_schedule_run(p_run text, p_job text, p_now bigint) RETURNS text
  LANGUAGE plpgsql AS $$
  DECLARE
    schedule text := (SELECT schedule_id FROM schedule_runs WHERE id = p_run AND job_id = p_job);
  BEGIN
    PERFORM FROM schedules WHERE id = schedule FOR NO KEY UPDATE;
    IF EXISTS (
      SELECT FROM jobs WHERE schedule_id = schedule AND finished_at IS NULL AND status <> 'cancelled'
    ) THEN
      RAISE EXCEPTION 'another job of the schedule goes on' USING ERRCODE = 'SC409';
    END IF;
    UPDATE schedule_runs SET status = 'started', reason = NULL, settled_at = p_now
    WHERE id = p_run AND job_id = p_job AND status IN ('pending', 'waiting');
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the run is not open' USING ERRCODE = 'SC409';
    END IF;
    UPDATE jobs SET schedule_id = schedule WHERE id = p_job;
    RETURN schedule;
  END
  $$;
`;
