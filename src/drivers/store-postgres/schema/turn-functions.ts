import { SQL_LINE } from '../../store-rows/lines.ts';
import { BY_INDEX, FRONTIER_FUNCTIONS } from './frontier-functions.ts';

/** The definition of a function among the statements of an earlier migration. */
function definitionOf(name: string, statements: string): string {
  const start = statements.indexOf(`CREATE FUNCTION ${name}(`);
  const end = statements.indexOf('$$;', start) + '$$;'.length;
  return statements.slice(start, end).replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');
}

/** As before, and new tasks carry the account of their job. */
const ADD_TASKS = definitionOf('add_tasks', FRONTIER_FUNCTIONS)
  .replace('j.seq AS job, h.id AS host_id,', 'j.seq AS job, j.account_id, h.id AS host_id,')
  .replace(
    'url_key, url, rule, created_at, finished_at\n      )',
    'url_key, url, rule, created_at, finished_at, account_id\n      )',
  )
  .replace(
    "CASE WHEN coalesce(o.becomes, f.becomes) <> 'ready' THEN p_now END\n      FROM",
    "CASE WHEN coalesce(o.becomes, f.becomes) <> 'ready' THEN p_now END,\n        f.account_id\n      FROM",
  );

/**
 * Accounts and jobs take turns at a host: `src/core/model/turns.ts` says how, and the contract tests hold both to the same order.
 *
 * The functions are replaced and not renamed: programs of the version before get the same answers from them, chosen more
 * fairly. `scrapifie.turns` is set for one call of claim_in_turn, because the functions between that and claim_tasks pass
 * nothing on that they do not know.
 */
