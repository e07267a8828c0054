-- Keeps snapshot_usage up to date.
CREATE FUNCTION count_snapshots() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO snapshot_usage (account_id, bytes)
  SELECT a.account_id, sum(a.bytes)::bigint FROM added a GROUP BY a.account_id ORDER BY a.account_id
  ON CONFLICT (account_id) DO UPDATE SET bytes = snapshot_usage.bytes + excluded.bytes;
  RETURN NULL;
END
$$;

CREATE TRIGGER count_snapshots AFTER INSERT ON snapshots REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_snapshots();

CREATE FUNCTION discount_snapshots() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE snapshot_usage u SET bytes = u.bytes - g.bytes
  FROM (SELECT r.account_id, sum(r.bytes)::bigint AS bytes FROM removed r GROUP BY r.account_id) g
  WHERE u.account_id = g.account_id;
  RETURN NULL;
END
$$;

CREATE TRIGGER discount_snapshots AFTER DELETE ON snapshots REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION discount_snapshots();
