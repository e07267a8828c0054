/** Browsers that are signed in to the dashboard, and links that sign one in. Of both only the hash of a secret is kept. */
export const SQLITE_SIGN_IN_TABLES = `
  CREATE TABLE sign_ins (
    hash TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    key_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    idle_ms INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  );
  CREATE INDEX sign_ins_key ON sign_ins (key_id, used_at);
  CREATE TABLE sign_in_links (
    hash TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  );
`;
