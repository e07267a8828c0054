/** Since when an account is being deleted, and what it keeps of its jobs (`RetentionLimits` as JSON). */
export const DELETION_TABLES = `
  ALTER TABLE accounts ADD COLUMN deleting_at bigint;
  ALTER TABLE accounts ADD COLUMN retention text;
`;

/** What the operator keeps of the jobs of an account, whatever the account says. */
export const OPERATOR_RETENTION = 'ALTER TABLE accounts ADD COLUMN operator_retention text;';
