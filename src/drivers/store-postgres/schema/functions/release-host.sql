-- Keeping a host, and giving it up.

-- Lengthens the leases; returns the hosts whose leases are lost.
CREATE FUNCTION renew_hosts(p_hosts bigint[], p_epochs bigint[], p_now bigint, p_lease_ms bigint)
RETURNS SETOF bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
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

-- Gives the host up; see HostStore.releaseHost. A host whose tasks were held back for an account is offered for them later.
CREATE FUNCTION release_host(p_host bigint, p_epoch bigint, p_state jsonb, p_not_before bigint, p_now bigint)
RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  locked bigint[] := lock_claims(p_host);
  held bigint;
  best bigint;
  due bigint;
  offered_at bigint;
BEGIN
  -- When this is lost, the lease runs out by itself.
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT coalesce(held_until, 0) INTO held FROM hosts
  WHERE id = p_host AND epoch = p_epoch AND owner IS NOT NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM return_claims(p_host, locked, p_now);
  best := best_due(p_host, p_now);
  IF best IS NULL THEN
    SELECT min(ready_at) INTO due FROM tasks WHERE host_id = p_host AND state = 'waiting';
  ELSE
    due := p_now;
  END IF;
  offered_at := CASE WHEN due IS NOT NULL THEN greatest(due, p_not_before) END;
  IF offered_at <= greatest(p_now, p_not_before) THEN
    offered_at := greatest(offered_at, held);
  END IF;
  UPDATE hosts
  SET owner = NULL, state = p_state, blocked_until = p_not_before, next_at = offered_at,
    rank = coalesce(best, due, 9007199254740991)
  WHERE id = p_host;
END
$$;
