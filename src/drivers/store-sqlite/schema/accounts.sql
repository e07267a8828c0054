-- Accounts, their keys, and browsers that are signed in to the dashboard.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL DEFAULT 0,
  plan TEXT NOT NULL DEFAULT 'custom',
  -- What the account may use; NULL: without limit.
  requests_per_minute INTEGER,
  concurrent_pages INTEGER,
  open_urls INTEGER,
  stored_bytes INTEGER,
  disabled_at INTEGER,
  -- Since when the account is being deleted.
  deleting_at INTEGER,
  -- What the account keeps of its jobs, and what the operator keeps of them whatever the account says: RetentionLimits as
  -- JSON.
  retention TEXT,
  operator_retention TEXT
);
-- Claims look here first: without such accounts they need not count the pages of any.
CREATE INDEX accounts_bounded ON accounts (id) WHERE concurrent_pages IS NOT NULL OR disabled_at IS NOT NULL;

-- The default account is as old as the installation. The other one has the jobs whose rows are being deleted.
INSERT INTO accounts (id, name, created_at) VALUES
  ('default', 'default', CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  ('(deleted)', '(deleted)', 0);

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  scopes TEXT NOT NULL,
  rate_per_minute INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
);
CREATE INDEX keys_account ON keys (account_id);

-- Earlier secrets of keys that are still valid.
CREATE TABLE former_secrets (
  hash TEXT PRIMARY KEY,
  key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
  valid_until INTEGER NOT NULL
);
CREATE INDEX former_secrets_key ON former_secrets (key_id);

-- Browsers that are signed in to the dashboard, and links that sign one in. Of both only the hash of a secret is kept.
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
