import { COUNTERS } from '../../store-rows/credit-rows.ts';
import { BY_INDEX } from './frontier-functions.ts';

const COLUMNS = COUNTERS.join(', ');
const SUMS = COUNTERS.map((name) => `sum(${name})::bigint`).join(', ');
const ADDED = COUNTERS.map((name) => `${name} = s.${name} + excluded.${name}`).join(', ');

/** What commits used. They only add rows to a log, so that commits of different jobs do not wait for each other. */
export const USAGE_FUNCTIONS = `
  -- Stops the jobs whose credits are spent. The caller holds their rows. Returns their ids.
  CREATE FUNCTION stop_overspent(p_jobs bigint[], p_now bigint) RETURNS text[]
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    spent record;
    stopped text[] := '{}';
  BEGIN
    FOR spent IN
      SELECT seq, id FROM jobs
      WHERE seq = ANY (p_jobs) AND stop_reason IS NULL AND status <> 'cancelled' AND open > 0 AND microcredits > 0
        AND microcredits >= (options -> 'budgets' ->> 'maxMicrocredits')::bigint
    LOOP
      PERFORM stop_job(spent.seq, 'budget.credits', p_now);
      stopped := stopped || spent.id;
    END LOOP;
    RETURN stopped;
  END
  $$;

  -- As commit_pages; what completions with an "engine" in p_ends used is logged and charged.
  CREATE FUNCTION commit_paid(
    p_id uuid, p_now bigint, p_tasks bigint[], p_claim_jobs bigint[], p_claim_hosts bigint[], p_epochs bigint[],
    p_ends json, p_pages json, p_records bytea[], p_found json, p_hosts text[], p_provisional text[]
  ) RETURNS jsonb
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    answer jsonb := commit_pages(
      p_id, p_now, p_tasks, p_claim_jobs, p_claim_hosts, p_epochs, p_ends, p_pages, p_records, p_found, p_hosts,
      p_provisional
    );
    charged bigint[];
    finished text[];
    stopped text[];
    spent record;
  BEGIN
    -- A row that another transaction has written is the answer of the first time, when all of this was done.
    IF NOT (SELECT xmin = pg_current_xact_id()::xid FROM commits WHERE id = p_id) THEN RETURN answer; END IF;

    WITH used AS MATERIALIZED (
      SELECT p_claim_jobs[s.ord] AS job, p_claim_hosts[s.ord] AS host, s.engine, sum(s.pages)::bigint AS pages,
        count(*) AS attempts, sum(s.bytes)::bigint AS bytes, sum(coalesce(s.browser_ms, 0))::bigint AS browser_ms,
        sum(coalesce(s.proxy_bytes, 0))::bigint AS proxy_bytes, sum(s.tokens)::bigint AS tokens,
        sum(s.microcredits)::bigint AS microcredits
      FROM json_to_recordset(p_ends) AS s (
        ord integer, engine text, pages integer, bytes bigint, browser_ms bigint, proxy_bytes bigint, tokens bigint,
        microcredits bigint
      )
      WHERE s.engine IS NOT NULL AND NOT (answer -> 'rejected' @> to_jsonb(p_tasks[s.ord]))
      GROUP BY 1, 2, 3
    ),
    logged AS (
      INSERT INTO usage_log (account_id, key_id, job_id, engine, host, day, ${COLUMNS})
      SELECT j.account_id, coalesce(j.key_id, ''), j.id, u.engine, h.key, p_now / 86400000,
        ${COUNTERS.map((name) => `u.${name}`).join(', ')}
      FROM used u JOIN jobs j ON j.seq = u.job JOIN hosts h ON h.id = u.host
    ),
    costs AS (
      UPDATE jobs j SET microcredits = j.microcredits + c.microcredits
      FROM (
        SELECT job, sum(microcredits)::bigint AS microcredits FROM used GROUP BY job HAVING sum(microcredits) <> 0
      ) c
      WHERE j.seq = c.job
      RETURNING j.seq
    )
    SELECT array_agg(seq) INTO charged FROM costs;
    IF charged IS NULL THEN RETURN answer; END IF;

    FOR spent IN
      SELECT j.seq, j.account_id, j.finished_at, (
        SELECT sum(s.microcredits)::bigint FROM json_to_recordset(p_ends) AS s (ord integer, microcredits bigint)
        WHERE p_claim_jobs[s.ord] = j.seq AND NOT (answer -> 'rejected' @> to_jsonb(p_tasks[s.ord]))
      ) AS cost
      FROM jobs j JOIN credits c ON c.account_id = j.account_id AND c.is_limited
      WHERE j.seq = ANY (charged) ORDER BY j.account_id, j.seq
    LOOP
      PERFORM charge_hold(spent.seq, spent.account_id, spent.cost, p_now);
      IF spent.finished_at IS NOT NULL THEN PERFORM return_hold(spent.seq, p_now); END IF;
    END LOOP;

    stopped := stop_overspent(charged, p_now);
    IF stopped = '{}' THEN RETURN answer; END IF;
    SELECT s.finished INTO finished FROM settle(ARRAY(SELECT seq FROM jobs WHERE id = ANY (stopped)), p_now) s;
    answer := answer || jsonb_build_object(
      'stoppedJobs', (answer -> 'stoppedJobs') || to_jsonb(stopped),
      'finishedJobs', (answer -> 'finishedJobs') || to_jsonb(finished)
    );
    UPDATE commits SET receipt = answer WHERE id = p_id;
    RETURN answer;
  END
  $$;

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
      INSERT INTO usage_sums AS s (account_id, grouped_by, day, value, ${COLUMNS})
      SELECT g.account_id, v.grouped_by, g.day, v.value, ${SUMS}
      FROM gone g, LATERAL (VALUES
        ('day', to_char(date '1970-01-01' + g.day::integer, 'YYYY-MM-DD')), ('key', g.key_id), ('job', g.job_id),
        ('engine', g.engine), ('host', g.host)
      ) v (grouped_by, value)
      GROUP BY 1, 2, 3, 4
      ON CONFLICT (account_id, grouped_by, day, value) DO UPDATE SET ${ADDED}
    )
    SELECT count(*) INTO folded FROM gone;
    RETURN folded;
  END
  $$;
`;
