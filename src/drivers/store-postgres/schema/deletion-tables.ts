/** Since when an account is being deleted, and what it keeps of its jobs (`RetentionLimits` as JSON). */
export const DELETION_TABLES = `
  ALTER TABLE accounts ADD COLUMN deleting_at bigint;
  ALTER TABLE accounts ADD COLUMN retention text;
`;
