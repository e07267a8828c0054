/**
 * The audit log as a hash chain; `auditHash` in core/model/audit-chain.ts defines the hashed text. `audit_head` is the lock of
 * the writers, and has the last entry. Programs of the last version go on writing to `audit`: a trigger
 * appends their entries to the chain.
 */
export const POSTGRES_AUDIT_TABLES = `
  CREATE TABLE audit_log (
    seq bigint PRIMARY KEY,
    at bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    details text NOT NULL,
    -- Unique: a chain that forks cannot be stored.
    previous_hash text NOT NULL UNIQUE,
    hash text NOT NULL
  );
  CREATE INDEX audit_log_action ON audit_log (action, seq);
  CREATE TABLE audit_head (
    id integer PRIMARY KEY CHECK (id = 1),
    seq bigint NOT NULL,
    hash text NOT NULL
  );
  INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, repeat('0', 64));

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
      new_hash := audit_digest(concat_ws(E'\\n', head.hash, head.seq + 1, entry.at, audit_digest(entry.actor),
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

  -- JSON as JSON.stringify writes it, without the spaces that PostgreSQL puts in.
  CREATE FUNCTION compact_json(content jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE jsonb_typeof(content)
      WHEN 'object' THEN '{' || coalesce((
        SELECT string_agg(to_json(key)::text || ':' || compact_json(value), ',' ORDER BY place)
        FROM jsonb_each(content) WITH ORDINALITY AS e (key, value, place)), '') || '}'
      WHEN 'array' THEN '[' || coalesce((
        SELECT string_agg(compact_json(value), ',' ORDER BY place)
        FROM jsonb_array_elements(content) WITH ORDINALITY AS e (value, place)), '') || ']'
      ELSE content::text
    END
  $$;
  SELECT append_audit(coalesce(json_agg(json_build_object('at', at, 'actor', actor, 'action', action,
    'target', target, 'details', compact_json(details)) ORDER BY id), '[]')) FROM audit;

  CREATE FUNCTION forward_audit() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM append_audit(json_build_array(json_build_object('at', NEW.at, 'actor', NEW.actor, 'action', NEW.action,
      'target', NEW.target, 'details', compact_json(NEW.details))));
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER audit_forward AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION forward_audit();
`;
