-- Owner: the relay, the only process that writes these tables.
-- What a key may do beyond its grant on-chain, and what makes a repeated request one execution.

-- Restrictions that the wallet itself asked for, on top of the grant's. NULL is none.
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'execute read';
ALTER TABLE api_keys ADD COLUMN expires_ms INTEGER;
-- Comma-separated CIDR blocks.
ALTER TABLE api_keys ADD COLUMN allowed_ips TEXT;

-- SHA-256 of agent and canonical body, where the request carried an Idempotency-Key; the key itself is in the nonce.
ALTER TABLE executions ADD COLUMN fingerprint TEXT;
-- Network fees of the transactions signed for this execution, lamports.
ALTER TABLE executions ADD COLUMN fees INTEGER NOT NULL DEFAULT 0;

-- What a wallet has open, and what its failed executions cost the fee payer: read before each call.
CREATE INDEX executions_open_by_wallet ON executions (wallet)
  WHERE state NOT IN ('settled', 'refunded', 'void');
CREATE INDEX executions_failed_by_wallet ON executions (wallet, created_ms, error_code, fees)
  WHERE state IN ('refunding', 'refunded', 'void');

-- Final answers, byte for byte as they were given, for a day: later ones are written anew from the journal.
CREATE TABLE answers (
  execution_id  TEXT PRIMARY KEY,
  status        INTEGER NOT NULL,
  body          BLOB NOT NULL,
  answered_ms   INTEGER NOT NULL
) STRICT;
CREATE INDEX answers_by_age ON answers (answered_ms);
