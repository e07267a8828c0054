-- Work that only one process should do at a time, and the row that the health check writes.

CREATE TABLE work_leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL);
CREATE TABLE probe (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
