/**
 * Which incarnation of the store this is. See `Store`: one that may have gone back in time is another one.
 *
 * The row `incarnation` names the run of the server that registered it: the start of the postmaster, which is another
 * after a restart, a restored base backup and on every replica, and the timeline, which is another after a promotion.
 * It also names the transaction that wrote it: a row that came from a dump was written by another. Whatever does not
 * match is replaced by the first call that needs an incarnation. Only functions that every role may call are used.
 *
 * A lease of another incarnation gets an epoch that no host and no task has. So each function that takes an epoch
 * refuses it, whichever version of it a program calls.
 */
export const INCARNATION_FUNCTIONS = `
  CREATE TABLE incarnation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    id uuid NOT NULL,
    server_run text NOT NULL,
    registered_by xid NOT NULL,
    -- When it was registered, by the clock of the server. NULL: the first of this database, before which none owned a host.
    since bigint
  );
  -- The incarnation in which the host was acquired last.
  ALTER TABLE hosts ADD COLUMN leased_in uuid;

  CREATE FUNCTION server_run() RETURNS text
  LANGUAGE sql STABLE AS $$
    SELECT extract(epoch FROM pg_postmaster_start_time())::text || CASE
      WHEN pg_is_in_recovery() THEN ' standby'
      ELSE ' timeline ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END
  $$;

  CREATE FUNCTION clock_ms() RETURNS bigint
  LANGUAGE sql VOLATILE AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

  CREATE FUNCTION current_incarnation() RETURNS uuid
  LANGUAGE plpgsql AS $$
  DECLARE
    run text := server_run();
    known uuid := (SELECT id FROM incarnation WHERE server_run = run AND xmin = registered_by);
  BEGIN
    IF known IS NOT NULL THEN RETURN known; END IF;
    -- Of several that come first, one registers and the others wait for it here and find its row.
    INSERT INTO incarnation AS i (id, server_run, registered_by)
    VALUES (gen_random_uuid(), run, pg_current_xact_id()::xid)
    ON CONFLICT (is_only) DO UPDATE
    SET id = excluded.id, server_run = excluded.server_run, registered_by = excluded.registered_by, since = clock_ms()
    WHERE i.server_run <> excluded.server_run OR i.xmin <> i.registered_by;
    RETURN (SELECT id FROM incarnation);
  END
  $$;

  CREATE FUNCTION lease_epoch(p_epoch bigint, p_incarnation text) RETURNS bigint
  LANGUAGE plpgsql AS $$
  BEGIN
    RETURN CASE WHEN p_incarnation = current_incarnation()::text THEN p_epoch ELSE -1 END;
  END
  $$;

  CREATE FUNCTION lease_epochs(p_epochs bigint[], p_incarnations text[]) RETURNS bigint[]
  LANGUAGE plpgsql AS $$
  DECLARE
    known text := current_incarnation()::text;
  BEGIN
    -- Nearly always: every lease of a batch is of the same incarnation, and that is the store's.
    IF known = ALL (p_incarnations) THEN RETURN p_epochs; END IF;
    RETURN ARRAY(
      SELECT CASE WHEN l.incarnation = known THEN l.epoch ELSE -1 END
      FROM unnest(p_epochs, p_incarnations) WITH ORDINALITY AS l (epoch, incarnation, ord) ORDER BY l.ord
    );
  END
  $$;

  -- The host's key when the host may be acquired now, as far as incarnations are concerned, else NULL. p_former is the
  -- incarnation of the asking owner's lease that this one has called lost, or NULL: see HostStore.acquireHost.
  CREATE FUNCTION acquirable(p_key text, p_former text, p_lease_ms bigint) RETURNS text
  LANGUAGE plpgsql AS $$
  DECLARE
    known uuid := current_incarnation();
    host bigint;
  BEGIN
    IF p_former IS NULL THEN
      RETURN CASE WHEN (SELECT since FROM incarnation) + p_lease_ms > clock_ms() THEN NULL ELSE p_key END;
    END IF;
    IF p_former = known::text THEN RETURN NULL; END IF;
    SELECT id INTO host FROM hosts WHERE key = p_key AND owner IS NOT NULL AND leased_in IS DISTINCT FROM known;
    IF host IS NOT NULL THEN
      -- Jobs before hosts, as everywhere.
      PERFORM lock_claims(host);
      UPDATE hosts SET lease_until = 0 WHERE id = host AND owner IS NOT NULL AND leased_in IS DISTINCT FROM known;
    END IF;
    RETURN p_key;
  END
  $$;

  -- Notes in which incarnation the host was acquired. is_forgotten: what this incarnation knows of the last request may
  -- be too old. Only for ten minutes from its beginning: later the former owners have been silent for longer than the
  -- pause of nearly every host, and hosts that are new should not wait for their first request.
  CREATE FUNCTION note_lease(p_host bigint, OUT incarnation text, OUT is_forgotten boolean)
  LANGUAGE plpgsql AS $$
  DECLARE
    known uuid := current_incarnation();
  BEGIN
    UPDATE hosts SET leased_in = known WHERE id = p_host AND leased_in IS DISTINCT FROM known;
    is_forgotten := FOUND AND EXISTS (SELECT FROM incarnation i WHERE i.since > clock_ms() - 600000);
    incarnation := known::text;
  END
  $$;
`;
