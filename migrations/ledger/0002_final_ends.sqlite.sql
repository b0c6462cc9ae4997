-- The relay decides only by final blocks, which never come back. So the end of a row is final when it is written, and nothing
-- follows rows until then.
DROP INDEX executions_not_final;
DROP INDEX executions_unproven_by_wallet;
DROP INDEX executions_landed;
DROP INDEX executions_void_by_wallet;
ALTER TABLE executions DROP COLUMN is_final;
-- Opens that accounts of an earlier slot do not show yet.
CREATE INDEX executions_landed ON executions (wallet, opened_slot) WHERE opened_slot IS NOT NULL;
-- Calls that never reach the chain, newest first.
CREATE INDEX executions_void_by_wallet
  ON executions (wallet, coalesce(opened_at, accepted_at) DESC, created_ms DESC, execution_id DESC, listing)
  WHERE state IN ('returned', 'void');
-- A void row had a result only if the chain had dropped its open.
DELETE FROM results WHERE execution_id IN (SELECT execution_id FROM executions WHERE state = 'void');
