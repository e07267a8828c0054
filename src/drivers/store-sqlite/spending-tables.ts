/**
 * What jobs spend beside bytes, and how pages of a job with the same body are found: the first of them is named by the
 * others. The index holds a part of the hash, which is enough to tell bodies apart and half as long. Pages that were
 * asked for by name are found by their URL, over all jobs.
 */
export const SQLITE_SPENDING_TABLES = `
  ALTER TABLE jobs ADD COLUMN browser_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN proxy_bytes INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX pages_content ON pages (job_seq, substr(content_hash, 1, 16))
    WHERE content_hash IS NOT NULL AND error_code IS NULL;
  CREATE INDEX tasks_seed ON tasks (url_key) WHERE found_by = 'seed';
`;
