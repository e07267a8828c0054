/** As the sign-in tables of the SQLite store. */
export const SIGN_IN_TABLES = `
  CREATE TABLE sign_ins (
    hash text PRIMARY KEY,
    account_id text NOT NULL,
    key_id text NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    key_hash text NOT NULL,
    created_at bigint NOT NULL,
    used_at bigint NOT NULL,
    idle_ms bigint NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX sign_ins_key ON sign_ins (key_id, used_at);
  CREATE TABLE sign_in_links (
    hash text PRIMARY KEY,
    account_id text NOT NULL,
    expires_at bigint NOT NULL
  );
`;
