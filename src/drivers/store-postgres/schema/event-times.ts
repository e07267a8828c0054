import { BY_INDEX } from './frontier-functions.ts';

/**
 * The times of a job's events never go back. They come from the statement that writes, whose transaction may have
 * begun before another one that has committed meanwhile, and from columns of the job. Programs of the version before
 * call the same function.
 */
export const EVENT_TIMES = `
  CREATE OR REPLACE FUNCTION write_event(p_type text, p_account text, p_job text, p_at bigint, p_data jsonb) RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    now_era bigint := event_era();
    last_event record;
    last_tx bigint;
    last_at bigint;
  BEGIN
    IF p_job IS NOT NULL THEN
      SELECT e.era, e.tx, e.at INTO last_event FROM events e
      WHERE e.job_id = p_job ORDER BY e.era DESC, e.tx DESC, e.seq DESC LIMIT 1;
      IF FOUND THEN
        last_at := last_event.at;
        -- Numbers of transactions are compared within one era alone.
        IF last_event.era = now_era THEN last_tx := last_event.tx; END IF;
      END IF;
    END IF;
    INSERT INTO events (era, tx, seq, type, account_id, job_id, at, data)
    VALUES (
      now_era, greatest(pg_current_xact_id()::text::bigint, last_tx), nextval('event_seq'), p_type, p_account, p_job,
      greatest(p_at, last_at), p_data
    );
  END
  $$;
`;
