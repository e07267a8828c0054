-- Pages as they were fetched; their bodies are blobs.

CREATE TABLE pages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL UNIQUE REFERENCES tasks (id),
  -- No reference: the task of the page has one.
  job_seq INTEGER NOT NULL,
  url TEXT NOT NULL,
  final_url TEXT NOT NULL,
  status_code INTEGER,
  content_type TEXT,
  charset TEXT,
  fetched_at INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  content_hash TEXT,
  text_hash TEXT,
  bytes INTEGER NOT NULL,
  title TEXT,
  etag TEXT,
  last_modified TEXT,
  duplicate_of TEXT,
  error_code TEXT,
  error_message TEXT,
  record BLOB
);
CREATE INDEX pages_job ON pages (job_seq, seq);
-- Finds pages of a job with the same body: the first of them is named by the others. A part of the hash is enough to tell
-- bodies apart, and half as long.
CREATE INDEX pages_content ON pages (job_seq, substr(content_hash, 1, 16))
  WHERE content_hash IS NOT NULL AND error_code IS NULL;
