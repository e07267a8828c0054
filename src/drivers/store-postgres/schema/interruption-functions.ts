import { BY_INDEX } from './frontier-functions.ts';

/**
 * Which tasks an owner had in hand when it died. See `HostStore.acquireHost` for what is counted, and `Task` for what
 * the number means.
 */
export const INTERRUPTION_FUNCTIONS = `
  ALTER TABLE tasks ADD COLUMN interruptions integer NOT NULL DEFAULT 0;
  ALTER TABLE tasks ADD COLUMN lone_interruptions integer NOT NULL DEFAULT 0;
  -- The claim under which the task was last recorded as started, and whether it was alone.
  ALTER TABLE tasks ADD COLUMN started_under text;
  ALTER TABLE tasks ADD COLUMN started_alone boolean NOT NULL DEFAULT false;
  ALTER TABLE robots ADD COLUMN interruptions integer NOT NULL DEFAULT 0;

  CREATE FUNCTION claim_name(p_host bigint, p_epoch bigint) RETURNS text
  LANGUAGE sql IMMUTABLE AS $$ SELECT p_host || ':' || p_epoch $$;

  -- Counts the interruptions of the host's tasks when p_owner is about to take the host over from an owner that died.
  -- Returns p_key. Called in the transaction that then acquires the host and returns its claims; the lock on the host
  -- that is taken here lasts until then. Jobs are locked before hosts, as everywhere.
  CREATE FUNCTION count_interruptions(p_key text, p_owner text, p_former text, p_now bigint) RETURNS text
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    known uuid;
    host hosts;
    locked bigint[];
  BEGIN
    IF p_former IS NOT NULL THEN RETURN p_key; END IF;
    SELECT * INTO host FROM hosts WHERE key = p_key;
    IF host.owner IS NULL OR host.owner = p_owner OR p_now < host.lease_until THEN RETURN p_key; END IF;
    known := current_incarnation();
    locked := lock_claims(host.id);
    SELECT * INTO host FROM hosts WHERE id = host.id FOR NO KEY UPDATE;
    IF host.owner IS NULL OR host.owner = p_owner OR p_now < host.lease_until OR host.leased_in IS DISTINCT FROM known
    THEN
      RETURN p_key;
    END IF;
    IF EXISTS (
      SELECT FROM tasks WHERE host_id = host.id AND state = 'claimed' AND job_seq <> ALL (locked)
    ) THEN
      RAISE serialization_failure USING MESSAGE = 'the claims of the host have changed';
    END IF;
    UPDATE tasks SET interruptions = interruptions + 1,
      lone_interruptions = lone_interruptions
        + CASE WHEN started_alone AND started_under = claim_name(host.id, host.epoch) THEN 1 ELSE 0 END
    WHERE host_id = host.id AND state = 'claimed'
      AND (interruptions = 0 OR started_under = claim_name(host.id, host.epoch));
    RETURN p_key;
  END
  $$;
`;
