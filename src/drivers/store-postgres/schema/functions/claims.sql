-- Claims of a host's tasks, as the functions that acquire, release and hand out share them.
--
-- A claimed task carries the epoch of its owner, and taking a host over or giving it up returns its claims in the same
-- transaction. So a task that is claimed under an epoch proves that this owner is the host's newest: a commit that ends tasks
-- need not look at the host.
--
-- Jobs come before hosts in the order of locks, but which jobs a host's tasks belong to is only certain once the host is
-- locked. These functions look first, lock what they saw and look again; when it has changed in between, they raise
-- serialization_failure and are called again.

-- The name under which a task is recorded as started.
CREATE FUNCTION claim_name(p_host bigint, p_epoch bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT p_host || ':' || p_epoch $$;

-- Locks the jobs of the tasks that are claimed on the host and returns them.
CREATE FUNCTION lock_claims(p_host bigint) RETURNS bigint[]
LANGUAGE sql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  SELECT coalesce(array_agg(seq), '{}') FROM (
    SELECT seq FROM jobs
    WHERE seq IN (SELECT job_seq FROM tasks WHERE host_id = p_host AND state = 'claimed')
    ORDER BY seq FOR NO KEY UPDATE
  ) j
$$;

-- Gives claimed tasks of a host back: ready again, unless their job takes no more work.
CREATE FUNCTION return_claims(p_host bigint, p_locked bigint[], p_now bigint) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  touched bigint[];
BEGIN
  IF EXISTS (
    SELECT FROM tasks WHERE host_id = p_host AND state = 'claimed' AND job_seq <> ALL (p_locked)
  ) THEN
    RAISE serialization_failure USING MESSAGE = 'the claims of the host have changed';
  END IF;
  WITH returned AS (
    UPDATE tasks t
    SET state = CASE WHEN j.status = 'cancelled' THEN 'cancelled'
          WHEN j.stop_reason IS NOT NULL THEN 'skipped'
          ELSE 'ready' END,
      rule = CASE WHEN j.status <> 'cancelled' AND j.stop_reason IS NOT NULL THEN j.stop_reason ELSE t.rule END,
      finished_at = CASE WHEN j.status = 'cancelled' OR j.stop_reason IS NOT NULL THEN p_now END
    FROM jobs j
    WHERE t.host_id = p_host AND t.state = 'claimed' AND j.seq = t.job_seq
    RETURNING t.job_seq, t.kind, t.state
  ),
  counted AS (
    UPDATE jobs j
    SET claimed = j.claimed - c.claimed, claimed_pages = j.claimed_pages - c.claimed_pages,
      open = j.open - c.cancelled - c.skipped, cancelled = j.cancelled + c.cancelled,
      skipped = j.skipped + c.skipped
    FROM (
      SELECT job_seq,
        count(*) AS claimed,
        count(*) FILTER (WHERE kind = 'page') AS claimed_pages,
        count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
        count(*) FILTER (WHERE state = 'skipped') AS skipped
      FROM returned GROUP BY job_seq
    ) c
    WHERE j.seq = c.job_seq
    RETURNING j.seq
  )
  SELECT array_agg(seq) INTO touched FROM counted;
  IF touched IS NOT NULL THEN
    PERFORM settle(touched, p_now);
  END IF;
END
$$;
