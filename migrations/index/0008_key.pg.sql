-- See 0008_key.sqlite.sql.
-- Older releases run on it.
CREATE INDEX executions_by_key
  ON executions (key_id, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC)
  WHERE key_id IS NOT NULL;
