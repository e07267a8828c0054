/** Since when an account is being deleted, and what it keeps of its jobs (`RetentionLimits` as JSON). */
export const SQLITE_DELETION_TABLES = `
  ALTER TABLE accounts ADD COLUMN deleting_at INTEGER;
  ALTER TABLE accounts ADD COLUMN retention TEXT;
`;

/** What the operator keeps of the jobs of an account, whatever the account says. */
export const SQLITE_OPERATOR_RETENTION = 'ALTER TABLE accounts ADD COLUMN operator_retention TEXT;';
