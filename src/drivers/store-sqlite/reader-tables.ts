/**
 * How far the readers of events have come: see `ReaderStore`. A reader that rests has no place. `option` is the option of
 * a job that the reader is there for. A job with it that is made, or goes on, ends the rest of the reader.
 */
const WAKE_READERS = `
  UPDATE readers SET era = (SELECT era FROM event_log), tx = 0, seq = (SELECT last_seq FROM event_log)
    WHERE era IS NULL AND json_type(NEW.options, '$.' || option) IS NOT NULL;
`;

export const SQLITE_READER_TABLES = `
  CREATE TABLE readers (
    name TEXT PRIMARY KEY,
    option TEXT NOT NULL,
    era INTEGER,
    tx INTEGER,
    seq INTEGER
  );
  INSERT INTO readers (name, option) VALUES
    ('snapshots', 'snapshots'), ('search', 'search'), ('lake', 'lake'), ('exports', 'exports'),
    ('monitors', 'monitorId');
  CREATE TRIGGER wake_readers_of_new AFTER INSERT ON jobs BEGIN ${WAKE_READERS} END;
  CREATE TRIGGER wake_readers_of_resumed AFTER UPDATE OF finished_at ON jobs
    WHEN OLD.finished_at IS NOT NULL AND NEW.finished_at IS NULL BEGIN ${WAKE_READERS} END;
`;
