-- Exports.

CREATE TABLE exports (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  account_id text NOT NULL REFERENCES accounts (id),
  job_id text NOT NULL,
  spec text NOT NULL,
  secret text NOT NULL,
  status text NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  -- When an export that waits may be claimed. While it is being written: the end of the lease.
  due_at bigint,
  row_count bigint NOT NULL DEFAULT 0,
  size_bytes bigint NOT NULL DEFAULT 0,
  sha256 text,
  error text,
  created_at bigint NOT NULL,
  started_at bigint,
  finished_at bigint
);
CREATE INDEX exports_account ON exports (account_id, seq);
CREATE INDEX exports_job ON exports (job_id, seq);
CREATE INDEX exports_due ON exports (due_at, seq) WHERE due_at IS NOT NULL;
