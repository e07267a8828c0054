/**
 * What accounts may use, and former secrets of keys that are still valid. jobs_of_account finds the jobs of an account
 * that have not ended: their open and claimed URLs are what its limits are compared with.
 */
export const SQLITE_ACCOUNT_TABLES = `
  ALTER TABLE accounts ADD COLUMN plan TEXT NOT NULL DEFAULT 'custom';
  ALTER TABLE accounts ADD COLUMN requests_per_minute INTEGER;
  ALTER TABLE accounts ADD COLUMN concurrent_pages INTEGER;
  ALTER TABLE accounts ADD COLUMN open_urls INTEGER;
  ALTER TABLE accounts ADD COLUMN stored_bytes INTEGER;
  ALTER TABLE accounts ADD COLUMN disabled_at INTEGER;
  ALTER TABLE accounts ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE former_secrets (
    hash TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    valid_until INTEGER NOT NULL
  );
  CREATE INDEX former_secrets_key ON former_secrets (key_id);
  CREATE INDEX keys_account ON keys (account_id);
  CREATE INDEX jobs_of_account ON jobs (account_id) WHERE finished_at IS NULL;
`;
