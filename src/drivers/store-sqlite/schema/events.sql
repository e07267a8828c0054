-- What happened, in the order of (era, tx, seq): see EventStore. There is one writer, so tx is 0; the columns are those
-- of the PostgreSQL store.

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

-- One row: the era of the opening that wrote last, the last number that was given out, and the place of the last event
-- that was removed because of its age.
CREATE TABLE event_log (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  era INTEGER NOT NULL,
  incarnation TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  removed_era INTEGER NOT NULL,
  removed_tx INTEGER NOT NULL,
  removed_seq INTEGER NOT NULL
);
INSERT INTO event_log (id, era, incarnation, last_seq, removed_era, removed_tx, removed_seq)
VALUES (1, 0, '', 0, 0, 0, 0);

-- How far the readers of events have come: see ReaderStore. A reader that rests has no place. option is the option of a
-- job that the reader is there for.
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
