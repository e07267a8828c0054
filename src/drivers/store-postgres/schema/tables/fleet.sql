-- What only a store that many processes share needs.

-- The answers to recent commits, for processes that lost the connection before the answer came.
CREATE TABLE commits (
  id uuid PRIMARY KEY,
  at bigint NOT NULL,
  receipt jsonb
);
CREATE INDEX commits_at ON commits (at);

-- Which incarnation of the store this is; see Store and functions/incarnation.sql. The row names the run of the server that
-- registered it, and the transaction that wrote it: a row that came from a dump was written by another.
CREATE TABLE incarnation (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id uuid NOT NULL,
  server_run text NOT NULL,
  registered_by xid NOT NULL,
  -- When it was registered, by the clock of the server. NULL: the first of this database, before which none owned a host.
  since bigint
);

-- Bodies that came while the blob store was away; they are moved there later.
CREATE TABLE spilled_blobs (
  hash text PRIMARY KEY,
  bytes bytea NOT NULL,
  at bigint NOT NULL
);
-- Bytes on their way between processes while the object store would not take them.
CREATE TABLE transit_blobs (
  hash text PRIMARY KEY,
  bytes bytea NOT NULL,
  at bigint NOT NULL
);
