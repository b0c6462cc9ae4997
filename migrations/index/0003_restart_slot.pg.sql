-- See 0003_restart_slot.sqlite.sql.
ALTER TABLE chain_meta ADD COLUMN restart_slot BIGINT;
