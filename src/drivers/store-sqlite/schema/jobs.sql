-- Jobs, and what is stored beside their rows.

CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- The key that made the job; NULL: none did.
  key_id TEXT,
  -- The schedule whose run the job is. The job outlives the schedule, so this is no reference.
  schedule_id TEXT,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  stop_reason TEXT,
  options TEXT NOT NULL,
  seeds TEXT NOT NULL,
  max_pages INTEGER,
  max_bytes INTEGER,
  deadline_at INTEGER,
  -- What is reserved for each of its tasks while it is claimed.
  reserve_microcredits INTEGER NOT NULL DEFAULT 0,
  -- Counters: they change in the transactions that change the tasks they count.
  known INTEGER NOT NULL DEFAULT 0,
  open INTEGER NOT NULL DEFAULT 0,
  claimed INTEGER NOT NULL DEFAULT 0,
  claimed_pages INTEGER NOT NULL DEFAULT 0,
  pages INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  denied INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  browser_ms INTEGER NOT NULL DEFAULT 0,
  proxy_bytes INTEGER NOT NULL DEFAULT 0,
  microcredits INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
);
CREATE INDEX jobs_account ON jobs (account_id, seq);
-- The jobs of an account that have not ended: their open and claimed URLs are what its limits are compared with.
CREATE INDEX jobs_of_account ON jobs (account_id) WHERE finished_at IS NULL;
CREATE INDEX jobs_unfinished ON jobs (deadline_at) WHERE finished_at IS NULL;
CREATE INDEX jobs_schedule ON jobs (schedule_id, seq) WHERE schedule_id IS NOT NULL;
-- Finds out at every start whether a job has sealed options, without reading all jobs.
CREATE INDEX jobs_sealed ON jobs (seq) WHERE json_extract(options, '$.sealed') IS NOT NULL;

-- Start URLs exactly as they were submitted, for those that are fetched under another spelling. They are apart from the
-- job's row, which is read with every commit.
CREATE TABLE job_sources (
  job_seq INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
  sources TEXT NOT NULL
);

-- What jobs have lost to retention. bodies, artifacts and records are numbers of pages: the pages of the job before that
-- number have lost the part. So the bodies of a job of any size expire by one row, and a page that replaces another, which
-- gets a number of its own, has all its parts. ledger is 1 while the URLs and pages of the job are being deleted, and 2
-- when they are gone.
CREATE TABLE job_expiry (
  job_seq INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
  bodies INTEGER NOT NULL DEFAULT 0,
  artifacts INTEGER NOT NULL DEFAULT 0,
  records INTEGER NOT NULL DEFAULT 0,
  ledger INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX job_expiry_deleting ON job_expiry (job_seq) WHERE ledger = 1;
