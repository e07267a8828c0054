-- How URLs come into the frontier and hosts learn of them.
--
-- Rows are locked in one order, everywhere: jobs by number, then hosts by number. Host rows are made in the order of their
-- keys before any of them is locked. So there are no deadlocks.

CREATE FUNCTION put_hosts(p_keys text[]) RETURNS void
LANGUAGE sql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  INSERT INTO hosts (key, rank)
  SELECT DISTINCT k COLLATE "C", 9007199254740991::bigint FROM unnest(p_keys) AS k
  WHERE NOT EXISTS (SELECT FROM hosts WHERE key = k)
  ORDER BY 1
  ON CONFLICT (key) DO NOTHING
$$;

-- Adds the tasks their jobs do not know yet, counts them, and says which hosts have ready ones now. A URL that a
-- provisional rule had kept out becomes ready when it is found in another way. "by" is the place of a task's job in
-- p_jobs, and only places in p_kept count; p_size is the expected size of a job that is just being made.
-- The caller holds the jobs' rows and has put the hosts.
CREATE FUNCTION add_tasks(
  p_found json, p_jobs bigint[], p_kept integer[], p_size bigint, p_provisional text[], p_now bigint,
  OUT woken bigint[], OUT ranks bigint[]
)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  WITH found AS MATERIALIZED (
    SELECT f.*, j.seq AS job, j.account_id, h.id AS host_id, rank_of(j.kind, coalesce(p_size, j.known), p_now) AS rank,
      CASE WHEN f.state <> 'ready' THEN f.state
        WHEN j.status = 'cancelled' THEN 'cancelled'
        WHEN j.stop_reason IS NOT NULL THEN 'skipped'
        ELSE 'ready' END AS becomes,
      CASE WHEN f.state <> 'ready' THEN f.rule
        WHEN j.status <> 'cancelled' THEN j.stop_reason END AS why
    FROM json_to_recordset(p_found) AS f (
      ord integer, by integer, kind text, url text, url_key text, host text, depth integer,
      found_by text, found_on bigint, state text, rule text
    )
    JOIN jobs j ON j.seq = p_jobs[f.by]
    JOIN hosts h ON h.key = f.host
    WHERE f.by = ANY (p_kept)
  ),
  -- Most links lead where the job has been.
  news AS MATERIALIZED (
    SELECT f.*, t.id AS known_id, f.becomes = 'skipped' AND f.why = ANY (p_provisional) AS is_provisional
    FROM found f LEFT JOIN tasks t ON t.job_seq = f.job AND t.url_key = f.url_key
    WHERE t.id IS NULL OR (f.becomes = 'ready' AND t.state = 'skipped' AND t.rule = ANY (p_provisional))
  ),
  firsts AS (
    SELECT DISTINCT ON (job, url_key) * FROM news WHERE known_id IS NULL ORDER BY job, url_key, ord
  ),
  overturning AS (
    SELECT DISTINCT ON (job, url_key) * FROM news WHERE becomes = 'ready' ORDER BY job, url_key, ord
  ),
  inserted AS (
    INSERT INTO tasks (
      job_seq, host_id, kind, state, rank, depth, found_by, found_on, url_key, url, rule, created_at, finished_at, account_id
    )
    SELECT f.job, f.host_id, f.kind, coalesce(o.becomes, f.becomes), f.rank,
      CASE WHEN o.ord IS NULL THEN f.depth ELSE o.depth END,
      CASE WHEN o.ord IS NULL THEN f.found_by ELSE o.found_by END,
      CASE WHEN o.ord IS NULL THEN f.found_on ELSE o.found_on END,
      f.url_key, f.url,
      CASE WHEN o.ord IS NULL THEN f.why END,
      p_now,
      CASE WHEN coalesce(o.becomes, f.becomes) <> 'ready' THEN p_now END,
      f.account_id
    FROM firsts f
    -- With OFFSET the others are not even looked for, and most are not provisional.
    LEFT JOIN LATERAL (
      SELECT * FROM overturning n WHERE f.is_provisional AND n.job = f.job AND n.url_key = f.url_key OFFSET 0
    ) o ON true
    ORDER BY f.ord
    RETURNING job_seq, host_id, rank, state
  ),
  overturned AS (
    UPDATE tasks t
    SET state = 'ready', rule = NULL, finished_at = NULL, rank = o.rank, depth = o.depth, found_by = o.found_by,
      found_on = o.found_on
    FROM overturning o WHERE t.id = o.known_id
    RETURNING t.job_seq, o.host_id, t.rank
  ),
  changes AS (
    SELECT job_seq, host_id, rank, state, true AS is_new FROM inserted
    UNION ALL SELECT job_seq, host_id, rank, 'ready', false FROM overturned
  ),
  counted AS (
    UPDATE jobs j
    SET known = j.known + c.known, open = j.open + c.open, skipped = j.skipped + c.skipped - c.overturned,
      denied = j.denied + c.denied, cancelled = j.cancelled + c.cancelled
    FROM (
      SELECT job_seq,
        count(*) FILTER (WHERE is_new) AS known,
        count(*) FILTER (WHERE state = 'ready') AS open,
        count(*) FILTER (WHERE state = 'skipped') AS skipped,
        count(*) FILTER (WHERE NOT is_new) AS overturned,
        count(*) FILTER (WHERE state = 'denied') AS denied,
        count(*) FILTER (WHERE state = 'cancelled') AS cancelled
      FROM changes GROUP BY job_seq
    ) c
    WHERE j.seq = c.job_seq
  )
  SELECT array_agg(host_id), array_agg(best) INTO woken, ranks
  FROM (SELECT host_id, min(rank) AS best FROM changes WHERE state = 'ready' GROUP BY host_id) w;
END
$$;

-- Says that the hosts have ready tasks of these ranks. Every row is locked even where nothing changes: its owner
-- may be giving it up this moment, unable to see tasks that are not committed yet.
CREATE FUNCTION wake_hosts(p_hosts bigint[], p_ranks bigint[], p_now bigint)
RETURNS TABLE (key text, rank bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  PERFORM 1 FROM hosts WHERE id = ANY (p_hosts) ORDER BY id FOR NO KEY UPDATE;
  RETURN QUERY
  WITH woken AS MATERIALIZED (
    SELECT h.id, h.key AS host, w.best, least(h.rank, w.best) AS new_rank,
      CASE WHEN h.owner IS NULL OR h.lease_until <= p_now
        THEN least(coalesce(h.next_at, 9007199254740991), greatest(p_now, h.blocked_until))
        ELSE h.next_at END AS new_next_at
    FROM (
      SELECT u.id, min(u.rank) AS best FROM unnest(p_hosts, p_ranks) AS u (id, rank) GROUP BY u.id
    ) w JOIN hosts h ON h.id = w.id
  ),
  updated AS (
    UPDATE hosts h SET rank = w.new_rank, next_at = w.new_next_at FROM woken w
    WHERE h.id = w.id AND (h.rank, h.next_at) IS DISTINCT FROM (w.new_rank, w.new_next_at)
  )
  SELECT host, best FROM woken;
END
$$;
