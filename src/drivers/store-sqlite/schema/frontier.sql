-- Hosts, and the URLs of all jobs. tasks_turns, tasks_waiting and tasks_claimed are the mailboxes of the hosts: partial
-- indexes, so that they hold open work only and stay small however many URLs have ended.

CREATE TABLE hosts (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  state TEXT,
  rank INTEGER NOT NULL,
  -- When the host may have work to hand out; NULL: none. While it is owned: the end of the lease.
  next_at INTEGER,
  blocked_until INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER NOT NULL DEFAULT 0,
  -- The incarnation in which the host was acquired last.
  leased_in TEXT,
  -- The account whose tasks were last held back on the host, and until when the host need not be offered for them.
  held_for TEXT,
  held_until INTEGER
);
CREATE INDEX hosts_offered ON hosts (rank, id) WHERE next_at IS NOT NULL;
CREATE INDEX hosts_held ON hosts (held_for, held_until) WHERE held_for IS NOT NULL;

CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  job_seq INTEGER NOT NULL REFERENCES jobs (seq),
  host_id INTEGER NOT NULL REFERENCES hosts (id),
  -- The account of the job.
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  rank INTEGER NOT NULL,
  ready_at INTEGER,
  epoch INTEGER NOT NULL DEFAULT 0,
  depth INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  hops INTEGER NOT NULL DEFAULT 0,
  -- How often an owner died while it had the task, and while it had nothing but the task.
  interruptions INTEGER NOT NULL DEFAULT 0,
  lone_interruptions INTEGER NOT NULL DEFAULT 0,
  -- The claim (host:epoch) under which the task was last recorded as started, and whether it was alone.
  started_under TEXT,
  started_alone INTEGER NOT NULL DEFAULT 0,
  found_by TEXT NOT NULL,
  -- Only tells where a URL came from. A reference would need an index for the deletion of jobs.
  found_on INTEGER,
  url_key TEXT NOT NULL,
  url TEXT NOT NULL,
  at_url TEXT,
  rule TEXT,
  error_code TEXT,
  trace TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
);
CREATE UNIQUE INDEX tasks_url ON tasks (job_seq, url_key);
CREATE INDEX tasks_job ON tasks (job_seq, id);
-- Ready tasks by account, by line (the single scrapes of an account, or one of its other jobs) and by rank: finding out
-- whose turn it is takes one look at the index for each account and line that is passed, however many tasks these have.
CREATE INDEX tasks_turns ON tasks (host_id, account_id, (CASE rank WHEN 0 THEN 0 ELSE job_seq END), rank, id)
  WHERE state = 'ready';
CREATE INDEX tasks_waiting ON tasks (host_id, ready_at) WHERE state = 'waiting';
CREATE INDEX tasks_claimed ON tasks (host_id) WHERE state = 'claimed';
CREATE INDEX tasks_failed ON tasks (job_seq, id) WHERE state = 'failed';
-- Counts the robots.txt files and sitemaps among the tasks of a job.
CREATE INDEX tasks_files ON tasks (job_seq, state) WHERE kind <> 'page';
-- Pages that were asked for by name, over all jobs.
CREATE INDEX tasks_seed ON tasks (url_key) WHERE found_by = 'seed';