export const TURN_FUNCTIONS = `
  ALTER TABLE tasks ADD COLUMN account_id text COLLATE "C" NOT NULL DEFAULT '';
  UPDATE tasks t SET account_id = j.account_id FROM jobs j
  WHERE j.seq = t.job_seq AND t.state IN ('ready', 'waiting', 'claimed');
  CREATE INDEX tasks_turns ON tasks (host_id, account_id, (${SQL_LINE}), rank, id) WHERE state = 'ready';
  DROP INDEX tasks_ready;

  ${ADD_TASKS}

  -- The best rank among the tasks that are due on the host, of the first sixteen accounts; NULL: none is.
  CREATE OR REPLACE FUNCTION best_due(p_host bigint, p_now bigint) RETURNS bigint
  LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
  DECLARE
    account text;
    found_rank bigint;
    best bigint := (SELECT min(rank) FROM tasks WHERE host_id = p_host AND state = 'waiting' AND ready_at <= p_now);
  BEGIN
    FOR looked IN 1..16 LOOP
      IF account IS NULL THEN
        SELECT account_id, rank INTO account, found_rank FROM tasks
        WHERE host_id = p_host AND state = 'ready' ORDER BY account_id, ${SQL_LINE}, rank, id LIMIT 1;
      ELSE
        SELECT account_id, rank INTO account, found_rank FROM tasks
        WHERE host_id = p_host AND state = 'ready' AND account_id > account
        ORDER BY account_id, ${SQL_LINE}, rank, id LIMIT 1;
      END IF;
      EXIT WHEN NOT FOUND;
      best := least(best, found_rank);
    END LOOP;
    RETURN best;
  END
  $$;

  -- Accounts with ready tasks on the host, beginning after p_last and going on from the first.
  CREATE FUNCTION accounts_in_turn(p_host bigint, p_last text, p_most integer) RETURNS SETOF text
  LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
  DECLARE
    account text := p_last;
    given integer := 0;
    has_wrapped boolean := p_last IS NULL;
  BEGIN
    WHILE given < p_most LOOP
      IF account IS NULL THEN
        SELECT account_id INTO account FROM tasks WHERE host_id = p_host AND state = 'ready'
        ORDER BY account_id LIMIT 1;
      ELSE
        SELECT account_id INTO account FROM tasks WHERE host_id = p_host AND state = 'ready' AND account_id > account
        ORDER BY account_id LIMIT 1;
      END IF;
      IF account IS NULL THEN
        EXIT WHEN has_wrapped;
        has_wrapped := true;
        CONTINUE;
      END IF;
      EXIT WHEN has_wrapped AND p_last IS NOT NULL AND account > p_last;
      RETURN NEXT account;
      given := given + 1;
    END LOOP;
  END
  $$;

  -- Lines of an account with ready tasks on the host: its single scrapes (0), and jobs beginning after p_last.
  CREATE FUNCTION lines_in_turn(p_host bigint, p_account text, p_last bigint, p_most integer) RETURNS SETOF bigint
  LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
  DECLARE
    line bigint;
    given integer := 0;
  BEGIN
    IF EXISTS (
      SELECT FROM tasks WHERE host_id = p_host AND account_id = p_account AND state = 'ready' AND (${SQL_LINE}) = 0
    ) THEN
      RETURN NEXT 0;
    END IF;
    FOR pass IN 1..2 LOOP
      line := CASE pass WHEN 1 THEN greatest(p_last, 0) ELSE 0 END;
      WHILE given < p_most LOOP
        SELECT (${SQL_LINE}) INTO line FROM tasks
        WHERE host_id = p_host AND account_id = p_account AND state = 'ready' AND (${SQL_LINE}) > line
        ORDER BY (${SQL_LINE}) LIMIT 1;
        EXIT WHEN line IS NULL OR (pass = 2 AND line > p_last);
        RETURN NEXT line;
        given := given + 1;
      END LOOP;
    END LOOP;
  END
  $$;

  -- The tasks that are claimed next, in the order of their turns. Jobs in p_passed are left out, but for tasks in p_allowed.
  CREATE FUNCTION due_in_turn(
    p_host bigint, p_limit integer, p_now bigint, p_turns jsonb, p_passed bigint[], p_allowed bigint[]
  )
  RETURNS TABLE (id bigint, job_seq bigint, kind text, place bigint)
  LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
  #variable_conflict use_column
  DECLARE
    first tasks;
    last tasks;
    last_account text := p_turns ->> 'account';
    of_line integer;
  BEGIN
    SELECT * INTO first FROM tasks t WHERE t.host_id = p_host AND t.state = 'ready'
    ORDER BY t.account_id, ${SQL_LINE}, t.rank, t.id LIMIT 1;
    SELECT * INTO last FROM tasks t WHERE t.host_id = p_host AND t.state = 'ready'
    ORDER BY t.account_id DESC, ${SQL_LINE} DESC, t.rank DESC, t.id DESC LIMIT 1;
    -- One line alone, which is the usual case.
    IF first.account_id IS NOT DISTINCT FROM last.account_id
      AND (CASE first.rank WHEN 0 THEN 0 ELSE first.job_seq END)
        IS NOT DISTINCT FROM (CASE last.rank WHEN 0 THEN 0 ELSE last.job_seq END)
      AND NOT EXISTS (
        SELECT FROM tasks t WHERE t.host_id = p_host AND t.state = 'waiting' AND t.ready_at <= p_now
          AND (first.id IS NULL OR t.account_id <> first.account_id OR t.job_seq <> first.job_seq)
      )
    THEN
      RETURN QUERY
      WITH due AS (
        (SELECT t.id, t.job_seq, t.kind, t.rank FROM tasks t
         WHERE t.host_id = p_host AND t.state = 'ready' AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
         ORDER BY t.account_id, ${SQL_LINE}, t.rank, t.id LIMIT p_limit)
        UNION ALL
        (SELECT t.id, t.job_seq, t.kind, t.rank FROM tasks t
         WHERE t.host_id = p_host AND t.state = 'waiting' AND t.ready_at <= p_now
           AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
         ORDER BY t.rank, t.id LIMIT p_limit)
      )
      SELECT d.id, d.job_seq, d.kind, row_number() OVER (ORDER BY d.rank, d.id) FROM due d
      ORDER BY d.rank, d.id LIMIT p_limit;
      RETURN;
    END IF;

    RETURN QUERY
    WITH lines AS MATERIALIZED (
      SELECT a.account, l.line
      FROM accounts_in_turn(p_host, last_account, p_limit) AS a (account),
        LATERAL lines_in_turn(
          p_host, a.account, coalesce((p_turns -> 'lines' -> a.account ->> 0)::bigint, 0), p_limit
        ) AS l (line)
      WHERE l.line = 0 OR l.line <> ALL (p_passed) OR cardinality(p_allowed) > 0
    ),
    -- Of many lines the first tasks of each are enough.
    most AS (SELECT least(p_limit, greatest(8, 4096 / greatest(count(*), 1)))::integer AS rows FROM lines),
    due AS (
      SELECT t.* FROM lines l, LATERAL (
        SELECT t.id, t.job_seq, t.kind, t.rank, t.account_id, l.line FROM tasks t
        WHERE t.host_id = p_host AND t.state = 'ready' AND t.account_id = l.account
          AND (CASE t.rank WHEN 0 THEN 0 ELSE t.job_seq END) = l.line
          AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
        ORDER BY t.rank, t.id LIMIT (SELECT rows FROM most)
      ) t
      UNION ALL
      (SELECT t.id, t.job_seq, t.kind, t.rank, t.account_id, CASE t.rank WHEN 0 THEN 0 ELSE t.job_seq END
       FROM tasks t
       WHERE t.host_id = p_host AND t.state = 'waiting' AND t.ready_at <= p_now
         AND (t.job_seq <> ALL (p_passed) OR t.id = ANY (p_allowed))
       ORDER BY t.ready_at LIMIT p_limit)
    ),
    in_line AS (
      SELECT d.*, coalesce((p_turns -> 'lines' -> d.account_id ->> 0)::bigint, 0) AS last_job,
        coalesce((p_turns -> 'lines' -> d.account_id ->> 1)::boolean, false) AS was_scrape,
        row_number() OVER (PARTITION BY d.account_id, d.line ORDER BY d.rank, d.id) AS nth
      FROM due d
    ),
    in_class AS (
      SELECT i.*, row_number() OVER (
        PARTITION BY i.account_id, i.line = 0 ORDER BY i.nth, i.line <= i.last_job, i.line
      ) AS turn FROM in_line i
    ),
    in_account AS (
      SELECT c.*, row_number() OVER (
        PARTITION BY c.account_id ORDER BY c.turn, (c.line = 0) = c.was_scrape
      ) AS round FROM in_class c
    )
    SELECT i.id, i.job_seq, i.kind, row_number() OVER (
      ORDER BY i.round, coalesce(i.account_id <= last_account, false), i.account_id
    ) AS place
    FROM in_account i ORDER BY place LIMIT p_limit;
  END
  $$;

  -- Claims due tasks in the order of their turns. A job at its page budget is found out by its surplus; then the host is
  -- looked at again without what that job has too much.
  CREATE OR REPLACE FUNCTION claim_tasks(
    p_host bigint, p_epoch bigint, p_limit integer, p_now bigint, p_except bigint[]
  )
  RETURNS TABLE (
    id bigint, job_seq bigint, job_id text, kind text, url text, at_url text, hops integer, url_key text,
    depth integer, attempts integer, trace jsonb
  )
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  #variable_conflict use_column
  DECLARE
    turns jsonb := nullif(current_setting('scrapifie.turns', true), '')::jsonb;
    passed_over bigint[] := p_except;
    -- What jobs that are passed over may still start.
    allowed bigint[] := '{}';
    chosen bigint[];
    surplus bigint[];
    allowed_more bigint[];
    claimed integer;
  BEGIN
    -- When this is lost, the tasks are ready again and what comes of them is void.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM 1 FROM hosts h WHERE h.id = p_host AND h.epoch = p_epoch AND h.owner IS NOT NULL;
    IF NOT FOUND THEN RETURN; END IF;
    LOOP
      WITH judged AS (
        SELECT b.id, b.job_seq,
          b.kind <> 'page' OR j.max_pages IS NULL
          OR count(*) FILTER (WHERE b.kind = 'page') OVER (PARTITION BY b.job_seq ORDER BY b.place)
            <= j.max_pages - j.pages - j.failed - j.claimed_pages AS is_within
        FROM due_in_turn(p_host, p_limit, p_now, turns, passed_over, allowed) b JOIN jobs j ON j.seq = b.job_seq
      )
      SELECT array_agg(id) FILTER (WHERE is_within), array_agg(DISTINCT job_seq) FILTER (WHERE NOT is_within),
        array_agg(id) FILTER (WHERE is_within AND job_seq IN (SELECT o.job_seq FROM judged o WHERE NOT o.is_within))
      INTO chosen, surplus, allowed_more FROM judged;
      -- A budget that shrank between two looks shows jobs a second time.
      EXIT WHEN surplus IS NULL OR surplus <@ passed_over;
      passed_over := passed_over || surplus;
      allowed := allowed || allowed_more;
    END LOOP;
    IF chosen IS NULL THEN RETURN; END IF;

    PERFORM 1 FROM jobs j WHERE j.seq IN (SELECT t.job_seq FROM tasks t WHERE t.id = ANY (chosen))
    ORDER BY j.seq FOR NO KEY UPDATE;
    PERFORM 1 FROM hosts h WHERE h.id = p_host AND h.epoch = p_epoch AND h.owner IS NOT NULL FOR SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    RETURN QUERY
    WITH judged AS (
      SELECT t.id, t.kind <> 'page' OR j.max_pages IS NULL
        OR count(*) FILTER (WHERE t.kind = 'page') OVER (PARTITION BY t.job_seq ORDER BY t.rank, t.id)
          <= j.max_pages - j.pages - j.failed - j.claimed_pages AS is_within
      FROM tasks t JOIN jobs j ON j.seq = t.job_seq
      WHERE t.id = ANY (chosen) AND t.host_id = p_host
        AND (t.state = 'ready' OR (t.state = 'waiting' AND t.ready_at <= p_now))
    ),
    taken AS (
      UPDATE tasks t SET state = 'claimed', epoch = p_epoch, ready_at = NULL
      FROM judged d WHERE t.id = d.id AND d.is_within
      RETURNING t.*
    ),
    counted AS (
      UPDATE jobs j
      SET claimed = j.claimed + c.claimed, claimed_pages = j.claimed_pages + c.claimed_pages,
        status = CASE WHEN j.started_at IS NULL THEN 'running' ELSE j.status END,
        started_at = coalesce(j.started_at, p_now)
      FROM (
        SELECT t.job_seq, count(*) AS claimed, count(*) FILTER (WHERE t.kind = 'page') AS claimed_pages
        FROM taken t GROUP BY t.job_seq
      ) c
      WHERE j.seq = c.job_seq
    )
    SELECT t.id, t.job_seq, j.id, t.kind, t.url, t.at_url, t.hops, t.url_key, t.depth, t.attempts, t.trace
    FROM taken t JOIN jobs j ON j.seq = t.job_seq
    ORDER BY t.rank, t.id;
    GET DIAGNOSTICS claimed = ROW_COUNT;
    IF claimed < cardinality(chosen) THEN
      RAISE serialization_failure USING MESSAGE = 'the tasks of the host have changed';
    END IF;
  END
  $$;

  CREATE FUNCTION claim_in_turn(
    p_host bigint, p_epoch bigint, p_limit integer, p_now bigint, p_except bigint[], p_turns text
  )
  RETURNS TABLE (
    id bigint, job_seq bigint, job_id text, kind text, url text, at_url text, hops integer, url_key text,
    depth integer, attempts integer, trace jsonb, interruptions integer, lone_interruptions integer,
    is_bounded boolean
  )
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    PERFORM set_config('scrapifie.turns', p_turns, true);
    RETURN QUERY SELECT * FROM claim_bounded(p_host, p_epoch, p_limit, p_now, p_except);
  END
  $$;
`;
