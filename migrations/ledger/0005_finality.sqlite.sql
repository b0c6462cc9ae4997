-- Owner: the relay, the only kind of process that writes these tables.
-- What a confirmed transaction has ended is looked at once more when the chain cannot take it back any longer.

ALTER TABLE executions ADD COLUMN is_final INTEGER NOT NULL DEFAULT 0 CHECK (is_final IN (0, 1));
UPDATE executions SET is_final = 1 WHERE state IN ('settled', 'refunded');

CREATE INDEX executions_not_final ON executions (created_ms)
  WHERE state IN ('settled', 'refunded') AND is_final = 0;
