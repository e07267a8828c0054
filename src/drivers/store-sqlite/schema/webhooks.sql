-- Webhooks and their deliveries.

CREATE TABLE webhooks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- The job or the monitor that the webhook is for; NULL for both: the account. It is stored before the monitor, so
  -- this is no reference.
  job_id TEXT,
  monitor_id TEXT,
  format TEXT NOT NULL,
  events TEXT NOT NULL,
  target TEXT NOT NULL,
  data BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  disabled_at INTEGER,
  disabled_reason TEXT,
  failing_since INTEGER,
  version INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX webhooks_account ON webhooks (account_id, seq) WHERE job_id IS NULL;
CREATE UNIQUE INDEX webhooks_job ON webhooks (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX webhooks_job_age ON webhooks (created_at) WHERE job_id IS NOT NULL;
CREATE INDEX webhooks_monitor ON webhooks (monitor_id) WHERE monitor_id IS NOT NULL;

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  lane TEXT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  event TEXT NOT NULL,
  redelivery_of TEXT,
  state TEXT NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  first_attempt_at INTEGER,
  ended_at INTEGER,
  reason TEXT,
  request TEXT,
  log TEXT NOT NULL DEFAULT '[]'
);
CREATE UNIQUE INDEX deliveries_event ON deliveries (webhook_id, event_id) WHERE redelivery_of IS NULL;
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, seq);
CREATE INDEX deliveries_open ON deliveries (webhook_id, lane, seq) WHERE state = 'pending';
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

-- A lane has a row while it has open deliveries. next_at is when the lane is due; of a leased lane, when the lease runs
-- out. token is the lease.
CREATE TABLE delivery_lanes (
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  lane TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  next_at INTEGER NOT NULL,
  token TEXT,
  PRIMARY KEY (webhook_id, lane)
);
CREATE INDEX delivery_lanes_due ON delivery_lanes (webhook_id, next_at);
CREATE INDEX delivery_lanes_leased ON delivery_lanes (webhook_id) WHERE token IS NOT NULL;
CREATE INDEX delivery_lanes_account ON delivery_lanes (account_id) WHERE token IS NOT NULL;

-- How far the events have been read for webhooks.
CREATE TABLE webhook_reader (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
