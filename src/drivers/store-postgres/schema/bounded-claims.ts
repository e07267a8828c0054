import { HELD_HOSTS, REST } from '../../store-rows/bounded-claims.ts';
import { BY_INDEX } from './frontier-functions.ts';

/**
 * Claims within the number of pages that accounts may fetch at the same time; see HostStore.claimTasks. Installations
 * without such accounts pay for one look at an empty index.
 *
 * Claims of one account wait for each other, each in a transaction of its own: the function takes no other lock once it
 * has the lock of an account, so there are no deadlocks.
 */
export const BOUNDED_CLAIMS = `
  CREATE INDEX accounts_bounded ON accounts (id) WHERE concurrent_pages IS NOT NULL OR disabled_at IS NOT NULL;
  -- The account whose tasks were last held back on the host, and until when the host need not be offered for them.
  ALTER TABLE hosts ADD COLUMN held_for text;
  ALTER TABLE hosts ADD COLUMN held_until bigint;
  CREATE INDEX hosts_held ON hosts (held_for, held_until) WHERE held_for IS NOT NULL;

  -- Rows without "id" name jobs of accounts that have no place left: the caller asks again without them.
  CREATE FUNCTION claim_bounded(p_host bigint, p_epoch bigint, p_limit integer, p_now bigint, p_except bigint[])
  RETURNS TABLE (
    id bigint, job_seq bigint, job_id text, kind text, url text, at_url text, hops integer, url_key text,
    depth integer, attempts integer, trace jsonb, interruptions integer, lone_interruptions integer,
    is_bounded boolean
  )
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  #variable_conflict use_column
  DECLARE
    batch bigint[];
    surplus bigint[];
    returned bigint[] := '{}';
    full_accounts text[] := '{}';
    bounded_jobs bigint[] := '{}';
    account record;
    places bigint;
    waiting bigint;
  BEGIN
    IF NOT EXISTS (
      SELECT FROM accounts a WHERE a.concurrent_pages IS NOT NULL OR a.disabled_at IS NOT NULL
    ) THEN
      RETURN QUERY SELECT c.*, false FROM claim_paid(p_host, p_epoch, p_limit, p_now, p_except) c;
      RETURN;
    END IF;
    SELECT array_agg(c.id) INTO batch FROM claim_paid(p_host, p_epoch, p_limit, p_now, p_except) c;
    IF batch IS NULL THEN RETURN; END IF;

    FOR account IN
      SELECT a.id, CASE WHEN a.disabled_at IS NULL THEN a.concurrent_pages ELSE 0 END AS most,
        array_agg(t.id ORDER BY t.rank, t.id) AS tasks, array_agg(DISTINCT j.seq) AS jobs
      FROM tasks t JOIN jobs j ON j.seq = t.job_seq JOIN accounts a ON a.id = j.account_id
      WHERE t.id = ANY (batch) AND (a.concurrent_pages IS NOT NULL OR a.disabled_at IS NOT NULL)
      GROUP BY a.id ORDER BY a.id
    LOOP
      bounded_jobs := bounded_jobs || account.jobs;
      PERFORM pg_advisory_xact_lock(hashtextextended('places of ' || account.id, 0));
      SELECT account.most - coalesce(sum(j.claimed), 0) + cardinality(account.tasks) INTO places
      FROM jobs j WHERE j.account_id = account.id AND j.finished_at IS NULL;
      SELECT count(*) INTO waiting FROM (
        SELECT FROM hosts h WHERE h.held_for = account.id AND h.held_until > p_now AND h.id <> p_host
        LIMIT ${HELD_HOSTS.mostCounted}
      ) w;
      -- While other hosts wait for a place, none takes more than one at once, and each rests now and then.
      IF waiting > 0 THEN
        places := CASE WHEN (p_now / ${REST.stepMs} + p_host) % ${REST.steps} = 0 THEN 0 ELSE least(places, 1) END;
      END IF;
      CONTINUE WHEN places >= cardinality(account.tasks);
      surplus := account.tasks[greatest(places, 0) + 1 : ];
      UPDATE tasks t SET state = 'ready' WHERE t.id = ANY (surplus);
      UPDATE jobs j SET claimed = j.claimed - c.claimed, claimed_pages = j.claimed_pages - c.pages
      FROM (
        SELECT t.job_seq, count(*) AS claimed, count(*) FILTER (WHERE t.kind = 'page') AS pages
        FROM tasks t WHERE t.id = ANY (surplus) GROUP BY t.job_seq
      ) c
      WHERE j.seq = c.job_seq;
      UPDATE hosts h SET held_for = account.id, held_until = p_now
        + least(${HELD_HOSTS.longestMs}, greatest(${HELD_HOSTS.shortestMs}, waiting * ${HELD_HOSTS.eachMs}))
          * (8 + p_host % 8) / 8
      WHERE h.id = p_host;
      returned := returned || surplus;
      full_accounts := full_accounts || account.id;
    END LOOP;
    IF cardinality(full_accounts) = 0 AND cardinality(p_except) = 0 THEN
      UPDATE hosts h SET held_for = NULL, held_until = NULL WHERE h.id = p_host AND h.held_for IS NOT NULL;
    END IF;

    RETURN QUERY
    SELECT t.id, t.job_seq, j.id, t.kind, t.url, t.at_url, t.hops, t.url_key, t.depth, t.attempts, t.trace,
      t.interruptions, t.lone_interruptions, t.job_seq = ANY (bounded_jobs)
    FROM tasks t JOIN jobs j ON j.seq = t.job_seq WHERE t.id = ANY (batch) AND t.id <> ALL (returned)
    ORDER BY t.rank, t.id;
    RETURN QUERY
    SELECT NULL::bigint, j.seq, NULL::text, NULL::text, NULL::text, NULL::text, NULL::integer, NULL::text,
      NULL::integer, NULL::integer, NULL::jsonb, NULL::integer, NULL::integer, true
    FROM jobs j WHERE j.account_id = ANY (full_accounts) AND j.finished_at IS NULL AND j.seq <> ALL (p_except);
  END
  $$;

  -- As release_host; a host whose tasks were held back for an account is offered for them later, and for others at once.
  CREATE FUNCTION release_held(p_host bigint, p_epoch bigint, p_state jsonb, p_not_before bigint, p_now bigint)
  RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    PERFORM release_host(p_host, p_epoch, p_state, p_not_before, p_now);
    UPDATE hosts SET next_at = held_until
    WHERE id = p_host AND owner IS NULL AND held_until > next_at AND next_at <= greatest(p_now, p_not_before);
  END
  $$;
`;
