-- How jobs stop and end. Every change of a job's tasks locks the job's row; that one lock keeps its counters, its URLs and the
-- states of its tasks in step, and nothing else needs locking below it.
--
-- The caller holds the rows of the jobs and has written their counters.

-- The moment at which a task is due for service: rankOf in src/core/model/turns.ts, here because the size of a job is only
-- known under its lock. A test holds the two together.
CREATE FUNCTION rank_of(p_kind text, p_size bigint, p_now bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_kind = 'scrape' THEN 0
    ELSE round(p_now + least(15000 * ln(1 + greatest(0, p_size)::float8) / ln(2::float8), 300000))::bigint END
$$;

-- Takes the tasks that are not under way out of the job; returns how many these were.
CREATE FUNCTION drop_open(p_job bigint, p_state text, p_rule text, p_now bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  dropped bigint;
BEGIN
  UPDATE tasks SET state = p_state, rule = p_rule, finished_at = p_now
  WHERE job_seq = p_job AND state IN ('ready', 'waiting');
  GET DIAGNOSTICS dropped = ROW_COUNT;
  RETURN dropped;
END
$$;

CREATE FUNCTION stop_job(p_job bigint, p_reason text, p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  dropped bigint := drop_open(p_job, 'skipped', p_reason, p_now);
BEGIN
  UPDATE jobs SET stop_reason = p_reason, open = open - dropped, skipped = skipped + dropped WHERE seq = p_job;
END
$$;

-- Stops the jobs whose budget is spent, by the rule of spentBudget in src/core/model/credits.ts, and ends those with
-- nothing open.
CREATE FUNCTION settle(p_jobs bigint[], p_now bigint, OUT finished text[], OUT stopped text[])
LANGUAGE plpgsql AS $$
DECLARE
  spent record;
BEGIN
  stopped := '{}';
  FOR spent IN
    SELECT seq, id, reason FROM (
      SELECT seq, id, CASE
        WHEN pages + failed >= max_pages THEN 'budget.pages'
        WHEN bytes >= max_bytes THEN 'budget.bytes'
        -- What a job has not used at all stops it under no limit, and is not looked for in its options.
        WHEN browser_ms > 0 AND browser_ms >= (options -> 'budgets' ->> 'maxBrowserMs')::bigint THEN 'budget.browser'
        WHEN proxy_bytes > 0 AND proxy_bytes >= (options -> 'budgets' ->> 'maxProxyBytes')::bigint THEN 'budget.proxy'
        WHEN microcredits > 0 AND microcredits >= (options -> 'budgets' ->> 'maxMicrocredits')::bigint
          THEN 'budget.credits'
        END AS reason
      FROM jobs WHERE seq = ANY (p_jobs) AND stop_reason IS NULL AND status <> 'cancelled' AND open > 0
      OFFSET 0
    ) j WHERE reason IS NOT NULL
  LOOP
    PERFORM stop_job(spent.seq, spent.reason, p_now);
    stopped := stopped || spent.id;
  END LOOP;
  WITH ended AS (
    UPDATE jobs SET finished_at = p_now, status = CASE
      WHEN status = 'cancelled' THEN 'cancelled'
      WHEN done = 0 AND failed + denied > 0 THEN 'failed'
      WHEN failed > 0 THEN 'partially_completed'
      ELSE 'completed' END
    WHERE seq = ANY (p_jobs) AND open = 0 AND finished_at IS NULL
    RETURNING id
  )
  SELECT coalesce(array_agg(id), '{}') INTO finished FROM ended;
END
$$;
