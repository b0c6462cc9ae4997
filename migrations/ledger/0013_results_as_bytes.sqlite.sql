-- Results are bytes, because their text may hold U+0000; they may lie in an object storage instead, and are dropped when
-- they are old, after which the row says what they were by their hash.
--
-- Where a result is: here while `result` is not null, else in the storage while `object_stored` is 1, else nowhere any more.
CREATE TABLE results_as_bytes (
  execution_id         TEXT PRIMARY KEY,
  result               BLOB,
  -- Bytes of the result, wherever it is.
  size                 INTEGER NOT NULL,
  object_stored        INTEGER NOT NULL DEFAULT 0,
  result_hash          TEXT NOT NULL,
  signature            TEXT NOT NULL,
  execution_signature  TEXT,
  tokens_used          INTEGER,
  steps                TEXT,
  execution_time_ms    INTEGER NOT NULL,
  token                TEXT NOT NULL,
  verified_ms          INTEGER NOT NULL
) STRICT;
INSERT INTO results_as_bytes (
  execution_id, result, size, result_hash, signature, execution_signature, tokens_used, steps, execution_time_ms, token,
  verified_ms
)
SELECT
  execution_id, CAST(result AS BLOB), length(CAST(result AS BLOB)), result_hash, signature, execution_signature,
  tokens_used, steps, execution_time_ms, token, verified_ms
FROM results;
DROP TABLE results;
ALTER TABLE results_as_bytes RENAME TO results;

-- What grows old, and what belongs into the storage.
CREATE INDEX results_kept ON results (verified_ms) WHERE result IS NOT NULL OR object_stored = 1;
CREATE INDEX results_here ON results (size) WHERE result IS NOT NULL;

CREATE TABLE late_answers_as_bytes (
  execution_id         TEXT PRIMARY KEY,
  result               BLOB NOT NULL,
  result_hash          TEXT NOT NULL,
  signature            TEXT NOT NULL,
  execution_signature  TEXT,
  received_ms          INTEGER NOT NULL
) STRICT;
INSERT INTO late_answers_as_bytes (execution_id, result, result_hash, signature, execution_signature, received_ms)
SELECT execution_id, CAST(result AS BLOB), result_hash, signature, execution_signature, received_ms FROM late_answers;
DROP TABLE late_answers;
ALTER TABLE late_answers_as_bytes RENAME TO late_answers;
CREATE INDEX late_answers_by_age ON late_answers (received_ms);
