-- index.db: where on the chain an execution was opened, whose fault a timeout is, and which transactions left no events.
-- The indexer is the only writer, as of all tables here; rows made before this file have NULL in the new columns.

-- The slot of the transaction that opened it, and how many of the program's executions that slot had opened before:
-- together the order of the chain, which seconds cannot tell. NULL where the opening transaction is not known.
ALTER TABLE executions ADD COLUMN opened_slot INTEGER;
ALTER TABLE executions ADD COLUMN open_index INTEGER;
CREATE INDEX executions_by_opened_slot ON executions (opened_slot, open_index);

-- The listing's own timeout when the execution was opened; NULL where that version of the listing was not seen.
ALTER TABLE executions ADD COLUMN listing_timeout_seconds INTEGER;

-- Transactions that were applied and have no row in `events`: their accounts were read instead, or they hold no event.
-- With `events` this says what is known, so that a transaction which a node listed late is found.
CREATE TABLE eventless_transactions (
  signature TEXT PRIMARY KEY,
  slot INTEGER NOT NULL
) STRICT;

-- As in 0001, but a timeout counts only where the caller gave the agent the time that its listing asks for. The index
-- holds all that the statistics read, so that they never touch the table itself.
DROP VIEW agent_statistics;
DROP INDEX executions_by_listing;
CREATE INDEX executions_by_listing ON executions (
  listing, status, reason, execution_time_ms, dispute_count, opened_at, deadline, listing_timeout_seconds
);
CREATE VIEW agent_statistics AS
WITH judged AS (
  SELECT
    listing,
    status IN ('completed', 'disputed', 'dispute_upheld') AS settled,
    status IN ('completed', 'disputed') AS successful,
    status = 'refunded' AND coalesce(reason, 4) <= 3
      AND NOT (reason = 1 AND deadline - opened_at < coalesce(listing_timeout_seconds, 0)) AS failed,
    execution_time_ms,
    dispute_count
  FROM executions
)
SELECT
  listing,
  sum(settled + failed) AS total_executions,
  sum(successful) AS successful_executions,
  coalesce(1.0 * sum(successful) / nullif(sum(settled + failed), 0), 0.0) AS success_rate,
  CAST(coalesce(round(avg(CASE WHEN settled THEN execution_time_ms END)), 0) AS INTEGER) AS avg_execution_time_ms,
  sum(dispute_count) AS dispute_count
FROM judged
GROUP BY listing;
