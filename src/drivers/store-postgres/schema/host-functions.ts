import { IDLE_RANK } from '../../store-rows/rows.ts';
import { BY_INDEX } from './frontier-functions.ts';

/**
 * Owning hosts and claiming their tasks, one call each.
 *
 * A claimed task carries the epoch of its owner, and taking a host over or giving it up returns its claims in
 * the same transaction. So a task that is claimed under an epoch proves that this owner is the host's newest: a
 * commit that ends tasks need not look at the host.
 *
 * Jobs come before hosts in the order of locks, but which jobs a host's tasks belong to is only certain once the host
 * is locked. These functions look first, lock what they saw and look again; when it has changed in between, they
 * raise serialization_failure and are called again.
 */
export const HOST_FUNCTIONS = `
  -- Locks the jobs of the tasks that are claimed on the host and returns them.
  CREATE FUNCTION lock_claims(p_host bigint) RETURNS bigint[]
  LANGUAGE sql ${BY_INDEX} AS $$
    SELECT coalesce(array_agg(seq), '{}') FROM (
      SELECT seq FROM jobs
      WHERE seq IN (SELECT job_seq FROM tasks WHERE host_id = p_host AND state = 'claimed')
      ORDER BY seq FOR NO KEY UPDATE
    ) j
  $$;

  -- Gives claimed tasks of a host back: ready again, unless their job takes no more work.
  CREATE FUNCTION return_claims(p_host bigint, p_locked bigint[], p_now bigint) RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
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

  -- The rank of the best task that is due on the host; NULL: none is.
  CREATE FUNCTION best_due(p_host bigint, p_now bigint) RETURNS bigint
  LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
  BEGIN
    RETURN least(
      (SELECT rank FROM tasks WHERE host_id = p_host AND state = 'ready' ORDER BY rank, id LIMIT 1),
      (SELECT min(rank) FROM tasks WHERE host_id = p_host AND state = 'waiting' AND ready_at <= p_now)
    );
  END
  $$;

  CREATE FUNCTION acquire_host(p_key text, p_owner text, p_now bigint, p_lease_ms bigint)
  RETURNS TABLE (host_id bigint, epoch bigint, state jsonb, is_taken_over boolean)
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  #variable_conflict use_column
  DECLARE
    host hosts;
    locked bigint[];
    best bigint;
    due bigint;
  BEGIN
    SELECT * INTO host FROM hosts WHERE key = p_key;
    IF host.id IS NULL THEN RETURN; END IF;
    -- Most who come in vain are sent away without a lock.
    IF p_now < (CASE WHEN host.owner IS NULL THEN host.blocked_until ELSE host.lease_until END) THEN RETURN; END IF;
    locked := lock_claims(host.id);
    SELECT * INTO host FROM hosts WHERE id = host.id FOR NO KEY UPDATE;
    IF p_now < (CASE WHEN host.owner IS NULL THEN host.blocked_until ELSE host.lease_until END) THEN RETURN; END IF;
    PERFORM return_claims(host.id, locked, p_now);
    best := best_due(host.id, p_now);
    IF best IS NULL THEN
      SELECT min(ready_at) INTO due FROM tasks t WHERE t.host_id = host.id AND t.state = 'waiting';
      -- A lease that has run out ends here for good: who wakes the host may go by a time from before its end.
      UPDATE hosts SET lease_until = 0, next_at = due, rank = coalesce(due, ${IDLE_RANK}) WHERE id = host.id;
      RETURN;
    END IF;
    UPDATE hosts
    SET owner = p_owner, epoch = host.epoch + 1, lease_until = p_now + p_lease_ms, next_at = p_now + p_lease_ms,
      rank = best
    WHERE id = host.id;
    RETURN QUERY SELECT host.id, host.epoch + 1, host.state, host.owner IS NOT NULL;
  END
  $$;

  -- Returns the hosts that are no longer theirs.
  CREATE FUNCTION renew_hosts(p_hosts bigint[], p_epochs bigint[], p_now bigint, p_lease_ms bigint)
  RETURNS SETOF bigint
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    PERFORM 1 FROM hosts WHERE id = ANY (p_hosts) ORDER BY id FOR NO KEY UPDATE;
    RETURN QUERY
    WITH renewed AS (
      UPDATE hosts h SET lease_until = p_now + p_lease_ms, next_at = p_now + p_lease_ms
      FROM unnest(p_hosts, p_epochs) AS l (id, epoch)
      WHERE h.id = l.id AND h.epoch = l.epoch AND h.owner IS NOT NULL
      RETURNING h.id
    )
    SELECT id FROM unnest(p_hosts) AS id WHERE id NOT IN (SELECT r.id FROM renewed r);
  END
  $$;

  CREATE FUNCTION release_host(p_host bigint, p_epoch bigint, p_state jsonb, p_not_before bigint, p_now bigint)
  RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    locked bigint[] := lock_claims(p_host);
    best bigint;
    due bigint;
  BEGIN
    -- When this is lost, the lease runs out by itself.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM 1 FROM hosts WHERE id = p_host AND epoch = p_epoch AND owner IS NOT NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM return_claims(p_host, locked, p_now);
    best := best_due(p_host, p_now);
    IF best IS NULL THEN
      SELECT min(ready_at) INTO due FROM tasks WHERE host_id = p_host AND state = 'waiting';
    ELSE
      due := p_now;
    END IF;
    UPDATE hosts
    SET owner = NULL, state = p_state, blocked_until = p_not_before,
      next_at = CASE WHEN due IS NOT NULL THEN greatest(due, p_not_before) END,
      rank = coalesce(best, due, ${IDLE_RANK})
    WHERE id = p_host;
  END
  $$;

  -- Claims due tasks, best rank first. A job at its page budget is found out by its surplus; then the host is looked
  -- at again without what that job has too much.
  CREATE FUNCTION claim_tasks(p_host bigint, p_epoch bigint, p_limit integer, p_now bigint, p_except bigint[])
  RETURNS TABLE (
    id bigint, job_seq bigint, job_id text, kind text, url text, at_url text, hops integer, url_key text,
    depth integer, attempts integer, trace jsonb
  )
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  #variable_conflict use_column
  DECLARE
    passed_over bigint[] := p_except;
    -- What jobs that are passed over may still start.
    allowed bigint[] := '{}';
    chosen bigint[];
    surplus bigint[];
    allowed_more bigint[];
    claimed integer;
  BEGIN
    -- When this is lost, the tasks are ready again and what comes of them is void.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM 1 FROM hosts h WHERE h.id = p_host AND h.epoch = p_epoch AND h.owner IS NOT NULL;
    IF NOT FOUND THEN RETURN; END IF;
    LOOP
      WITH due AS (
        (SELECT t.id, t.job_seq, t.kind, t.rank FROM tasks t
         WHERE t.host_id = p_host AND t.state = 'ready'
           AND (t.job_seq <> ALL (passed_over) OR t.id = ANY (allowed))
         ORDER BY t.rank, t.id LIMIT p_limit)
        UNION ALL
        (SELECT t.id, t.job_seq, t.kind, t.rank FROM tasks t
         WHERE t.host_id = p_host AND t.state = 'waiting' AND t.ready_at <= p_now
           AND (t.job_seq <> ALL (passed_over) OR t.id = ANY (allowed))
         ORDER BY t.rank, t.id LIMIT p_limit)
      ),
      best AS (SELECT * FROM due ORDER BY rank, id LIMIT p_limit),
      judged AS (
        SELECT b.id, b.job_seq,
          b.kind <> 'page' OR j.max_pages IS NULL
          OR count(*) FILTER (WHERE b.kind = 'page') OVER (PARTITION BY b.job_seq ORDER BY b.rank, b.id)
            <= j.max_pages - j.pages - j.failed - j.claimed_pages AS is_within
        FROM best b JOIN jobs j ON j.seq = b.job_seq
      )
      SELECT array_agg(id) FILTER (WHERE is_within), array_agg(DISTINCT job_seq) FILTER (WHERE NOT is_within),
        array_agg(id) FILTER (WHERE is_within AND job_seq IN (SELECT o.job_seq FROM judged o WHERE NOT o.is_within))
      INTO chosen, surplus, allowed_more FROM judged;
      -- A budget that shrank between two looks shows jobs a second time.
      EXIT WHEN surplus IS NULL OR surplus <@ passed_over;
      passed_over := passed_over || surplus;
      allowed := allowed || allowed_more;
    END LOOP;
    IF chosen IS NULL THEN RETURN; END IF;

    PERFORM 1 FROM jobs j WHERE j.seq IN (SELECT t.job_seq FROM tasks t WHERE t.id = ANY (chosen))
    ORDER BY j.seq FOR NO KEY UPDATE;
    PERFORM 1 FROM hosts h WHERE h.id = p_host AND h.epoch = p_epoch AND h.owner IS NOT NULL FOR SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    RETURN QUERY
    WITH judged AS (
      SELECT t.id, t.kind <> 'page' OR j.max_pages IS NULL
        OR count(*) FILTER (WHERE t.kind = 'page') OVER (PARTITION BY t.job_seq ORDER BY t.rank, t.id)
          <= j.max_pages - j.pages - j.failed - j.claimed_pages AS is_within
      FROM tasks t JOIN jobs j ON j.seq = t.job_seq
      WHERE t.id = ANY (chosen) AND t.host_id = p_host
        AND (t.state = 'ready' OR (t.state = 'waiting' AND t.ready_at <= p_now))
    ),
    taken AS (
      UPDATE tasks t SET state = 'claimed', epoch = p_epoch, ready_at = NULL
      FROM judged d WHERE t.id = d.id AND d.is_within
      RETURNING t.*
    ),
    counted AS (
      UPDATE jobs j
      SET claimed = j.claimed + c.claimed, claimed_pages = j.claimed_pages + c.claimed_pages,
        status = CASE WHEN j.started_at IS NULL THEN 'running' ELSE j.status END,
        started_at = coalesce(j.started_at, p_now)
      FROM (
        SELECT t.job_seq, count(*) AS claimed, count(*) FILTER (WHERE t.kind = 'page') AS claimed_pages
        FROM taken t GROUP BY t.job_seq
      ) c
      WHERE j.seq = c.job_seq
    )
    SELECT t.id, t.job_seq, j.id, t.kind, t.url, t.at_url, t.hops, t.url_key, t.depth, t.attempts, t.trace
    FROM taken t JOIN jobs j ON j.seq = t.job_seq
    ORDER BY t.rank, t.id;
    GET DIAGNOSTICS claimed = ROW_COUNT;
    IF claimed < cardinality(chosen) THEN
      RAISE serialization_failure USING MESSAGE = 'the tasks of the host have changed';
    END IF;
  END
  $$;

  -- Takes every open task of the host, its ports and its subdomains out of all jobs.
  CREATE FUNCTION deny_hosts(p_host text, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE
    covered bigint[];
    tasks_found bigint[];
    locked bigint[];
  BEGIN
    SELECT array_agg(id) INTO covered
    FROM (SELECT id, key, substring(key FROM '^(\\[[^]]*\\]|[^:]*)') AS name FROM hosts) h
    WHERE key = p_host OR name = p_host OR right(name, length(p_host) + 1) = '.' || p_host;
    -- In this form each of the hosts' mailboxes is found by its own partial index.
    SELECT array_agg(id) INTO tasks_found FROM tasks
    WHERE (host_id = ANY (covered) AND state = 'ready') OR (host_id = ANY (covered) AND state = 'waiting')
      OR (host_id = ANY (covered) AND state = 'claimed');
    SELECT array_agg(seq) INTO locked FROM (
      SELECT seq FROM jobs WHERE seq IN (SELECT job_seq FROM tasks WHERE id = ANY (tasks_found))
      ORDER BY seq FOR NO KEY UPDATE
    ) j;
    -- What came in since, its workers will refuse.
    WITH open AS MATERIALIZED (
      SELECT id, job_seq, kind, state FROM tasks
      WHERE id = ANY (tasks_found) AND host_id = ANY (covered) AND state IN ('ready', 'waiting', 'claimed')
    ),
    denied AS (
      UPDATE tasks t SET state = 'denied', rule = 'opt-out', finished_at = p_now FROM open o WHERE t.id = o.id
    )
    UPDATE jobs j
    SET open = j.open - c.denied, denied = j.denied + c.denied, claimed = j.claimed - c.claimed,
      claimed_pages = j.claimed_pages - c.claimed_pages
    FROM (
      SELECT job_seq, count(*) AS denied, count(*) FILTER (WHERE state = 'claimed') AS claimed,
        count(*) FILTER (WHERE state = 'claimed' AND kind = 'page') AS claimed_pages
      FROM open GROUP BY job_seq
    ) c
    WHERE j.seq = c.job_seq;
    PERFORM settle(locked, p_now);
  END
  $$;
`;
