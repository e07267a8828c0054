-- Accounts, their keys, and browsers that are signed in to the dashboard.

CREATE TABLE accounts (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL DEFAULT 0,
  plan text NOT NULL DEFAULT 'custom',
  -- What the account may use; NULL: without limit.
  requests_per_minute bigint,
  concurrent_pages bigint,
  open_urls bigint,
  stored_bytes bigint,
  disabled_at bigint,
  -- Since when the account is being deleted.
  deleting_at bigint,
  -- What the account keeps of its jobs, and what the operator keeps of them whatever the account says: RetentionLimits as
  -- JSON.
  retention text,
  operator_retention text
);
-- Claims look here first: without such accounts they need not count the pages of any.
CREATE INDEX accounts_bounded ON accounts (id) WHERE concurrent_pages IS NOT NULL OR disabled_at IS NOT NULL;

-- The default account is as old as the installation. The other one has the jobs whose rows are being deleted.
INSERT INTO accounts (id, name, created_at) VALUES
  ('default', 'default', (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
  ('(deleted)', '(deleted)', 0);

CREATE TABLE keys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  hash text NOT NULL UNIQUE,
  prefix text NOT NULL,
  scopes jsonb NOT NULL,
  rate_per_minute bigint,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);
CREATE INDEX keys_account ON keys (account_id);

-- Earlier secrets of keys that are still valid.
CREATE TABLE former_secrets (
  hash text PRIMARY KEY,
  key_id text NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
  valid_until bigint NOT NULL
);
CREATE INDEX former_secrets_key ON former_secrets (key_id);

-- Browsers that are signed in to the dashboard, and links that sign one in. Of both only the hash of a secret is kept.
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
