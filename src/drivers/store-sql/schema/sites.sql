-- What sites and their owners ask of the crawler.

CREATE TABLE robots (
  origin text PRIMARY KEY,
  status text NOT NULL,
  body text NOT NULL,
  fetched_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  reason text NOT NULL,
  interruptions integer NOT NULL DEFAULT 0
);
CREATE INDEX robots_end ON robots (expires_at);

CREATE TABLE opt_outs (
  host text PRIMARY KEY,
  reason text NOT NULL,
  contact text,
  at bigint NOT NULL,
  -- With a value the opt-out slows the crawler down instead of stopping it.
  min_delay_ms bigint
);

CREATE TABLE owner_requests (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  host text NOT NULL,
  -- NULL: the crawler is asked to stop.
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
