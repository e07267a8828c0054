-- Makes p_owner the owner of the host when tasks are due there and no other owner's lease holds it: see HostStore.acquireHost.
-- Returns no row otherwise. p_former is the incarnation of the asking owner's lease that this incarnation has called lost, or
-- NULL.
CREATE FUNCTION acquire_host(p_key text, p_owner text, p_former text, p_lease_ms bigint, p_now bigint)
RETURNS TABLE (host_id bigint, epoch bigint, state jsonb, is_taken_over boolean, incarnation text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  known uuid := current_incarnation();
  begun_at bigint := (SELECT i.since FROM incarnation i);
  host hosts;
  locked bigint[];
  best bigint;
  due bigint;
  is_lost boolean;
  is_forgotten boolean;
BEGIN
  -- For the length of a lease after its beginning, an incarnation gives hosts only to owners that have lost a lease of the
  -- former one: others may still be at work on them.
  IF p_former IS NULL AND begun_at + p_lease_ms > clock_ms() THEN RETURN; END IF;
  IF p_former = known::text THEN RETURN; END IF;
  SELECT * INTO host FROM hosts WHERE key = p_key;
  IF host.id IS NULL THEN RETURN; END IF;
  -- Most owners that ask in vain are sent away without a lock.
  is_lost := p_former IS NOT NULL AND host.owner IS NOT NULL AND host.leased_in IS DISTINCT FROM known;
  IF NOT is_lost AND p_now < (CASE WHEN host.owner IS NULL THEN host.blocked_until ELSE host.lease_until END) THEN
    RETURN;
  END IF;
  locked := lock_claims(host.id);
  SELECT * INTO host FROM hosts WHERE id = host.id FOR NO KEY UPDATE;
  is_lost := p_former IS NOT NULL AND host.owner IS NOT NULL AND host.leased_in IS DISTINCT FROM known;
  IF NOT is_lost AND p_now < (CASE WHEN host.owner IS NULL THEN host.blocked_until ELSE host.lease_until END) THEN
    RETURN;
  END IF;

  -- The former owner died: its tasks count what they were in the middle of. See Task for what the numbers mean.
  IF p_former IS NULL AND host.owner <> p_owner AND host.leased_in = known THEN
    UPDATE tasks t SET interruptions = t.interruptions + 1,
      lone_interruptions = t.lone_interruptions
        + CASE WHEN t.started_alone AND t.started_under = claim_name(host.id, host.epoch) THEN 1 ELSE 0 END
    WHERE t.host_id = host.id AND t.state = 'claimed' AND t.job_seq = ANY (locked)
      AND (t.interruptions = 0 OR t.started_under = claim_name(host.id, host.epoch));
  END IF;
  PERFORM return_claims(host.id, locked, p_now);

  best := best_due(host.id, p_now);
  IF best IS NULL THEN
    SELECT min(ready_at) INTO due FROM tasks t WHERE t.host_id = host.id AND t.state = 'waiting';
    -- A lease that has run out ends here for good: a commit that wakes the host may go by a time from before its end.
    UPDATE hosts SET lease_until = 0, next_at = due, rank = coalesce(due, 9007199254740991) WHERE id = host.id;
    RETURN;
  END IF;
  UPDATE hosts
  SET owner = p_owner, epoch = host.epoch + 1, lease_until = p_now + p_lease_ms, next_at = p_now + p_lease_ms,
    rank = best, leased_in = known
  WHERE id = host.id;
  -- What this incarnation knows of the last request to the host may be too old. Only for ten minutes from its beginning:
  -- later the former owners have been silent for longer than the pause of nearly every host, and hosts that are new should
  -- not wait for their first request.
  is_forgotten := host.leased_in IS DISTINCT FROM known AND coalesce(begun_at > clock_ms() - 600000, false);
  RETURN QUERY SELECT host.id, host.epoch + 1, host.state, host.owner IS NOT NULL OR is_forgotten, known::text;
END
$$;
