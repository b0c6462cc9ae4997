-- index.db: how a listing's executions ended, for its page and its creator; disputes and listings by whose they are.
-- The indexer is the only writer.

-- The statistics also add up what a creator was paid, and still read nothing but this index.
DROP VIEW agent_statistics;
DROP INDEX executions_by_listing;
CREATE INDEX executions_by_listing ON executions (
  listing, status, reason, execution_time_ms, dispute_count, opened_at, deadline, listing_timeout_seconds,
  creator_amount
);
-- A listing's latest ends, and those of some days.
CREATE INDEX executions_ended_by_listing ON executions (listing, settled_at DESC) WHERE status <> 'open';

CREATE INDEX listings_by_creator ON listings (creator, listed_at DESC);
CREATE INDEX disputes_by_caller ON disputes (caller, opened_at DESC);
CREATE INDEX disputes_by_listing ON disputes (listing, opened_at DESC);
CREATE INDEX disputes_by_outcome ON disputes (outcome, opened_at);

-- Whose fault an end was, said once: `failed` counts against the creator as in 0001 and 0004, `refunded` does not.
CREATE VIEW ended_executions AS
SELECT
  execution_id,
  listing,
  CASE
    WHEN status <> 'refunded' THEN status
    WHEN coalesce(reason, 4) <= 3
      AND NOT (reason = 1 AND deadline - opened_at < coalesce(listing_timeout_seconds, 0)) THEN 'failed'
    ELSE 'refunded'
  END AS outcome,
  execution_time_ms,
  creator_amount,
  dispute_count,
  settled_at
FROM executions
WHERE status <> 'open';

-- `earned` is the creator's share of all that was settled; what disputes took of the collateral is in `listings`.
CREATE VIEW agent_statistics AS
SELECT
  listing,
  sum(outcome <> 'refunded') AS total_executions,
  sum(outcome IN ('completed', 'disputed')) AS successful_executions,
  coalesce(1.0 * sum(outcome IN ('completed', 'disputed')) / nullif(sum(outcome <> 'refunded'), 0), 0.0)
    AS success_rate,
  CAST(coalesce(round(avg(CASE WHEN outcome NOT IN ('failed', 'refunded') THEN execution_time_ms END)), 0) AS INTEGER)
    AS avg_execution_time_ms,
  sum(dispute_count) AS dispute_count,
  sum(creator_amount) AS earned
FROM ended_executions
GROUP BY listing;
