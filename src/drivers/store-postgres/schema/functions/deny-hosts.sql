-- Takes every open task of the host, its ports and its subdomains out of all jobs.
CREATE FUNCTION deny_hosts(p_host text, p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  covered bigint[];
  tasks_found bigint[];
  locked bigint[];
BEGIN
  SELECT array_agg(id) INTO covered
  FROM (SELECT id, key, substring(key FROM '^(\[[^]]*\]|[^:]*)') AS name FROM hosts) h
  WHERE key = p_host OR name = p_host OR right(name, length(p_host) + 1) = '.' || p_host;
  -- In this form each of the hosts' mailboxes is found by its own partial index.
  SELECT array_agg(id) INTO tasks_found FROM tasks
  WHERE (host_id = ANY (covered) AND state = 'ready') OR (host_id = ANY (covered) AND state = 'waiting')
    OR (host_id = ANY (covered) AND state = 'claimed');
  SELECT array_agg(seq) INTO locked FROM (
    SELECT seq FROM jobs WHERE seq IN (SELECT job_seq FROM tasks WHERE id = ANY (tasks_found))
    ORDER BY seq FOR NO KEY UPDATE
  ) j;
  -- What came in since, its workers will refuse.
  WITH open AS MATERIALIZED (
    SELECT id, job_seq, kind, state FROM tasks
    WHERE id = ANY (tasks_found) AND host_id = ANY (covered) AND state IN ('ready', 'waiting', 'claimed')
  ),
  denied AS (
    UPDATE tasks t SET state = 'denied', rule = 'opt-out', finished_at = p_now FROM open o WHERE t.id = o.id
  )
  UPDATE jobs j
  SET open = j.open - c.denied, denied = j.denied + c.denied, claimed = j.claimed - c.claimed,
    claimed_pages = j.claimed_pages - c.claimed_pages
  FROM (
    SELECT job_seq, count(*) AS denied, count(*) FILTER (WHERE state = 'claimed') AS claimed,
      count(*) FILTER (WHERE state = 'claimed' AND kind = 'page') AS claimed_pages
    FROM open GROUP BY job_seq
  ) c
  WHERE j.seq = c.job_seq;
  PERFORM settle(locked, p_now);
END
$$;
