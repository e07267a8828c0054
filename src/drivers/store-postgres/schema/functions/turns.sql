-- Accounts and jobs take turns at a host: src/core/model/turns.ts says how, and the contract tests hold both stores to the same
-- order.

-- The best rank among the tasks that are due on the host, of the first sixteen accounts; NULL: none is.
CREATE FUNCTION best_due(p_host bigint, p_now bigint) RETURNS bigint
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  account text;
  found_rank bigint;
  best bigint := (SELECT min(rank) FROM tasks WHERE host_id = p_host AND state = 'waiting' AND ready_at <= p_now);
BEGIN
  FOR looked IN 1..16 LOOP
    IF account IS NULL THEN
      SELECT account_id, rank INTO account, found_rank FROM tasks
      WHERE host_id = p_host AND state = 'ready' ORDER BY account_id, CASE rank WHEN 0 THEN 0 ELSE job_seq END, rank, id LIMIT 1;
    ELSE
      SELECT account_id, rank INTO account, found_rank FROM tasks
      WHERE host_id = p_host AND state = 'ready' AND account_id > account
      ORDER BY account_id, CASE rank WHEN 0 THEN 0 ELSE job_seq END, rank, id LIMIT 1;
    END IF;
    EXIT WHEN NOT FOUND;
    best := least(best, found_rank);
  END LOOP;
  RETURN best;
END
$$;

-- Accounts with ready tasks on the host, beginning after p_last and going on from the first.
CREATE FUNCTION accounts_in_turn(p_host bigint, p_last text, p_most integer) RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  account text := p_last;
  given integer := 0;
  has_wrapped boolean := p_last IS NULL;
BEGIN
  WHILE given < p_most LOOP
    IF account IS NULL THEN
      SELECT account_id INTO account FROM tasks WHERE host_id = p_host AND state = 'ready'
      ORDER BY account_id LIMIT 1;
    ELSE
      SELECT account_id INTO account FROM tasks WHERE host_id = p_host AND state = 'ready' AND account_id > account
      ORDER BY account_id LIMIT 1;
    END IF;
    IF account IS NULL THEN
      EXIT WHEN has_wrapped;
      has_wrapped := true;
      CONTINUE;
    END IF;
    EXIT WHEN has_wrapped AND p_last IS NOT NULL AND account > p_last;
    RETURN NEXT account;
    given := given + 1;
  END LOOP;
END
$$;

-- Lines of an account with ready tasks on the host: its single scrapes (0), and jobs beginning after p_last.
CREATE FUNCTION lines_in_turn(p_host bigint, p_account text, p_last bigint, p_most integer) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  line bigint;
  given integer := 0;
BEGIN
  IF EXISTS (
    SELECT FROM tasks WHERE host_id = p_host AND account_id = p_account AND state = 'ready' AND (CASE rank WHEN 0 THEN 0 ELSE job_seq END) = 0
  ) THEN
    RETURN NEXT 0;
  END IF;
  FOR pass IN 1..2 LOOP
    line := CASE pass WHEN 1 THEN greatest(p_last, 0) ELSE 0 END;
    WHILE given < p_most LOOP
      SELECT (CASE rank WHEN 0 THEN 0 ELSE job_seq END) INTO line FROM tasks
      WHERE host_id = p_host AND account_id = p_account AND state = 'ready' AND (CASE rank WHEN 0 THEN 0 ELSE job_seq END) > line
      ORDER BY (CASE rank WHEN 0 THEN 0 ELSE job_seq END) LIMIT 1;
      EXIT WHEN line IS NULL OR (pass = 2 AND line > p_last);
      RETURN NEXT line;
      given := given + 1;
    END LOOP;
  END LOOP;
END
$$;

-- The tasks that are claimed next, in the order of their turns. Jobs in p_passed are left out, but for tasks in p_allowed.
CREATE FUNCTION due_in_turn(
  p_host bigint, p_limit integer, p_now bigint, p_turns jsonb, p_passed bigint[], p_allowed bigint[]
)
RETURNS TABLE (id bigint, job_seq bigint, kind text, place bigint)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  first tasks;
  last tasks;
  last_account text := p_turns ->> 'account';
  of_line integer;
