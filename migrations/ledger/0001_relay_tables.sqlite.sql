-- Owner: the relay, the only process that writes these tables.
-- They cannot be rebuilt from the chain: what was asked, what was answered, what was signed and not yet
-- known to have landed. The file is opened with synchronous=FULL; it is what a backup must hold.
-- Amounts are base units of USDC, *_at without suffix are unix seconds of the chain's clock,
-- *_ms are unix milliseconds of this machine.

-- The journal: one row per execution, moved forward only.
CREATE TABLE executions (
  execution_id            TEXT PRIMARY KEY,
  wallet                  TEXT NOT NULL,
  key_id                  TEXT NOT NULL,
  listing                 TEXT NOT NULL,
  listing_version         INTEGER NOT NULL,
  metadata_hash           TEXT NOT NULL,
  nonce                   TEXT NOT NULL,
  price                   INTEGER NOT NULL,
  max_cost                INTEGER NOT NULL,
  timeout_seconds         INTEGER NOT NULL,
  task                    TEXT NOT NULL,
  parameters              TEXT NOT NULL,
  request_hash            TEXT NOT NULL,
  state                   TEXT NOT NULL CHECK (state IN (
    'accepted', 'open_signed', 'open_confirmed', 'dispatched', 'verified', 'refunding',
    'settled', 'refunded', 'void', 'parked')),
  created_ms              INTEGER NOT NULL,
  accepted_at             INTEGER NOT NULL,
  open_transaction        BLOB,
  open_signature          TEXT,
  open_last_valid_height  INTEGER,
  open_before             INTEGER,
  opened_at               INTEGER,
  deadline                INTEGER,
  refund_at               INTEGER,
  fee_bps                 INTEGER,
  dispatched_ms           INTEGER,
  execution_time_ms       INTEGER,
  settle_transaction      BLOB,
  settle_signature        TEXT,
  settle_last_valid_height INTEGER,
  refund_transaction      BLOB,
  refund_signature        TEXT,
  refund_last_valid_height INTEGER,
  refund_reason           INTEGER,
  refund_state            TEXT CHECK (refund_state IN ('pending', 'claimable', 'blocked', 'done')),
  settled_at              INTEGER,
  creator_amount          INTEGER,
  platform_amount         INTEGER,
  error_code              TEXT,
  error_message           TEXT,
  rebuilds                INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What recovery looks for: everything that has not ended.
CREATE INDEX executions_unfinished ON executions (created_ms)
  WHERE state NOT IN ('settled', 'refunded', 'void');
CREATE INDEX executions_by_wallet ON executions (wallet, opened_at, execution_id);

-- Verified results, whether their settle landed or not.
CREATE TABLE results (
  execution_id         TEXT PRIMARY KEY,
  result               TEXT NOT NULL,
  result_hash          TEXT NOT NULL,
  signature            TEXT NOT NULL,
  execution_signature  TEXT,
  tokens_used          INTEGER,
  steps                TEXT,
  execution_time_ms    INTEGER NOT NULL,
  token                TEXT NOT NULL,
  verified_ms          INTEGER NOT NULL
) STRICT;

-- API keys by the SHA-256 of the whole key. A row alone opens nothing: the grant on-chain decides.
CREATE TABLE api_keys (
  key_hash      TEXT PRIMARY KEY,
  key_id        TEXT NOT NULL,
  wallet        TEXT NOT NULL,
  name          TEXT NOT NULL,
  created_ms    INTEGER NOT NULL,
  last_used_ms  INTEGER,
  revoked_ms    INTEGER
) STRICT;
CREATE INDEX api_keys_by_wallet ON api_keys (wallet, created_ms);

-- Listings' metadata documents by the SHA-256 of their exact bytes.
CREATE TABLE metadata (
  metadata_hash  TEXT PRIMARY KEY,
  document       TEXT NOT NULL,
  received_ms    INTEGER NOT NULL
) STRICT;
