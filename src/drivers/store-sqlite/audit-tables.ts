import { NO_HASH } from '../../core/model/audit-chain.ts';

/**
 * The audit log as a hash chain, with the entries of the table it replaces. `sha256` is a function of the connection
 * (see database.ts): SQLite has none of its own. Inserting over an entry (INSERT OR REPLACE) fires no trigger for the
 * row that it deletes, so it is refused before.
 */
export const SQLITE_AUDIT_TABLES = `
  CREATE TABLE audit_log (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    previous_hash TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL
  );
  CREATE INDEX audit_log_action ON audit_log (action, seq);
  CREATE TABLE audit_head (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL);

  INSERT INTO audit_log (seq, at, actor, action, target, details, previous_hash, hash)
  WITH RECURSIVE
    numbered AS MATERIALIZED (SELECT row_number() OVER (ORDER BY id) AS seq, * FROM audit),
    chain (seq, id, previous_hash, hash) AS (
      SELECT 0, 0, '', '${NO_HASH}'
      UNION ALL
      SELECT n.seq, n.id, c.hash, sha256(concat_ws(char(10), c.hash, n.seq, n.at, sha256(n.actor), sha256(n.action),
        sha256(n.target), sha256(n.details)))
      FROM chain c JOIN numbered n ON n.seq = c.seq + 1
    )
  SELECT c.seq, a.at, a.actor, a.action, a.target, a.details, c.previous_hash, c.hash
  FROM chain c JOIN audit a ON a.id = c.id WHERE c.seq > 0 ORDER BY c.seq;
  INSERT INTO audit_head (id, seq, hash) SELECT 1, coalesce(max(seq), 0), '${NO_HASH}' FROM audit_log;
  UPDATE audit_head SET hash = coalesce((SELECT l.hash FROM audit_log l WHERE l.seq = audit_head.seq), hash);
  DROP TABLE audit;

  CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
  CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
  CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
    WHEN EXISTS (SELECT 1 FROM audit_log WHERE seq = NEW.seq OR previous_hash = NEW.previous_hash)
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
  CREATE TRIGGER audit_head_no_delete BEFORE DELETE ON audit_head
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
  CREATE TRIGGER audit_head_forward BEFORE UPDATE ON audit_head WHEN NEW.seq < OLD.seq
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
`;
