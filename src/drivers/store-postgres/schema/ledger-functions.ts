import { BY_INDEX } from './frontier-functions.ts';

/**
 * The writes of the crawl. A commit is one call however many pages it brings: the rows of busy jobs are locked for as
 * long as it takes, and every round trip within a transaction would be waited for by all others on the same job.
 */
export const LEDGER_FUNCTIONS = `
  -- See LedgerStore.commit. The id is the sender's: when it asks again because no answer came, it gets the answer
  -- of the first time, and one that is still under way is waited for at the id's unique index.
  --
  -- p_tasks, p_claim_jobs, p_claim_hosts and p_epochs are the claims; "ord" in p_ends, p_pages and "by" in p_found
  -- are positions in them, from 1. p_records holds the records of the pages, in their order.
  CREATE FUNCTION commit_batch(
    p_id uuid, p_now bigint, p_tasks bigint[], p_claim_jobs bigint[], p_claim_hosts bigint[], p_epochs bigint[],
    p_ends json, p_pages json, p_records bytea[], p_found json, p_hosts text[], p_provisional text[]
  ) RETURNS jsonb
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    kept integer[];
    jobs_changed bigint[];
    moved_to bigint[];
    moved_ranks bigint[];
    woken bigint[];
    ranks bigint[];
    finished text[] := '{}';
    stopped text[] := '{}';
    offers jsonb;
    answer jsonb;
  BEGIN
    INSERT INTO commits (id, at) VALUES (p_id, p_now) ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
      SELECT receipt INTO answer FROM commits WHERE id = p_id;
      RETURN answer;
    END IF;
    PERFORM 1 FROM jobs WHERE seq = ANY (p_claim_jobs) ORDER BY seq FOR NO KEY UPDATE;

    -- The first of several completions of one task counts.
    SELECT array_agg(ord) INTO kept FROM (
      SELECT DISTINCT ON (c.task) c.ord::integer AS ord
      FROM unnest(p_tasks, p_claim_jobs, p_claim_hosts, p_epochs) WITH ORDINALITY AS c (task, job, host, epoch, ord)
      JOIN tasks t ON t.id = c.task AND t.job_seq = c.job AND t.host_id = c.host AND t.epoch = c.epoch
        AND t.state = 'claimed'
      ORDER BY c.task, c.ord
    ) held;
    IF kept IS NOT NULL THEN
      PERFORM put_hosts(p_hosts);
      WITH next AS MATERIALIZED (
        SELECT s.*, t.kind, t.rank, t.job_seq, j.stop_reason, h.id AS next_host,
          s.state IN ('ready', 'waiting', 'moved') AS goes_on,
          CASE WHEN s.state NOT IN ('ready', 'waiting', 'moved') THEN s.state
            WHEN j.status = 'cancelled' THEN 'cancelled'
            WHEN j.stop_reason IS NOT NULL THEN 'skipped'
            WHEN s.state = 'moved' THEN 'ready'
            ELSE s.state END AS becomes
        FROM json_to_recordset(p_ends) AS s (
          ord integer, state text, rule text, error_code text, ready_at bigint, at_url text, to_host text,
          hops integer, trace jsonb, attempts integer, bytes bigint
        )
        JOIN tasks t ON t.id = p_tasks[s.ord]
        JOIN jobs j ON j.seq = t.job_seq
        LEFT JOIN hosts h ON h.key = s.to_host
        WHERE s.ord = ANY (kept)
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
          bytes = j.bytes + c.bytes
        FROM (
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
            sum(bytes)::bigint AS bytes
          FROM next GROUP BY job_seq
        ) c
        WHERE j.seq = c.job_seq
      )
      SELECT array_agg(DISTINCT job_seq),
        array_agg(next_host) FILTER (WHERE becomes = 'ready' AND next_host IS NOT NULL),
        array_agg(rank) FILTER (WHERE becomes = 'ready' AND next_host IS NOT NULL)
      INTO jobs_changed, moved_to, moved_ranks FROM next;

      -- A page that is stored again moves to the end of the list.
      DELETE FROM pages WHERE task_id = ANY (ARRAY(
        SELECT p_tasks[p.ord] FROM json_to_recordset(p_pages) AS p (ord integer) WHERE p.ord = ANY (kept)
      ));
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
      ORDER BY p.ord;

      SELECT a.woken, a.ranks INTO woken, ranks
      FROM add_tasks(p_found, p_claim_jobs, kept, NULL, p_provisional, p_now) a;
      SELECT jsonb_agg(jsonb_build_object('key', w.key, 'rank', w.rank)) INTO offers
      FROM wake_hosts(woken || moved_to, ranks || moved_ranks, p_now) w;
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
      'stoppedJobs', stopped
    );
    UPDATE commits SET receipt = answer WHERE id = p_id;
    RETURN answer;
  END
  $$;

  CREATE FUNCTION reserve_url(
    p_host bigint, p_epoch bigint, p_task bigint, p_url_key text, p_hosts text[], p_target json,
    p_provisional text[], p_now bigint
  ) RETURNS boolean
  LANGUAGE plpgsql ${BY_INDEX} AS $$
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

  CREATE FUNCTION create_job(
    p_job json, p_tasks json, p_hosts text[], p_provisional text[], p_is_unsynced boolean
  ) RETURNS SETOF jobs
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    made jobs;
  BEGIN
    IF p_is_unsynced THEN
      PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    INSERT INTO jobs (
      id, account_id, kind, status, options, seeds, max_pages, max_bytes, deadline_at, created_at
    )
    SELECT id, account_id, kind, 'queued', options, seeds, max_pages, max_bytes, deadline_at, created_at
    FROM json_to_record(p_job) AS j (
      id text, account_id text, kind text, options jsonb, seeds jsonb, max_pages bigint, max_bytes bigint,
      deadline_at bigint, created_at bigint
    )
    RETURNING * INTO made;
    PERFORM put_hosts(p_hosts);
    PERFORM wake_hosts(a.woken, a.ranks, made.created_at)
    FROM add_tasks(p_tasks, ARRAY[made.seq], '{1}', json_array_length(p_tasks), p_provisional, made.created_at) a;
    PERFORM settle(ARRAY[made.seq], made.created_at);
    RETURN QUERY SELECT * FROM jobs WHERE seq = made.seq;
  END
  $$;
`;
