-- Credits and usage; see CreditStore. Values of sums are ordered by their bytes, as in SQLite.

-- Only accounts with limits have a row.
CREATE TABLE credits (
  account_id text PRIMARY KEY REFERENCES accounts (id),
  is_limited boolean NOT NULL,
  monthly bigint NOT NULL,
  low bigint NOT NULL,
  is_low boolean NOT NULL DEFAULT false,
  -- Of which month the allowance is: see monthOf.
  month bigint NOT NULL,
  allowance bigint NOT NULL,
  balance bigint NOT NULL
);

-- What is held for jobs that are going on, of accounts with limits.
CREATE TABLE credit_holds (
  job_seq bigint PRIMARY KEY REFERENCES jobs (seq),
  account_id text NOT NULL REFERENCES accounts (id),
  month bigint NOT NULL,
  allowance bigint NOT NULL,
  balance bigint NOT NULL
);
CREATE INDEX credit_holds_account ON credit_holds (account_id);

CREATE TABLE credit_entries (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  account_id text NOT NULL REFERENCES accounts (id),
  at bigint NOT NULL,
  kind text NOT NULL,
  microcredits bigint NOT NULL,
  reason text NOT NULL,
  key text,
  UNIQUE (account_id, key)
);
CREATE INDEX credit_entries_account ON credit_entries (account_id, seq);

-- What commits used, until it is added to usage_sums.
CREATE TABLE usage_log (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id text NOT NULL,
  key_id text NOT NULL,
  job_id text NOT NULL,
  engine text NOT NULL,
  host text NOT NULL,
  day bigint NOT NULL,
  pages bigint NOT NULL,
  attempts bigint NOT NULL,
  bytes bigint NOT NULL,
  browser_ms bigint NOT NULL,
  proxy_bytes bigint NOT NULL,
  tokens bigint NOT NULL,
  microcredits bigint NOT NULL
);

-- Each row belongs to one day and to one value of one of the groups.
CREATE TABLE usage_sums (
  account_id text NOT NULL,
  grouped_by text NOT NULL,
  day bigint NOT NULL,
  value text COLLATE "C" NOT NULL,
  pages bigint NOT NULL,
  attempts bigint NOT NULL,
  bytes bigint NOT NULL,
  browser_ms bigint NOT NULL,
  proxy_bytes bigint NOT NULL,
  tokens bigint NOT NULL,
  microcredits bigint NOT NULL,
  PRIMARY KEY (account_id, grouped_by, day, value)
) /* WITHOUT ROWID in SQLite */;
