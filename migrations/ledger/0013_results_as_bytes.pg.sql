-- As 0013_results_as_bytes.sqlite.sql says. No ledger on this database is older than this file, so nothing is converted.
ALTER TABLE results DROP COLUMN result;
ALTER TABLE results ADD COLUMN result BYTEA;
ALTER TABLE results ADD COLUMN size BIGINT NOT NULL;
ALTER TABLE results ADD COLUMN object_stored BIGINT NOT NULL DEFAULT 0;
CREATE INDEX results_kept ON results (verified_ms) WHERE result IS NOT NULL OR object_stored = 1;
CREATE INDEX results_here ON results (size) WHERE result IS NOT NULL;

ALTER TABLE late_answers DROP COLUMN result;
ALTER TABLE late_answers ADD COLUMN result BYTEA NOT NULL;
