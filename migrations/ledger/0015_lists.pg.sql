-- Owner: the relay, the only kind of process that writes these tables.
-- What lists ask of the journal, where the chain does not know it yet: few rows, however many a wallet has.

DROP INDEX executions_by_wallet;

-- Ends that the index may not have yet, because they are recent.
CREATE INDEX executions_settled_by_wallet ON executions (wallet, settled_at) WHERE state IN ('settled', 'refunded');
-- Ends that are not proven yet.
CREATE INDEX executions_unproven_by_wallet ON executions (wallet)
  WHERE state IN ('settled', 'refunded', 'void') AND is_final = 0;
-- What the chain will never know, newest first.
CREATE INDEX executions_void_by_wallet
  ON executions (wallet, (coalesce(opened_at, accepted_at)) DESC, created_ms DESC, execution_id DESC, listing)
  WHERE state = 'void' AND is_final = 1;

-- What has come lately, here or at another relay.
CREATE INDEX metadata_by_age ON metadata (received_ms);
