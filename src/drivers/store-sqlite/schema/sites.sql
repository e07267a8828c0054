-- What sites and their owners ask of the crawler.

CREATE TABLE robots (
  origin TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  fetched_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  interruptions INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX robots_end ON robots (expires_at);

CREATE TABLE opt_outs (
  host TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  contact TEXT,
  at INTEGER NOT NULL,
  -- With a value the opt-out slows the crawler down instead of stopping it.
  min_delay_ms INTEGER
);

CREATE TABLE owner_requests (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL,
  -- NULL: the crawler is asked to stop.
  seconds_between INTEGER,
  token TEXT NOT NULL,
  contact TEXT,
  message TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  proved_at INTEGER,
  proved_by TEXT
);
CREATE INDEX owner_requests_unproved ON owner_requests (host) WHERE proved_at IS NULL;
