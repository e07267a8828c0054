-- See CreditStore.foldUsage. One at a time: others find nothing to do.
CREATE FUNCTION fold_usage(p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  folded integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('fold_usage'), hashtext(current_schema()::text)) THEN RETURN 0; END IF;
  WITH gone AS (
    DELETE FROM usage_log WHERE seq IN (SELECT seq FROM usage_log ORDER BY seq LIMIT p_limit) RETURNING *
  ),
  added AS (
    INSERT INTO usage_sums AS s (account_id, grouped_by, day, value, pages, attempts, bytes, browser_ms, proxy_bytes, tokens, microcredits)
    SELECT g.account_id, v.grouped_by, g.day, v.value, sum(pages)::bigint, sum(attempts)::bigint, sum(bytes)::bigint, sum(browser_ms)::bigint, sum(proxy_bytes)::bigint, sum(tokens)::bigint, sum(microcredits)::bigint
    FROM gone g, LATERAL (VALUES
      ('day', to_char(date '1970-01-01' + g.day::integer, 'YYYY-MM-DD')), ('key', g.key_id), ('job', g.job_id),
      ('engine', g.engine), ('host', g.host)
    ) v (grouped_by, value)
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (account_id, grouped_by, day, value) DO UPDATE SET pages = s.pages + excluded.pages, attempts = s.attempts + excluded.attempts, bytes = s.bytes + excluded.bytes, browser_ms = s.browser_ms + excluded.browser_ms, proxy_bytes = s.proxy_bytes + excluded.proxy_bytes, tokens = s.tokens + excluded.tokens, microcredits = s.microcredits + excluded.microcredits
  )
  SELECT count(*) INTO folded FROM gone;
  RETURN folded;
END
$$;
