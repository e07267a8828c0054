/** Requests of site owners; an opt-out with `min_delay_ms` slows the crawler down instead of stopping it. */
export const OWNER_TABLES = `
  CREATE TABLE owner_requests (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    host text NOT NULL,
    seconds_between integer,
    token text NOT NULL,
    contact text,
    message text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    proved_at bigint,
    proved_by text
  );
  CREATE INDEX owner_requests_unproved ON owner_requests (host) WHERE proved_at IS NULL;
  ALTER TABLE opt_outs ADD COLUMN min_delay_ms bigint;
`;
