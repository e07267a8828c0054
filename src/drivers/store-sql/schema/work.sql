-- Work that only one process should do at a time, and the row that the health check writes.

CREATE TABLE work_leases (
  name text PRIMARY KEY,
  owner text NOT NULL,
  until bigint NOT NULL
);

-- The row that the health check writes.
CREATE TABLE probe (id integer PRIMARY KEY, at bigint NOT NULL);
