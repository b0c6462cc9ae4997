-- Written by the indexer.
-- Older releases run on it.
-- A wallet lists the executions of one of its keys.
CREATE INDEX executions_by_key
  ON executions (key_id, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC)
  WHERE key_id IS NOT NULL;