BEGIN
  SELECT * INTO first FROM tasks t WHERE t.host_id = p_host AND t.state = 'ready'
  ORDER BY t.account_id, CASE rank WHEN 0 THEN 0 ELSE job_seq END, t.rank, t.id LIMIT 1;
  SELECT * INTO last FROM tasks t WHERE t.host_id = p_host AND t.state = 'ready'
  ORDER BY t.account_id DESC, CASE rank WHEN 0 THEN 0 ELSE job_seq END DESC, t.rank DESC, t.id DESC LIMIT 1;
  -- One line alone, which is the usual case.
  IF first.account_id IS NOT DISTINCT FROM last.account_id
    AND (CASE first.rank WHEN 0 THEN 0 ELSE first.job_seq END)
      IS NOT DISTINCT FROM (CASE last.rank WHEN 0 THEN 0 ELSE last.job_seq END)
    AND NOT EXISTS (
      SELECT FROM tasks t WHERE t.host_id = p_host AND t.state = 'waiting' AND t.ready_at <= p_now
        AND (first.id IS NULL OR t.account_id <> first.account_id OR t.job_seq <> first.job_seq)
    )
  THEN
    RETURN QUERY
    WITH due AS (
      (SELECT t.id, t.job_seq, t.kind, t.rank FROM tasks t
       WHERE t.host_id = p_host AND t.state = 'ready' AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
       ORDER BY t.account_id, CASE rank WHEN 0 THEN 0 ELSE job_seq END, t.rank, t.id LIMIT p_limit)
      UNION ALL
      (SELECT t.id, t.job_seq, t.kind, t.rank FROM tasks t
       WHERE t.host_id = p_host AND t.state = 'waiting' AND t.ready_at <= p_now
         AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
       ORDER BY t.rank, t.id LIMIT p_limit)
    )
    SELECT d.id, d.job_seq, d.kind, row_number() OVER (ORDER BY d.rank, d.id) FROM due d
    ORDER BY d.rank, d.id LIMIT p_limit;
    RETURN;
  END IF;

  RETURN QUERY
  WITH lines AS MATERIALIZED (
    SELECT a.account, l.line
    FROM accounts_in_turn(p_host, last_account, p_limit) AS a (account),
      LATERAL lines_in_turn(
        p_host, a.account, coalesce((p_turns -> 'lines' -> a.account ->> 0)::bigint, 0), p_limit
      ) AS l (line)
    WHERE l.line = 0 OR l.line <> ALL (p_passed) OR cardinality(p_allowed) > 0
  ),
  -- Of many lines the first tasks of each are enough.
  most AS (SELECT least(p_limit, greatest(8, 4096 / greatest(count(*), 1)))::integer AS rows FROM lines),
  due AS (
    SELECT t.* FROM lines l, LATERAL (
      SELECT t.id, t.job_seq, t.kind, t.rank, t.account_id, l.line FROM tasks t
      WHERE t.host_id = p_host AND t.state = 'ready' AND t.account_id = l.account
        AND (CASE t.rank WHEN 0 THEN 0 ELSE t.job_seq END) = l.line
        AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
      ORDER BY t.rank, t.id LIMIT (SELECT rows FROM most)
    ) t
    UNION ALL
    (SELECT t.id, t.job_seq, t.kind, t.rank, t.account_id, CASE t.rank WHEN 0 THEN 0 ELSE t.job_seq END
     FROM tasks t
     WHERE t.host_id = p_host AND t.state = 'waiting' AND t.ready_at <= p_now
       AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
     ORDER BY t.ready_at LIMIT p_limit)
  ),
  in_line AS (
    SELECT d.*, coalesce((p_turns -> 'lines' -> d.account_id ->> 0)::bigint, 0) AS last_job,
      coalesce((p_turns -> 'lines' -> d.account_id ->> 1)::boolean, false) AS was_scrape,
      row_number() OVER (PARTITION BY d.account_id, d.line ORDER BY d.rank, d.id) AS nth
    FROM due d
  ),
  in_class AS (
    SELECT i.*, row_number() OVER (
      PARTITION BY i.account_id, i.line = 0 ORDER BY i.nth, i.line <= i.last_job, i.line
    ) AS turn FROM in_line i
  ),
  in_account AS (
    SELECT c.*, row_number() OVER (
      PARTITION BY c.account_id ORDER BY c.turn, (c.line = 0) = c.was_scrape
    ) AS round FROM in_class c
  )
  SELECT i.id, i.job_seq, i.kind, row_number() OVER (
    ORDER BY i.round, coalesce(i.account_id <= last_account, false), i.account_id
  ) AS place
  FROM in_account i ORDER BY place LIMIT p_limit;
END
$$;
