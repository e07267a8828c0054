-- Handing out the due tasks of a host to its owner: see HostStore.claimTasks.

-- The due tasks in the order of their turns, as many as the page budgets of their jobs allow; NULL when there are none. A job
-- at its page budget is found out by its surplus; then the host is looked at again without what that job has too much. Jobs
-- in p_passed are left out.
CREATE FUNCTION due_in_budget(p_host bigint, p_limit integer, p_now bigint, p_turns jsonb, p_passed bigint[])
RETURNS bigint[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  passed_over bigint[] := p_passed;
  -- The tasks that jobs which are passed over may still start.
  allowed bigint[] := '{}';
  chosen bigint[];
  surplus bigint[];
  allowed_more bigint[];
BEGIN
  LOOP
    WITH judged AS (
      SELECT b.id, b.job_seq,
        b.kind <> 'page' OR j.max_pages IS NULL
        OR count(*) FILTER (WHERE b.kind = 'page') OVER (PARTITION BY b.job_seq ORDER BY b.place)
          <= j.max_pages - j.pages - j.failed - j.claimed_pages AS is_within
      FROM due_in_turn(p_host, p_limit, p_now, p_turns, passed_over, allowed) b JOIN jobs j ON j.seq = b.job_seq
    )
    SELECT array_agg(id) FILTER (WHERE is_within), array_agg(DISTINCT job_seq) FILTER (WHERE NOT is_within),
      array_agg(id) FILTER (WHERE is_within AND job_seq IN (SELECT o.job_seq FROM judged o WHERE NOT o.is_within))
    INTO chosen, surplus, allowed_more FROM judged;
    -- A budget that shrank between two looks shows jobs a second time.
    EXIT WHEN surplus IS NULL OR surplus <@ passed_over;
    passed_over := passed_over || surplus;
    allowed := allowed || allowed_more;
  END LOOP;
  RETURN chosen;
END
$$;

-- Gives tasks back that this transaction has claimed. The caller holds the rows of their jobs.
CREATE FUNCTION unclaim_tasks(p_tasks bigint[]) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  WITH returned AS (
    UPDATE tasks t SET state = 'ready' WHERE t.id = ANY (p_tasks) RETURNING t.job_seq, t.kind
  )
  UPDATE jobs j SET claimed = j.claimed - c.claimed, claimed_pages = j.claimed_pages - c.pages
  FROM (
    SELECT r.job_seq, count(*) AS claimed, count(*) FILTER (WHERE r.kind = 'page') AS pages
    FROM returned r GROUP BY r.job_seq
  ) c
  WHERE j.seq = c.job_seq;
END
$$;

-- Rows without "id" name jobs of accounts that have no place left: the caller asks again without them.
--
-- Claims of one account with a limit of pages wait for each other, each in a transaction of its own: this function takes no
-- other lock once it has the lock of an account, so there are no deadlocks.
CREATE FUNCTION claim_tasks(
  p_host bigint, p_epoch bigint, p_limit integer, p_now bigint, p_except bigint[], p_turns jsonb
)
RETURNS TABLE (
  id bigint, job_seq bigint, job_id text, kind text, url text, at_url text, hops integer, url_key text,
  depth integer, attempts integer, trace jsonb, interruptions integer, lone_interruptions integer,
  is_bounded boolean
)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  -- The tasks that are claimed.
  taken bigint[] := '{}';
  passed_over bigint[] := p_except;
  chosen bigint[];
  claimed integer;
  -- Tasks of a round that their account cannot pay for.
  unpaid bigint[];
  paying record;
  surplus bigint;
  unpaid_tasks bigint[];
  -- Accounts without a place left, and the jobs of accounts with a limit of pages.
  full_accounts text[] := '{}';
  bounded_jobs bigint[] := '{}';
  account record;
  places bigint;
  waiting bigint;
  beyond bigint[];
BEGIN
  -- When this is lost, the tasks are ready again and what comes of them is void.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM 1 FROM hosts h WHERE h.id = p_host AND h.epoch = p_epoch AND h.owner IS NOT NULL;
  IF NOT FOUND THEN RETURN; END IF;

  -- Rounds: tasks that cannot be paid for are replaced by those of other jobs.
  LOOP
    chosen := due_in_budget(p_host, p_limit - cardinality(taken), p_now, p_turns, passed_over);
    EXIT WHEN chosen IS NULL;

    -- Locks the jobs, looks at the host and the tasks again, and claims them.
    PERFORM 1 FROM jobs j WHERE j.seq IN (SELECT t.job_seq FROM tasks t WHERE t.id = ANY (chosen))
    ORDER BY j.seq FOR NO KEY UPDATE;
    PERFORM 1 FROM hosts h WHERE h.id = p_host AND h.epoch = p_epoch AND h.owner IS NOT NULL FOR SHARE;
    EXIT WHEN NOT FOUND;
    WITH found AS MATERIALIZED (
      -- By their numbers alone: while the table is young, the planner would go through all open tasks of the host instead.
      SELECT t.id, t.job_seq, t.host_id, t.kind, t.state, t.rank, t.ready_at FROM tasks t WHERE t.id = ANY (chosen)
    ),
    judged AS (
      SELECT t.id, t.kind <> 'page' OR j.max_pages IS NULL
        OR count(*) FILTER (WHERE t.kind = 'page') OVER (PARTITION BY t.job_seq ORDER BY t.rank, t.id)
          <= j.max_pages - j.pages - j.failed - j.claimed_pages AS is_within
      FROM found t JOIN jobs j ON j.seq = t.job_seq
      WHERE t.host_id = p_host AND (t.state = 'ready' OR (t.state = 'waiting' AND t.ready_at <= p_now))
    ),
    now_claimed AS (
      UPDATE tasks t SET state = 'claimed', epoch = p_epoch, ready_at = NULL
      FROM judged d WHERE t.id = d.id AND d.is_within
      RETURNING t.job_seq, t.kind
    ),
    counted AS (
      UPDATE jobs j
      SET claimed = j.claimed + c.claimed, claimed_pages = j.claimed_pages + c.claimed_pages,
        status = CASE WHEN j.started_at IS NULL THEN 'running' ELSE j.status END,
        started_at = coalesce(j.started_at, p_now)
      FROM (
        SELECT t.job_seq, count(*) AS claimed, count(*) FILTER (WHERE t.kind = 'page') AS claimed_pages
        FROM now_claimed t GROUP BY t.job_seq
      ) c
      WHERE j.seq = c.job_seq
    )
    SELECT count(*) INTO claimed FROM now_claimed;
    IF claimed < cardinality(chosen) THEN
      RAISE serialization_failure USING MESSAGE = 'the tasks of the host have changed';
    END IF;

    -- Holds what the attempts may cost. Tasks of an account that cannot pay are given back, those with the last turn first; a
    -- job that cannot pay for any stops.
    unpaid := '{}';
    FOR paying IN
      SELECT j.seq, j.account_id, j.claimed, j.reserve_microcredits AS reserve, count(*) OVER () = 1 AS is_alone
      FROM jobs j JOIN credits c ON c.account_id = j.account_id AND c.is_limited
      WHERE j.seq IN (SELECT t.job_seq FROM tasks t WHERE t.id = ANY (chosen)) AND j.reserve_microcredits > 0
      ORDER BY j.account_id, j.seq
    LOOP
      surplus := paying.claimed - hold_credits(
        paying.seq, paying.account_id, paying.claimed, paying.reserve, paying.is_alone, p_now
      );
      CONTINUE WHEN surplus <= 0;
      unpaid_tasks := ARRAY(
        SELECT t.id FROM tasks t WHERE t.id = ANY (chosen) AND t.job_seq = paying.seq
        ORDER BY t.rank DESC, t.id DESC LIMIT surplus
      );
      PERFORM unclaim_tasks(unpaid_tasks);
      passed_over := passed_over || paying.seq;
      unpaid := unpaid || unpaid_tasks;
      IF paying.claimed = cardinality(unpaid_tasks) THEN
        PERFORM stop_job(paying.seq, 'credits.exhausted', p_now);
        PERFORM settle(ARRAY[paying.seq], p_now);
      END IF;
    END LOOP;
    taken := taken || ARRAY(SELECT unnest(chosen) EXCEPT SELECT unnest(unpaid));
    EXIT WHEN cardinality(unpaid) = 0 OR cardinality(taken) >= p_limit;
  END LOOP;
  IF cardinality(taken) = 0 THEN RETURN; END IF;

  -- Gives back what is beyond the number of pages that accounts may fetch at the same time. Installations without such
  -- accounts pay for one look at an empty index.
  IF EXISTS (SELECT FROM accounts a WHERE a.concurrent_pages IS NOT NULL OR a.disabled_at IS NOT NULL) THEN
    FOR account IN
      SELECT a.id, CASE WHEN a.disabled_at IS NULL THEN a.concurrent_pages ELSE 0 END AS most,
        array_agg(t.id ORDER BY t.rank, t.id) AS tasks, array_agg(DISTINCT j.seq) AS jobs
      FROM tasks t JOIN jobs j ON j.seq = t.job_seq JOIN accounts a ON a.id = j.account_id
      WHERE t.id = ANY (taken) AND (a.concurrent_pages IS NOT NULL OR a.disabled_at IS NOT NULL)
      GROUP BY a.id ORDER BY a.id
    LOOP
      bounded_jobs := bounded_jobs || account.jobs;
      PERFORM pg_advisory_xact_lock(hashtextextended('places of ' || account.id, 0));
      SELECT account.most - coalesce(sum(j.claimed), 0) + cardinality(account.tasks) INTO places
      FROM jobs j WHERE j.account_id = account.id AND j.finished_at IS NULL;
      -- How many other hosts wait for a place; HELD_HOSTS and REST in store-rows/bounded-claims.ts have these numbers.
      SELECT count(*) INTO waiting FROM (
        SELECT FROM hosts h WHERE h.held_for = account.id AND h.held_until > p_now AND h.id <> p_host
        LIMIT 1200
      ) w;
      -- While there are some, none takes more than one at once, and each rests now and then.
      IF waiting > 0 THEN
        places := CASE WHEN (p_now / 4000 + p_host) % 4 = 0 THEN 0 ELSE least(places, 1) END;
      END IF;
      CONTINUE WHEN places >= cardinality(account.tasks);
      beyond := account.tasks[greatest(places, 0) + 1 : ];
      PERFORM unclaim_tasks(beyond);
      UPDATE hosts h SET held_for = account.id, held_until = p_now
        + least(60000, greatest(1000, waiting * 50)) * (8 + p_host % 8) / 8
      WHERE h.id = p_host;
      taken := ARRAY(SELECT unnest(taken) EXCEPT SELECT unnest(beyond));
      full_accounts := full_accounts || account.id;
    END LOOP;
    IF cardinality(full_accounts) = 0 AND cardinality(p_except) = 0 THEN
      UPDATE hosts h SET held_for = NULL, held_until = NULL WHERE h.id = p_host AND h.held_for IS NOT NULL;
    END IF;
  END IF;

  RETURN QUERY
  SELECT t.id, t.job_seq, j.id, t.kind, t.url, t.at_url, t.hops, t.url_key, t.depth, t.attempts, t.trace,
    t.interruptions, t.lone_interruptions, t.job_seq = ANY (bounded_jobs)
  FROM tasks t JOIN jobs j ON j.seq = t.job_seq WHERE t.id = ANY (taken)
  ORDER BY t.rank, t.id;
  IF cardinality(full_accounts) > 0 THEN
    RETURN QUERY
    SELECT NULL::bigint, j.seq, NULL::text, NULL::text, NULL::text, NULL::text, NULL::integer, NULL::text,
      NULL::integer, NULL::integer, NULL::jsonb, NULL::integer, NULL::integer, true
    FROM jobs j WHERE j.account_id = ANY (full_accounts) AND j.finished_at IS NULL AND j.seq <> ALL (p_except);
  END IF;
END
$$;
