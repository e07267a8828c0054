import { BY_INDEX } from './frontier-functions.ts';

/**
 * What happened, in the order of (era, tx, seq): see `EventStore`. Triggers write it, within the transactions of programs
 * of any version.
 *
 * `tx` is the number of the writing transaction, or the largest one among the events of the same job where that is
 * larger; both are known under the lock of the job's row, so within a job the order is that of the commits. Readers see
 * the events below the oldest transaction that is under way: whatever commits later has a number from there on. `era`
 * grows with every incarnation, because the numbers of transactions begin anew in a restored store.
 */
export const EVENT_TABLES = `
  CREATE TABLE events (
    era bigint NOT NULL,
    tx bigint NOT NULL,
    seq bigint NOT NULL,
    type text NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C",
    at bigint NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (era, tx, seq)
  );
  CREATE INDEX events_job ON events (job_id, era, tx, seq) WHERE job_id IS NOT NULL;
  CREATE INDEX events_account ON events (account_id, era, tx, seq);
  CREATE SEQUENCE event_seq;
  -- One row: the era, and the place of the last event that was removed because of its age. last_seq is for the store
  -- that has no sequences.
  CREATE TABLE event_log (
    id integer PRIMARY KEY CHECK (id = 1),
    era bigint NOT NULL,
    incarnation text NOT NULL,
    last_seq bigint NOT NULL,
    removed_era bigint NOT NULL,
    removed_tx bigint NOT NULL,
    removed_seq bigint NOT NULL
  );
  INSERT INTO event_log VALUES (1, clock_ms(), '', 0, 0, 0, 0);

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
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    now_era bigint := event_era();
    last_tx bigint;
  BEGIN
    IF p_job IS NOT NULL THEN
      SELECT e.tx INTO last_tx FROM events e
      WHERE e.job_id = p_job AND e.era = now_era ORDER BY e.era DESC, e.tx DESC, e.seq DESC LIMIT 1;
    END IF;
    INSERT INTO events (era, tx, seq, type, account_id, job_id, at, data)
    VALUES (
      now_era, greatest(pg_current_xact_id()::text::bigint, last_tx), nextval('event_seq'), p_type, p_account, p_job,
      p_at, p_data
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

  CREATE FUNCTION write_pages_event() RETURNS trigger
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    IF NOT writes_events() THEN RETURN NULL; END IF;
    PERFORM write_event('pages.committed', j.account_id, j.id, clock_ms(), jsonb_build_object('pages', p.seqs))
    FROM (SELECT a.job_seq, jsonb_agg(a.seq ORDER BY a.seq) AS seqs FROM added a GROUP BY a.job_seq) p
    JOIN jobs j ON j.seq = p.job_seq;
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER write_pages_event AFTER INSERT ON pages REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION write_pages_event();

  -- See EventStore.deleteEvents. p_era is NULL where there is no bound.
  CREATE FUNCTION remove_events(p_before bigint, p_era bigint, p_tx bigint, p_seq bigint, p_limit bigint)
  RETURNS bigint
  LANGUAGE plpgsql ${BY_INDEX} AS $$
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
`;
