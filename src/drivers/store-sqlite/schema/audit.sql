-- The audit log as a hash chain; auditHash in src/core/ports/audit-store.ts defines the hashed text. audit_head has the
-- last entry. Triggers refuse every change of an entry.

CREATE TABLE audit_log (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT NOT NULL,
  -- Unique: a chain that forks cannot be stored.
  previous_hash TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL
);
CREATE INDEX audit_log_action ON audit_log (action, seq);
CREATE TABLE audit_head (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL);
-- The hash of an empty chain is 64 zeros.
INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
-- INSERT OR REPLACE fires no trigger for the row that it deletes, so it is refused before.
CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
  WHEN EXISTS (SELECT 1 FROM audit_log WHERE seq = NEW.seq OR previous_hash = NEW.previous_hash)
  BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
CREATE TRIGGER audit_head_no_delete BEFORE DELETE ON audit_head
  BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
CREATE TRIGGER audit_head_forward BEFORE UPDATE ON audit_head WHEN NEW.seq < OLD.seq
  BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
