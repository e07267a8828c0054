import { BY_INDEX } from './frontier-functions.ts';

/**
 * What jobs spend beside bytes, and pages of a job with the same body. Both come on top of `commit_batch`, within its
 * transaction and its one round trip.
 */
export const SPENDING_FUNCTIONS = `
  ALTER TABLE jobs ADD COLUMN browser_ms bigint NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN proxy_bytes bigint NOT NULL DEFAULT 0;
  CREATE INDEX pages_content ON pages (job_seq, left(content_hash, 16))
    WHERE content_hash IS NOT NULL AND error_code IS NULL;
  -- Pages that were asked for by name, over all jobs.
  CREATE INDEX tasks_seed ON tasks (url_key, id) WHERE found_by = 'seed';

  -- Stops the jobs whose browser time or proxy bytes are spent. The caller holds their rows. Returns their ids.
  CREATE FUNCTION stop_spent(p_jobs bigint[], p_now bigint) RETURNS text[]
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    spent record;
    stopped text[] := '{}';
  BEGIN
    FOR spent IN
      SELECT seq, id, CASE WHEN browser_ms >= (options -> 'budgets' ->> 'maxBrowserMs')::bigint
        THEN 'budget.browser' ELSE 'budget.proxy' END AS reason
      FROM jobs
      WHERE seq = ANY (p_jobs) AND stop_reason IS NULL AND status <> 'cancelled' AND open > 0
        AND (browser_ms > 0 OR proxy_bytes > 0)
        AND (browser_ms >= (options -> 'budgets' ->> 'maxBrowserMs')::bigint
          OR proxy_bytes >= (options -> 'budgets' ->> 'maxProxyBytes')::bigint)
    LOOP
      PERFORM stop_job(spent.seq, spent.reason, p_now);
      stopped := stopped || spent.id;
    END LOOP;
    RETURN stopped;
  END
  $$;

  -- As commit_batch; "browser_ms" and "proxy_bytes" of p_ends are counted, and a page whose body an earlier page of the
  -- job has names that page.
  CREATE FUNCTION commit_pages(
    p_id uuid, p_now bigint, p_tasks bigint[], p_claim_jobs bigint[], p_claim_hosts bigint[], p_epochs bigint[],
    p_ends json, p_pages json, p_records bytea[], p_found json, p_hosts text[], p_provisional text[]
  ) RETURNS jsonb
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    answer jsonb := commit_batch(
      p_id, p_now, p_tasks, p_claim_jobs, p_claim_hosts, p_epochs, p_ends, p_pages, p_records, p_found, p_hosts,
      p_provisional
    );
    finished text[];
    stopped text[];
    twins jsonb;
  BEGIN
    -- A row that another transaction has written is the answer of the first time, when all of this was done.
    IF NOT (SELECT xmin = pg_current_xact_id()::xid FROM commits WHERE id = p_id) THEN RETURN answer; END IF;

    WITH named AS (
      UPDATE pages p SET duplicate_of = f.url
      FROM (
        SELECT n.seq, (
          SELECT o.url FROM pages o
          WHERE o.job_seq = n.job_seq AND left(o.content_hash, 16) = left(n.content_hash, 16)
            AND o.content_hash = n.content_hash AND o.error_code IS NULL AND o.seq < n.seq
          ORDER BY o.seq LIMIT 1
        ) AS url
        FROM pages n
        WHERE n.task_id = ANY (p_tasks) AND n.content_hash IS NOT NULL AND n.error_code IS NULL
          AND n.duplicate_of IS NULL
      ) f
      WHERE p.seq = f.seq AND f.url IS NOT NULL
      RETURNING p.task_id, p.duplicate_of
    )
    SELECT jsonb_agg(jsonb_build_object('taskId', task_id, 'url', duplicate_of)) INTO twins FROM named;
    IF twins IS NOT NULL THEN answer := answer || jsonb_build_object('duplicates', twins); END IF;

    UPDATE jobs j SET browser_ms = j.browser_ms + c.browser_ms, proxy_bytes = j.proxy_bytes + c.proxy_bytes
    FROM (
      SELECT p_claim_jobs[s.ord] AS seq, sum(s.browser_ms)::bigint AS browser_ms,
        sum(s.proxy_bytes)::bigint AS proxy_bytes
      FROM json_to_recordset(p_ends) AS s (ord integer, browser_ms bigint, proxy_bytes bigint)
      WHERE (s.browser_ms > 0 OR s.proxy_bytes > 0)
        AND NOT (answer -> 'rejected' @> to_jsonb(p_tasks[s.ord]))
      GROUP BY 1
    ) c
    WHERE j.seq = c.seq;
    IF NOT FOUND AND twins IS NULL THEN RETURN answer; END IF;
    IF FOUND THEN
      stopped := stop_spent(p_claim_jobs, p_now);
      SELECT s.finished INTO finished
      FROM settle(ARRAY(SELECT seq FROM jobs WHERE id = ANY (stopped)), p_now) s;
      answer := answer || jsonb_build_object(
        'stoppedJobs', (answer -> 'stoppedJobs') || to_jsonb(stopped),
        'finishedJobs', (answer -> 'finishedJobs') || to_jsonb(finished)
      );
    END IF;
    UPDATE commits SET receipt = answer WHERE id = p_id;
    RETURN answer;
  END
  $$;
`;
