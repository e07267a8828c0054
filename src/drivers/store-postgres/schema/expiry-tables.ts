import { DELETED_ACCOUNT } from '../../store-rows/expiry.ts';

/**
 * What jobs have lost to retention. `bodies`, `artifacts` and `records` are numbers of pages: the pages of the job before
 * it have lost that part. So the bodies of a job of any size expire by one row, and a page that replaces another, which
 * gets a number of its own, has all its parts. `ledger` is 1 while the URLs and pages of the job are being deleted, 2
 * when they are gone. The account has the jobs whose rows are being deleted.
 */
export const EXPIRY_TABLES = `
  CREATE TABLE job_expiry (
    job_seq bigint PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
    bodies bigint NOT NULL DEFAULT 0,
    artifacts bigint NOT NULL DEFAULT 0,
    records bigint NOT NULL DEFAULT 0,
    ledger integer NOT NULL DEFAULT 0
  );
  CREATE INDEX job_expiry_deleting ON job_expiry (job_seq) WHERE ledger = 1;
  CREATE INDEX robots_end ON robots (expires_at);
  INSERT INTO accounts (id, name, created_at) VALUES ('${DELETED_ACCOUNT}', '${DELETED_ACCOUNT}', 0);
`;
