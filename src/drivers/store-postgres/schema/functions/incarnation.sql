-- Which incarnation of the store this is. See Store: one that may have gone back in time is another one.
--
-- The row of the table incarnation names the run of the server that registered it: the start of the postmaster, which is
-- another after a restart, a restored base backup and on every replica, and the timeline, which is another after a promotion.
-- A row that does not match, or that another transaction wrote than it says, is replaced by the first call that needs an
-- incarnation. Only functions that every role may call are used.
--
-- A lease of another incarnation gets an epoch that no host and no task has, so each function that takes an epoch refuses it.

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
