-- Makes a job with its first tasks, or raises SC402 when its account cannot pay for one of them. p_job has every column of the
-- row but seq; see newJobRow in store-rows/job-rows.ts.
CREATE FUNCTION create_job(
  p_job json, p_tasks json, p_hosts text[], p_provisional text[], p_is_unsynced boolean
) RETURNS SETOF jobs
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  made jobs := json_populate_record(NULL::jobs, p_job);
BEGIN
  PERFORM require_credits(made.account_id, made.reserve_microcredits, made.created_at);
  IF p_is_unsynced THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  made.seq := nextval(pg_get_serial_sequence('jobs', 'seq'));
  INSERT INTO jobs SELECT (made).*;
  PERFORM put_hosts(p_hosts);
  PERFORM wake_hosts(a.woken, a.ranks, made.created_at)
  FROM add_tasks(p_tasks, ARRAY[made.seq], '{1}', json_array_length(p_tasks), p_provisional, made.created_at) a;
  PERFORM settle(ARRAY[made.seq], made.created_at);
  RETURN QUERY SELECT * FROM jobs WHERE seq = made.seq;
END
$$;

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
