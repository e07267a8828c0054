/** As the account tables of the SQLite store. */
export const ACCOUNT_TABLES = `
  ALTER TABLE accounts ADD COLUMN plan text NOT NULL DEFAULT 'custom';
  ALTER TABLE accounts ADD COLUMN requests_per_minute bigint;
  ALTER TABLE accounts ADD COLUMN concurrent_pages bigint;
  ALTER TABLE accounts ADD COLUMN open_urls bigint;
  ALTER TABLE accounts ADD COLUMN stored_bytes bigint;
  ALTER TABLE accounts ADD COLUMN disabled_at bigint;
  ALTER TABLE accounts ADD COLUMN updated_at bigint NOT NULL DEFAULT 0;
  CREATE TABLE former_secrets (
    hash text PRIMARY KEY,
    key_id text NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    valid_until bigint NOT NULL
  );
  CREATE INDEX former_secrets_key ON former_secrets (key_id);
  CREATE INDEX keys_account ON keys (account_id);
  CREATE INDEX jobs_of_account ON jobs (account_id) WHERE finished_at IS NULL;
`;
