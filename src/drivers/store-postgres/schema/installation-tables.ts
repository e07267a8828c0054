/**
 * The default account is as old as the installation: as its first key, job or audit entry, or made now. The table of
 * Idempotency-Keys that `kept_answers` replaced is dropped.
 */
export const INSTALLATION_TABLES = `
  UPDATE accounts SET created_at = coalesce(
    (SELECT min(at) FROM (
      SELECT min(created_at) AS at FROM keys
      UNION ALL SELECT min(created_at) FROM jobs
      UNION ALL SELECT min(at) FROM audit_log
    ) first),
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint
  ) WHERE id = 'default' AND created_at = 0;
  DROP TABLE idempotency;
`;
