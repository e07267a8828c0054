-- Waking readers of events, and letting them rest. See tables/events.sql.

-- The cursor lies before every transaction that is under way, this one among them.
CREATE FUNCTION wake_readers() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT (NEW.options ?| ARRAY['snapshots', 'search', 'lake', 'exports', 'monitorId']) THEN RETURN NULL; END IF;
  PERFORM 1 FROM readers r WHERE NEW.options ? r.option ORDER BY r.name FOR KEY SHARE;
  IF EXISTS (SELECT 1 FROM readers r WHERE r.era IS NULL AND NEW.options ? r.option) THEN
    UPDATE readers SET era = event_era(), tx = settled_tx(), seq = 0
    WHERE era IS NULL AND NEW.options ? option;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER wake_readers_of_new AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION wake_readers();

CREATE TRIGGER wake_readers_of_resumed AFTER UPDATE OF finished_at ON jobs FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL AND NEW.finished_at IS NULL) EXECUTE FUNCTION wake_readers();

CREATE FUNCTION rest_reader(p_name text, p_era bigint, p_tx bigint, p_seq bigint) RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  reader readers;
BEGIN
  SELECT * INTO reader FROM readers r WHERE r.name = p_name FOR UPDATE;
  IF (reader.era, reader.tx, reader.seq) IS DISTINCT FROM (p_era, p_tx, p_seq) THEN RETURN false; END IF;
  IF EXISTS (SELECT 1 FROM jobs j WHERE j.finished_at IS NULL AND j.options ? reader.option)
    OR EXISTS (
      SELECT 1 FROM events e JOIN jobs j ON j.id = e.job_id
      WHERE (e.era, e.tx, e.seq) > (p_era, p_tx, p_seq) AND j.options ? reader.option
    )
  THEN RETURN false; END IF;
  UPDATE readers r SET era = NULL, tx = NULL, seq = NULL WHERE r.name = p_name;
  RETURN true;
END
$$;
