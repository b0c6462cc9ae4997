-- Owner: the relay, the only kind of process that writes these tables.
-- What is known of creators' servers beyond the executions themselves.

-- Valid results that came after their deadline: the caller was refunded, nobody is paid. Evidence for thirty days.
CREATE TABLE late_answers (
  execution_id         TEXT PRIMARY KEY,
  result               TEXT NOT NULL,
  result_hash          TEXT NOT NULL,
  signature            TEXT NOT NULL,
  execution_signature  TEXT,
  received_ms          INTEGER NOT NULL
) STRICT;
CREATE INDEX late_answers_by_age ON late_answers (received_ms);

-- The last probe of each listing that was refused. Executions from before `passed_ms` are not held against it.
CREATE TABLE probes (
  listing    TEXT PRIMARY KEY,
  probed_ms  INTEGER NOT NULL,
  passed_ms  INTEGER
) STRICT;

-- How a listing's latest executions ended, all that is read for its health.
CREATE INDEX executions_ended_by_listing
  ON executions (listing, created_ms, state, refund_reason, execution_time_ms)
  WHERE state IN ('settled', 'refunding', 'refunded');
