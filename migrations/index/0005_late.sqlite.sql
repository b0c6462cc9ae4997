-- Written by the indexer.
-- Relays follow the events by slot, so an event that is applied late would be in a slot that they have passed. `applied_slot` is
-- NULL for an event in the order of the chain. For a late one it is above every slot that the tables had reached, and relays
-- find it there.
ALTER TABLE events ADD COLUMN applied_slot INTEGER;
CREATE INDEX events_late ON events (applied_slot) WHERE applied_slot IS NOT NULL;
