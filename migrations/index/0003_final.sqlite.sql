-- Written by the indexer.
-- Rows are final when they are written, so nothing is undone any more, and no slot is compared with the chain a second time.
DROP TABLE undo;
DROP TABLE undo_floor;
DROP TABLE readings;
DROP TABLE history_walk;
ALTER TABLE backfill DROP COLUMN finalized_slot;
ALTER TABLE progress DROP COLUMN finalized_slot;
-- The sysvar LastRestartSlot of the chain that the tables show. A cluster that restarts may continue from before its last final
-- slot, so the tables are built again when it changes. NULL until it was read for the first time.
ALTER TABLE chain_meta ADD COLUMN restart_slot INTEGER;
