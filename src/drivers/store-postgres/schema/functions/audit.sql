-- Appending to the audit log, and refusing every change of an entry.

CREATE FUNCTION audit_digest(content text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(sha256(convert_to(content, 'UTF8')), 'hex')
$$;

-- One transaction at a time: the next one waits for the row of the head, and then reads what the first has committed.
CREATE FUNCTION append_audit(entries json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  head audit_head%ROWTYPE;
  entry record;
  new_hash text;
BEGIN
  SELECT * INTO STRICT head FROM audit_head WHERE id = 1 FOR UPDATE;
  FOR entry IN
    SELECT (value->>'at')::bigint AS at, value->>'actor' AS actor, value->>'action' AS action,
      value->>'target' AS target, value->>'details' AS details
    FROM json_array_elements(entries) WITH ORDINALITY ORDER BY ordinality
  LOOP
    new_hash := audit_digest(concat_ws(E'\n', head.hash, head.seq + 1, entry.at, audit_digest(entry.actor),
      audit_digest(entry.action), audit_digest(entry.target), audit_digest(entry.details)));
    INSERT INTO audit_log (seq, at, actor, action, target, details, previous_hash, hash)
      VALUES (head.seq + 1, entry.at, entry.actor, entry.action, entry.target, entry.details, head.hash, new_hash);
    head.seq := head.seq + 1;
    head.hash := new_hash;
  END LOOP;
  UPDATE audit_head SET seq = head.seq, hash = head.hash WHERE id = 1;
END
$$;

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The audit log is append-only: % on % is refused.', TG_OP, TG_TABLE_NAME;
END
$$;

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_head_kept BEFORE DELETE OR TRUNCATE ON audit_head
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_head_forward BEFORE UPDATE ON audit_head
  FOR EACH ROW WHEN (NEW.seq < OLD.seq) EXECUTE FUNCTION refuse_audit_change();
