-- Owner: the relay, the only kind of process that writes these tables.
-- What a repeated call is answered, and whose failures count against an agent.

-- An asynchronous call that was repeated after its end kept "pending" as its last answer for ever.
DELETE FROM answers WHERE json_extract(CAST(body AS TEXT), '$.status') = 'pending';

-- The longest that the listing gave its agent at the time: less is the caller's wish. NULL for older rows.
ALTER TABLE executions ADD COLUMN listing_timeout_seconds INTEGER;

-- Health counts wallets, and not what was cut short by its caller.
DROP INDEX executions_ended_by_listing;
CREATE INDEX executions_ended_by_listing
  ON executions (listing, created_ms, state, refund_reason, execution_time_ms, wallet, timeout_seconds,
    listing_timeout_seconds)
  WHERE state IN ('settled', 'refunding', 'refunded');
