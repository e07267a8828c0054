-- Sessions and stored credentials; data is sealed by the vault.

CREATE TABLE sessions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  wish TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used_at INTEGER,
  request_count INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 1,
  data BLOB NOT NULL,
  UNIQUE (account_id, name)
);
CREATE INDEX sessions_account ON sessions (account_id, seq);
CREATE INDEX sessions_end ON sessions (expires_at);

CREATE TABLE credentials (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  hosts TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (account_id, name)
);
CREATE INDEX credentials_account ON credentials (account_id, seq);
