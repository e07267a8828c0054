-- What follows from changes of jobs and of snapshots.

-- A job with the option of a reader that is made, or goes on, ends the rest of the reader.
CREATE TRIGGER wake_readers_of_new AFTER INSERT ON jobs BEGIN
  UPDATE readers SET era = (SELECT era FROM event_log), tx = 0, seq = (SELECT last_seq FROM event_log)
  WHERE era IS NULL AND json_type(NEW.options, '$.' || option) IS NOT NULL;
END;
CREATE TRIGGER wake_readers_of_resumed AFTER UPDATE OF finished_at ON jobs
WHEN OLD.finished_at IS NOT NULL AND NEW.finished_at IS NULL BEGIN
  UPDATE readers SET era = (SELECT era FROM event_log), tx = 0, seq = (SELECT last_seq FROM event_log)
  WHERE era IS NULL AND json_type(NEW.options, '$.' || option) IS NOT NULL;
END;

-- What the snapshots of an account add up to.
CREATE TRIGGER count_snapshot AFTER INSERT ON snapshots BEGIN
  INSERT INTO snapshot_usage (account_id, bytes) VALUES (NEW.account_id, NEW.bytes)
    ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER discount_snapshot AFTER DELETE ON snapshots BEGIN
  UPDATE snapshot_usage SET bytes = bytes - OLD.bytes WHERE account_id = OLD.account_id;
END;
