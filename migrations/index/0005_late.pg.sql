-- See 0005_late.sqlite.sql.
ALTER TABLE events ADD COLUMN applied_slot BIGINT;
CREATE INDEX events_late ON events (applied_slot) WHERE applied_slot IS NOT NULL;
