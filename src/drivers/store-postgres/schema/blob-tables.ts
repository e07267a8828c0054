/**
 * `transit_blobs`: bytes on their way between processes while the object store would not take them. `work_leases`: the
 * owners of work that only one process should do at a time.
 */
export const BLOB_TABLES = `
  CREATE TABLE transit_blobs (
    hash text PRIMARY KEY,
    bytes bytea NOT NULL,
    at bigint NOT NULL
  );
  CREATE TABLE work_leases (
    name text PRIMARY KEY,
    owner text NOT NULL,
    until bigint NOT NULL
  );
`;
