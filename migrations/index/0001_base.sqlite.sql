-- What only SQLite has, or writes otherwise.

CREATE INDEX executions_by_caller_status
  ON executions (caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
CREATE INDEX executions_by_listing_caller
  ON executions (listing, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
-- A wallet lists the executions of one of its keys.
CREATE INDEX executions_by_key
  ON executions (key_id, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC)
  WHERE key_id IS NOT NULL;

INSERT INTO sqlite_sequence (name, seq) VALUES ('agents', CAST(unixepoch('subsec') * 1000000 AS INTEGER));

CREATE VIEW active_agents AS
SELECT
  l.listing,
  l.creator,
  coalesce(c.verified, 0) AS verified,
  l.price,
  l.tag_mask,
  l.listed_at,
  l.metadata_hash,
  -- SQLite has no other way from hexadecimal digits to a number.
  ('0x' || substr(l.metadata_hash, 1, 15)) ->> '$' AS document,
  coalesce(s.total_executions, 0) AS total_executions,
  coalesce(s.success_rate, 0.0) AS success_rate,
  (coalesce(s.successful_executions, 0) + 5.0) / (coalesce(s.total_executions, 0) + 10.0) AS score,
  coalesce(s.avg_execution_time_ms, 0) AS avg_execution_time_ms
FROM listings AS l
LEFT JOIN creators AS c ON c.wallet = l.creator
LEFT JOIN agent_statistics AS s ON s.listing = l.listing
WHERE l.status = 'active';
