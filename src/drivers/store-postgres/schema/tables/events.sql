-- What happened, in the order of (era, tx, seq): see EventStore. It is written in the transactions in which it happens.
--
-- tx is the number of the writing transaction, or the largest one among the events of the same job where that is larger;
-- both are known under the lock of the job's row, so within a job the order is that of the commits. Readers see the events
-- below the oldest transaction that is under way: whatever commits later has a number from there on. era grows with every
-- incarnation, because the numbers of transactions begin anew in a restored store.

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

-- One row: the era, and the place of the last event that was removed because of its age. last_seq is for the store that has
-- no sequences.
CREATE TABLE event_log (
  id integer PRIMARY KEY CHECK (id = 1),
  era bigint NOT NULL,
  incarnation text NOT NULL,
  last_seq bigint NOT NULL,
  removed_era bigint NOT NULL,
  removed_tx bigint NOT NULL,
  removed_seq bigint NOT NULL
);
INSERT INTO event_log (id, era, incarnation, last_seq, removed_era, removed_tx, removed_seq)
VALUES (1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, '', 0, 0, 0, 0);

-- How far the readers of events have come: see ReaderStore. A reader that rests has no place. option is the option of a
-- job that the reader is there for.
--
-- A transaction that opens such a job holds the row of the reader against its deletion (KEY SHARE), which no move of the
-- cursor waits for. A reader that is to rest locks its row against those first, and looks for jobs afterwards: so it sees
-- each job that was opened while it was not resting, and each later one wakes it.
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
