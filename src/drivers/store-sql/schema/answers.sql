-- How requests with an Idempotency-Key were answered; status is NULL before. seed is needed until then and empty
-- afterwards.

CREATE TABLE kept_answers (
  account_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  request_hash text NOT NULL,
  resource_id text NOT NULL,
  seed bytea NOT NULL,
  owner text NOT NULL,
  held_until bigint NOT NULL,
  at bigint NOT NULL,
  status integer,
  headers text,
  body bytea,
  PRIMARY KEY (account_id, key)
);
ALTER TABLE kept_answers ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX kept_answers_at ON kept_answers (at);
