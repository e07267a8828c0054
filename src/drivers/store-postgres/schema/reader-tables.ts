import { BY_INDEX } from './frontier-functions.ts';

/**
 * How far the readers of events have come: see `ReaderStore`. A reader that rests has no place. `option` is the option of
 * a job that the reader is there for. A job with it that is made, or goes on, ends the rest of the reader.
 *
 * A transaction that opens such a job holds the row of the reader against its deletion (KEY SHARE), which no move of the
 * cursor waits for. A reader that is to rest locks its row against those first, and looks for jobs afterwards: so it sees
 * each job that was opened while it was not resting, and each later one wakes it.
 */
export const READER_TABLES = `
  CREATE TABLE readers (
    name text COLLATE "C" PRIMARY KEY,
    option text NOT NULL,
    era bigint,
    tx bigint,
    seq bigint
  ) WITH (fillfactor = 20);
  INSERT INTO readers (name, option) VALUES
    ('snapshots', 'snapshots'), ('search', 'search'), ('lake', 'lake'), ('exports', 'exports'),
    ('monitors', 'monitorId');

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
  LANGUAGE plpgsql ${BY_INDEX} AS $$
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
`;
