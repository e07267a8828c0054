/** Requests of site owners; an opt-out with `min_delay_ms` slows the crawler down instead of stopping it. */
export const SQLITE_OWNER_TABLES = `
  CREATE TABLE owner_requests (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
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
  ALTER TABLE opt_outs ADD COLUMN min_delay_ms INTEGER;
`;
