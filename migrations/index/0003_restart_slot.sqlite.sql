-- The restart of the cluster for which the tables were built, by its sysvar LastRestartSlot; NULL before it is known.
ALTER TABLE chain_meta ADD COLUMN restart_slot INTEGER;
