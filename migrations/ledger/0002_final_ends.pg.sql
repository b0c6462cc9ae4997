-- See 0002_final_ends.sqlite.sql.
DROP INDEX executions_not_final;
DROP INDEX executions_unproven_by_wallet;
DROP INDEX executions_landed;
DROP INDEX executions_void_by_wallet;
ALTER TABLE executions DROP COLUMN is_final;
CREATE INDEX executions_landed ON executions (wallet, opened_slot) WHERE opened_slot IS NOT NULL;
CREATE INDEX executions_void_by_wallet
  ON executions (wallet, (coalesce(opened_at, accepted_at)) DESC, created_ms DESC, execution_id DESC, listing)
  WHERE state IN ('returned', 'void');
DELETE FROM results WHERE execution_id IN (SELECT execution_id FROM executions WHERE state = 'void');
