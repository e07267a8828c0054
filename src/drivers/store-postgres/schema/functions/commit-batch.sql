-- The end of claimed tasks, with the pages they brought and the URLs they found: see LedgerStore.commit. It is one call however
-- many pages it brings: the rows of busy jobs are locked for as long as it takes, and every round trip within a transaction
-- would be waited for by all others on the same job.
--
-- p_id is the sender's: when the sender asks again because no answer came, it gets the answer of the first time, and a commit
-- that is still under way is waited for at the unique index of the id.
--
-- p_tasks, p_claim_jobs, p_claim_hosts and p_epochs are the claims. "ord" in p_ends and p_pages, and "by" in p_found, are
-- positions in them, from 1. p_records holds the records of the pages, in their order.
CREATE FUNCTION commit_batch(
  p_id uuid, p_now bigint, p_tasks bigint[], p_claim_jobs bigint[], p_claim_hosts bigint[], p_epochs bigint[],
  p_ends json, p_pages json, p_records bytea[], p_found json, p_hosts text[], p_provisional text[]
) RETURNS jsonb
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  kept integer[];
  jobs_changed bigint[];
  costs bigint[];
  moved_to bigint[];
  moved_ranks bigint[];
  woken bigint[];
  ranks bigint[];
  stored bigint[];
  of_job record;
  charged record;
  duplicates jsonb;
  offers jsonb;
  finished text[] := '{}';
  stopped text[] := '{}';
  answer jsonb;
