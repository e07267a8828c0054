-- How requests with an Idempotency-Key were answered; status is NULL before. seed is needed until then and empty
-- afterwards.

CREATE TABLE kept_answers (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  resource_id TEXT NOT NULL,
  seed BLOB NOT NULL,
  owner TEXT NOT NULL,
  held_until INTEGER NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER,
  headers TEXT,
  body BLOB,
  PRIMARY KEY (account_id, key)
);
CREATE INDEX kept_answers_at ON kept_answers (at);
