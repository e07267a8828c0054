/**
 * What happened, in the order of (era, tx, seq): see `EventStore`. There is one writer, so `tx` is 0; the columns are
 * those of the other store. event_log has one row: the era of the opening that wrote last, the last number that was given
 * out, and the place of the last event that was removed because of its age.
 */
export const SQLITE_EVENT_TABLES = `
  CREATE TABLE events (
    era INTEGER NOT NULL,
    tx INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    account_id TEXT NOT NULL,
    job_id TEXT,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (era, tx, seq)
  ) WITHOUT ROWID;
  CREATE INDEX events_job ON events (job_id, era, tx, seq) WHERE job_id IS NOT NULL;
  CREATE INDEX events_account ON events (account_id, era, tx, seq);
  CREATE TABLE event_log (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    era INTEGER NOT NULL,
    incarnation TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    removed_era INTEGER NOT NULL,
    removed_tx INTEGER NOT NULL,
    removed_seq INTEGER NOT NULL
  );
  INSERT INTO event_log VALUES (1, 0, '', 0, 0, 0, 0);
`;