BEGIN
  INSERT INTO commits (id, at) VALUES (p_id, p_now) ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN
    SELECT receipt INTO answer FROM commits WHERE id = p_id;
    RETURN answer;
  END IF;
  PERFORM 1 FROM jobs WHERE seq = ANY (p_claim_jobs) ORDER BY seq FOR NO KEY UPDATE;

  -- Of several completions of one task the first counts.
  SELECT array_agg(ord) INTO kept FROM (
    SELECT DISTINCT ON (c.task) c.ord::integer AS ord
    FROM unnest(p_tasks, p_claim_jobs, p_claim_hosts, p_epochs) WITH ORDINALITY AS c (task, job, host, epoch, ord)
    JOIN tasks t ON t.id = c.task AND t.job_seq = c.job AND t.host_id = c.host AND t.epoch = c.epoch
      AND t.state = 'claimed'
    ORDER BY c.task, c.ord
  ) held;
  IF kept IS NOT NULL THEN
    PERFORM put_hosts(p_hosts);
    -- The tasks end or go on, their jobs count them and what they spent, and the log of usage gets what they used.
    WITH next AS MATERIALIZED (
      SELECT s.*, t.kind, t.rank, t.job_seq, j.account_id, j.key_id, j.id AS job_id, j.stop_reason, h.id AS next_host,
        s.state IN ('ready', 'waiting', 'moved') AS goes_on,
        CASE WHEN s.state NOT IN ('ready', 'waiting', 'moved') THEN s.state
          WHEN j.status = 'cancelled' THEN 'cancelled'
          WHEN j.stop_reason IS NOT NULL THEN 'skipped'
          WHEN s.state = 'moved' THEN 'ready'
          ELSE s.state END AS becomes
      FROM json_to_recordset(p_ends) AS s (
        ord integer, state text, rule text, error_code text, ready_at bigint, at_url text, to_host text,
        hops integer, trace jsonb, attempts integer, bytes bigint, browser_ms bigint, proxy_bytes bigint,
        engine text, pages integer, tokens bigint, microcredits bigint
      )
      JOIN tasks t ON t.id = p_tasks[s.ord]
      JOIN jobs j ON j.seq = t.job_seq
      LEFT JOIN hosts h ON h.key = s.to_host
      WHERE s.ord = ANY (kept)
    ),
    per_job AS MATERIALIZED (
      SELECT job_seq,
        count(*) AS claimed,
        count(*) FILTER (WHERE kind = 'page') AS claimed_pages,
        count(*) FILTER (WHERE becomes NOT IN ('ready', 'waiting')) AS ended,
        count(*) FILTER (WHERE becomes = 'done' AND kind = 'page') AS pages,
        count(*) FILTER (WHERE becomes = 'done') AS done,
        count(*) FILTER (WHERE becomes = 'failed') AS failed,
        count(*) FILTER (WHERE becomes = 'skipped') AS skipped,
        count(*) FILTER (WHERE becomes = 'denied') AS denied,
        count(*) FILTER (WHERE becomes = 'cancelled') AS cancelled,
        sum(bytes)::bigint AS bytes,
        coalesce(sum(browser_ms), 0)::bigint AS browser_ms,
        coalesce(sum(proxy_bytes), 0)::bigint AS proxy_bytes,
        coalesce(sum(microcredits), 0)::bigint AS microcredits
      FROM next GROUP BY job_seq
    ),
    ended AS (
      UPDATE tasks t
      SET state = n.becomes,
        rule = CASE WHEN NOT n.goes_on OR n.becomes = 'waiting' THEN n.rule
          WHEN n.becomes = 'skipped' THEN n.stop_reason
          ELSE t.rule END,
        error_code = CASE WHEN n.goes_on THEN t.error_code ELSE n.error_code END,
        attempts = CASE WHEN n.state = 'ready' THEN t.attempts ELSE n.attempts END,
        trace = CASE WHEN n.state = 'ready' THEN t.trace ELSE n.trace END,
        ready_at = CASE WHEN n.becomes = 'waiting' THEN n.ready_at END,
        finished_at = CASE WHEN n.becomes NOT IN ('ready', 'waiting') THEN p_now END,
        host_id = CASE WHEN n.becomes = 'ready' THEN coalesce(n.next_host, t.host_id) ELSE t.host_id END,
        at_url = CASE WHEN n.becomes = 'ready' THEN coalesce(n.at_url, t.at_url) ELSE t.at_url END,
        hops = CASE WHEN n.becomes = 'ready' THEN coalesce(n.hops, t.hops) ELSE t.hops END
      FROM next n WHERE t.id = p_tasks[n.ord]
    ),
    counted AS (
      UPDATE jobs j
      SET claimed = j.claimed - c.claimed, claimed_pages = j.claimed_pages - c.claimed_pages,
        open = j.open - c.ended, pages = j.pages + c.pages, done = j.done + c.done, failed = j.failed + c.failed,
        skipped = j.skipped + c.skipped, denied = j.denied + c.denied, cancelled = j.cancelled + c.cancelled,
        bytes = j.bytes + c.bytes, browser_ms = j.browser_ms + c.browser_ms,
        proxy_bytes = j.proxy_bytes + c.proxy_bytes, microcredits = j.microcredits + c.microcredits
      FROM per_job c WHERE j.seq = c.job_seq
    ),
    -- Commits only add rows to the log, so that those of different jobs do not wait for each other.
    logged AS (
      INSERT INTO usage_log (
        account_id, key_id, job_id, engine, host, day, pages, attempts, bytes, browser_ms, proxy_bytes, tokens,
        microcredits
      )
      SELECT n.account_id, coalesce(n.key_id, ''), n.job_id, n.engine, h.key, p_now / 86400000, sum(n.pages), count(*),
        sum(n.bytes), coalesce(sum(n.browser_ms), 0), coalesce(sum(n.proxy_bytes), 0), sum(n.tokens),
        sum(n.microcredits)
      FROM next n JOIN hosts h ON h.id = p_claim_hosts[n.ord]
      WHERE n.engine IS NOT NULL
      GROUP BY n.account_id, n.key_id, n.job_id, n.engine, h.key
    )
    SELECT c.jobs, c.costs, m.hosts, m.ranks INTO jobs_changed, costs, moved_to, moved_ranks
    FROM (SELECT array_agg(job_seq) AS jobs, array_agg(microcredits) AS costs FROM per_job) c,
      (SELECT array_agg(next_host) AS hosts, array_agg(rank) AS ranks FROM next
       WHERE becomes = 'ready' AND next_host IS NOT NULL) m;

    -- A page that is stored again moves to the end of the list.
    stored := ARRAY(
      SELECT p_tasks[p.ord] FROM json_to_recordset(p_pages) AS p (ord integer) WHERE p.ord = ANY (kept)
    );
    DELETE FROM pages WHERE task_id = ANY (stored);
    FOR of_job IN
      WITH added AS (
        INSERT INTO pages (
          task_id, job_seq, url, final_url, status_code, content_type, charset, fetched_at, depth, content_hash,
          text_hash, bytes, title, etag, last_modified, duplicate_of, error_code, error_message, record
        )
        SELECT p_tasks[p.ord], p_claim_jobs[p.ord], p.url, p.final_url, p.status_code, p.content_type, p.charset,
          p.fetched_at, p.depth, p.content_hash, p.text_hash, p.bytes, p.title, p.etag, p.last_modified,
          p.duplicate_of, p.error_code, p.error_message, p.record
        FROM ROWS FROM (
          json_to_recordset(p_pages) AS (
            ord integer, url text, final_url text, status_code integer, content_type text, charset text,
            fetched_at bigint, depth integer, content_hash text, text_hash text, bytes bigint, title text, etag text,
            last_modified text, duplicate_of text, error_code text, error_message text
          ),
          unnest(p_records)
        ) AS p (
          ord, url, final_url, status_code, content_type, charset, fetched_at, depth, content_hash, text_hash, bytes,
          title, etag, last_modified, duplicate_of, error_code, error_message, record
        )
        WHERE p.ord = ANY (kept)
        ORDER BY p.ord
        RETURNING job_seq, seq
      )
      SELECT j.id, j.account_id, jsonb_agg(a.seq ORDER BY a.seq) AS pages
      FROM added a JOIN jobs j ON j.seq = a.job_seq GROUP BY j.id, j.account_id
    LOOP
      PERFORM write_event(
        'pages.committed', of_job.account_id, of_job.id, p_now, jsonb_build_object('pages', of_job.pages)
      );
    END LOOP;
    -- A page whose body an earlier page of the job has names that page. Both are found in ways that leave the planner one
    -- index: while the table is young, it would go through all pages of the job for each.
    WITH fresh AS MATERIALIZED (
      SELECT n.seq, n.job_seq, n.content_hash, n.error_code, n.duplicate_of FROM pages n WHERE n.task_id = ANY (stored)
    ),
    twins AS MATERIALIZED (
      SELECT n.seq, (
        SELECT o.url FROM pages o
        WHERE o.job_seq = n.job_seq AND left(o.content_hash, 16) = left(n.content_hash, 16)
          AND o.content_hash = n.content_hash AND o.error_code IS NULL AND o.seq + 0 < n.seq
        ORDER BY o.seq + 0 LIMIT 1
      ) AS url
      FROM fresh n WHERE n.content_hash IS NOT NULL AND n.error_code IS NULL AND n.duplicate_of IS NULL
    ),
    named AS (
      UPDATE pages p SET duplicate_of = f.url FROM twins f
      WHERE p.seq = f.seq AND f.url IS NOT NULL
      RETURNING p.task_id, p.duplicate_of
    )
    SELECT jsonb_agg(jsonb_build_object('taskId', task_id, 'url', duplicate_of)) INTO duplicates FROM named;

    SELECT a.woken, a.ranks INTO woken, ranks
    FROM add_tasks(p_found, p_claim_jobs, kept, NULL, p_provisional, p_now) a;
    SELECT jsonb_agg(jsonb_build_object('key', w.key, 'rank', w.rank)) INTO offers
    FROM wake_hosts(woken || moved_to, ranks || moved_ranks, p_now) w;

    -- Charged before jobs end, because a job that ends gives back what it still holds.
    FOR charged IN
      SELECT j.seq, j.account_id, u.cost
      FROM unnest(jobs_changed, costs) AS u (job, cost) JOIN jobs j ON j.seq = u.job
      JOIN credits c ON c.account_id = j.account_id AND c.is_limited
      WHERE u.cost <> 0 ORDER BY j.account_id, j.seq
    LOOP
      PERFORM charge_hold(charged.seq, charged.account_id, charged.cost, p_now);
    END LOOP;
    SELECT s.finished, s.stopped INTO finished, stopped FROM settle(jobs_changed, p_now) s;
  END IF;
  answer := jsonb_build_object(
    'rejected', coalesce((
      SELECT jsonb_agg(c.task ORDER BY c.ord) FROM unnest(p_tasks) WITH ORDINALITY AS c (task, ord)
      WHERE kept IS NULL OR c.ord <> ALL (kept)
    ), '[]'),
    'readyHosts', coalesce(offers, '[]'),
    'changedJobs', coalesce((SELECT jsonb_agg(id ORDER BY seq) FROM jobs WHERE seq = ANY (jobs_changed)), '[]'),
    'finishedJobs', finished,
    'stoppedJobs', stopped,
    'duplicates', coalesce(duplicates, '[]')
  );
  UPDATE commits SET receipt = answer WHERE id = p_id;
  RETURN answer;
END
$$;
