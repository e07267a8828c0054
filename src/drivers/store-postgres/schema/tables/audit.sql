-- The audit log as a hash chain; auditHash in src/core/ports/audit-store.ts defines the hashed text. audit_head has the
-- last entry and is the lock of the writers. functions/audit.sql appends entries and refuses every change of one.

CREATE TABLE audit_log (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  details text NOT NULL,
  -- Unique: a chain that forks cannot be stored.
  previous_hash text NOT NULL UNIQUE,
  hash text NOT NULL
);
CREATE INDEX audit_log_action ON audit_log (action, seq);
CREATE TABLE audit_head (
  id integer PRIMARY KEY CHECK (id = 1),
  seq bigint NOT NULL,
  hash text NOT NULL
);
-- The hash of an empty chain is 64 zeros.
INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
