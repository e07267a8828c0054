-- Adds the target of a redirect to the job of the claimed task, so that no other task fetches it: see LedgerStore.reserveUrl.
CREATE FUNCTION reserve_url(
  p_host bigint, p_epoch bigint, p_task bigint, p_url_key text, p_hosts text[], p_target json,
  p_provisional text[], p_now bigint
) RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  job bigint := (SELECT job_seq FROM tasks WHERE id = p_task);
  claimed tasks;
  known tasks;
BEGIN
  PERFORM 1 FROM jobs WHERE seq = job FOR NO KEY UPDATE;
  SELECT * INTO claimed FROM tasks
  WHERE id = p_task AND host_id = p_host AND epoch = p_epoch AND state = 'claimed';
  IF claimed.id IS NULL THEN RETURN false; END IF;
  IF claimed.url_key = p_url_key THEN RETURN true; END IF;
  SELECT * INTO known FROM tasks WHERE job_seq = job AND url_key = p_url_key;
  IF known.id IS NOT NULL THEN
    RETURN known.found_by = 'redirect' AND known.found_on IS NOT DISTINCT FROM p_task;
  END IF;
  PERFORM put_hosts(p_hosts);
  PERFORM wake_hosts(a.woken, a.ranks, p_now)
  FROM add_tasks(p_target, ARRAY[job], '{1}', NULL, p_provisional, p_now) a;
  PERFORM settle(ARRAY[job], p_now);
  RETURN true;
END
$$;
