-- The pause of an unreachable robots.txt grows with the requests that failed.

ALTER TABLE robots ADD COLUMN failures integer NOT NULL DEFAULT 0;
