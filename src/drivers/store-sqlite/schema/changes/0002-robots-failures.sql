-- The pause of an unreachable robots.txt grows with the requests that failed.

ALTER TABLE robots ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
