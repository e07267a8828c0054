-- Writing and removing events. See tables/events.sql. Those of jobs are written by triggers, those of pages by commit_batch.

-- A new incarnation begins a new era. No transaction of an earlier one is still under way then.
CREATE FUNCTION begin_event_era() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE event_log SET era = greatest(era + 1, clock_ms()), incarnation = NEW.id::text;
  RETURN NULL;
END
$$;

CREATE TRIGGER begin_event_era AFTER INSERT OR UPDATE ON incarnation
  FOR EACH ROW EXECUTE FUNCTION begin_event_era();

CREATE FUNCTION event_era() RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM current_incarnation();
  RETURN (SELECT era FROM event_log);
END
$$;

-- The number below which every transaction has ended, as the statement that asks sees it.
CREATE FUNCTION settled_tx() RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint $$;

-- The caller holds the row of the job, if the event is of one.
CREATE FUNCTION write_event(p_type text, p_account text, p_job text, p_at bigint, p_data jsonb) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  now_era bigint := event_era();
  last_event record;
  last_tx bigint;
  last_at bigint;
BEGIN
  IF p_job IS NOT NULL THEN
    SELECT e.era, e.tx, e.at INTO last_event FROM events e
    WHERE e.job_id = p_job ORDER BY e.era DESC, e.tx DESC, e.seq DESC LIMIT 1;
    IF FOUND THEN
      last_at := last_event.at;
      -- Numbers of transactions are compared within one era alone.
      IF last_event.era = now_era THEN last_tx := last_event.tx; END IF;
    END IF;
  END IF;
  INSERT INTO events (era, tx, seq, type, account_id, job_id, at, data)
  VALUES (
    now_era, greatest(pg_current_xact_id()::text::bigint, last_tx), nextval('event_seq'), p_type, p_account, p_job,
    greatest(p_at, last_at), p_data
  );
END
$$;

-- Whether triggers write events: not while rows of another store are copied here.
CREATE FUNCTION writes_events() RETURNS boolean
LANGUAGE sql STABLE AS $$ SELECT coalesce(current_setting('scrapifie.events', true), '') <> 'off' $$;

CREATE FUNCTION write_job_event() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  happened text;
  happened_at bigint := clock_ms();
BEGIN
  IF NOT writes_events() THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' THEN
    happened := 'job.created';
    happened_at := NEW.created_at;
  ELSIF OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL THEN
    happened := 'job.' || NEW.status;
    happened_at := NEW.finished_at;
  ELSIF OLD.started_at IS NULL AND NEW.started_at IS NOT NULL THEN
    happened := 'job.started';
    happened_at := NEW.started_at;
  ELSIF NEW.finished_at IS NULL AND (
    (NEW.status = 'cancelled' AND OLD.status <> 'cancelled')
    OR (NEW.stop_reason IS NOT NULL AND OLD.stop_reason IS NULL)
  ) THEN
    happened := 'job.stopping';
  ELSIF NEW.finished_at IS NULL AND NEW.status = 'running' AND NEW.stop_reason IS NULL
    AND (OLD.finished_at IS NOT NULL OR OLD.stop_reason IS NOT NULL OR OLD.status = 'cancelled')
  THEN
    happened := 'job.resumed';
  ELSE
    RETURN NULL;
  END IF;
  PERFORM write_event(happened, NEW.account_id, NEW.id, happened_at, jsonb_build_object(
    'kind', NEW.kind, 'status', NEW.status, 'stopReason', NEW.stop_reason,
    'counters', jsonb_build_object(
      'known', NEW.known, 'open', NEW.open, 'pages', NEW.pages, 'done', NEW.done, 'failed', NEW.failed,
      'skipped', NEW.skipped - (
        SELECT count(*) FROM tasks f WHERE f.job_seq = NEW.seq AND f.kind <> 'page' AND f.state = 'skipped'
      ),
      'denied', NEW.denied, 'cancelled', NEW.cancelled, 'bytes', NEW.bytes
    )
  ));
  RETURN NULL;
END
$$;

CREATE TRIGGER write_created_event AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION write_job_event();

CREATE TRIGGER write_status_event AFTER UPDATE OF status, stop_reason, started_at, finished_at ON jobs FOR EACH ROW
  WHEN (
    OLD.status IS DISTINCT FROM NEW.status OR OLD.stop_reason IS DISTINCT FROM NEW.stop_reason
    OR OLD.started_at IS DISTINCT FROM NEW.started_at OR OLD.finished_at IS DISTINCT FROM NEW.finished_at
  )
  EXECUTE FUNCTION write_job_event();

-- See EventStore.deleteEvents. p_era is NULL where there is no bound.
CREATE FUNCTION remove_events(p_before bigint, p_era bigint, p_tx bigint, p_seq bigint, p_limit bigint)
RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  now_era bigint := event_era();
  newest events;
  removed bigint;
BEGIN
  SELECT o.* INTO newest FROM (
    SELECT e.*, bool_and(e.at < p_before) OVER (ORDER BY e.era, e.tx, e.seq) AS is_old
    FROM (
      SELECT * FROM events
      WHERE (era < now_era OR tx < settled_tx()) AND (p_era IS NULL OR (era, tx, seq) <= (p_era, p_tx, p_seq))
      ORDER BY era, tx, seq LIMIT p_limit
    ) e
  ) o WHERE o.is_old ORDER BY o.era DESC, o.tx DESC, o.seq DESC LIMIT 1;
  IF newest.seq IS NULL THEN RETURN 0; END IF;
  DELETE FROM events WHERE (era, tx, seq) <= (newest.era, newest.tx, newest.seq);
  GET DIAGNOSTICS removed = ROW_COUNT;
  UPDATE event_log SET removed_era = newest.era, removed_tx = newest.tx, removed_seq = newest.seq
  WHERE (removed_era, removed_tx, removed_seq) < (newest.era, newest.tx, newest.seq);
  RETURN removed;
END
$$;
