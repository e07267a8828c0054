/**
 * Start URLs exactly as they were submitted, for those that are fetched under another spelling; apart from the job's row,
 * which is read with every commit. The index counts the robots.txt files and sitemaps among a job's tasks.
 */
export const SOURCE_TABLES = `
  CREATE TABLE job_sources (
    job_seq bigint PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
    sources text NOT NULL
  );
  CREATE INDEX tasks_files ON tasks (job_seq, state) WHERE kind <> 'page';
`;
