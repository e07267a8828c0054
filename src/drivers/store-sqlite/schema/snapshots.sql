-- What pages looked like over time. Neither snapshots nor sightings refer to jobs: history outlives them.

CREATE TABLE snapshots (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  url_key TEXT NOT NULL,
  url TEXT NOT NULL,
  hash TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  facts_hash TEXT,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  times_seen INTEGER NOT NULL,
  final_url TEXT NOT NULL,
  status_code INTEGER,
  content_type TEXT,
  charset TEXT,
  content_hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  etag TEXT,
  last_modified TEXT,
  title TEXT,
  price REAL,
  currency TEXT,
  availability TEXT,
  record TEXT,
  screenshot TEXT,
  job_id TEXT NOT NULL,
  task_id INTEGER NOT NULL,
  is_private INTEGER NOT NULL
);
CREATE INDEX snapshots_url ON snapshots (account_id, url_key, seq);

CREATE TABLE page_sightings (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  url_key TEXT NOT NULL,
  -- The number of the snapshot, which is a quarter of the size of its id.
  snapshot_seq INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  task_id INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
);
CREATE INDEX page_sightings_url ON page_sightings (account_id, url_key, seq);
CREATE INDEX page_sightings_job ON page_sightings (job_id, seq);

-- What the bodies of an account's snapshots add up to, kept up to date by triggers: counting them takes too long.
CREATE TABLE snapshot_usage (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  bytes INTEGER NOT NULL
);
CREATE TRIGGER count_snapshot AFTER INSERT ON snapshots BEGIN
  INSERT INTO snapshot_usage (account_id, bytes) VALUES (NEW.account_id, NEW.bytes)
    ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER discount_snapshot AFTER DELETE ON snapshots BEGIN
  UPDATE snapshot_usage SET bytes = bytes - OLD.bytes WHERE account_id = OLD.account_id;
END;
