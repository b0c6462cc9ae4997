-- ledger: PostgreSQL begins here, with what SQLite's files make up to this number, which also say what tables and columns mean
-- and who writes them. Text is ordered by its bytes, as SQLite does it, whatever the locale of the database. The words of
-- descriptions come with 0015, because each database has a search of its own.
-- Text that may hold U+0000 is TEXT all the same: the driver writes and reads it by another character
-- (app/database/postgres.ts).

CREATE TABLE executions (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  wallet TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  listing TEXT COLLATE "C" NOT NULL,
  listing_version BIGINT NOT NULL,
  metadata_hash TEXT COLLATE "C" NOT NULL,
  nonce TEXT COLLATE "C" NOT NULL,
  price BIGINT NOT NULL,
  max_cost BIGINT NOT NULL,
  timeout_seconds BIGINT NOT NULL,
  task TEXT COLLATE "C" NOT NULL,
  parameters TEXT COLLATE "C" NOT NULL,
  request_hash TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN (
    'accepted', 'open_signed', 'open_confirmed', 'dispatched', 'verified', 'refunding',
    'settled', 'refunded', 'void', 'parked')),
  created_ms BIGINT NOT NULL,
  accepted_at BIGINT NOT NULL,
  open_transaction BYTEA,
  open_signature TEXT COLLATE "C",
  open_last_valid_height BIGINT,
  open_before BIGINT,
  opened_at BIGINT,
  deadline BIGINT,
  refund_at BIGINT,
  fee_bps BIGINT,
  dispatched_ms BIGINT,
  execution_time_ms BIGINT,
  settle_transaction BYTEA,
  settle_signature TEXT COLLATE "C",
  settle_last_valid_height BIGINT,
  refund_transaction BYTEA,
  refund_signature TEXT COLLATE "C",
  refund_last_valid_height BIGINT,
  refund_reason BIGINT,
  refund_state TEXT COLLATE "C" CHECK (refund_state IN ('pending', 'claimable', 'blocked', 'done')),
  settled_at BIGINT,
  creator_amount BIGINT,
  platform_amount BIGINT,
  error_code TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  rebuilds BIGINT NOT NULL DEFAULT 0,
  fingerprint TEXT COLLATE "C",
  fees BIGINT NOT NULL DEFAULT 0,
  lease_owner TEXT COLLATE "C",
  reopens BIGINT NOT NULL DEFAULT 0,
  is_final BIGINT NOT NULL DEFAULT 0 CHECK (is_final IN (0, 1)),
  lost_fees BIGINT NOT NULL DEFAULT 0,
  rest_until_ms BIGINT NOT NULL DEFAULT 0,
  listing_timeout_seconds BIGINT,
  gas_lamports BIGINT NOT NULL DEFAULT 0,
  house_lamports BIGINT NOT NULL DEFAULT 0,
  given_lamports BIGINT NOT NULL DEFAULT 0,
  trials BIGINT NOT NULL DEFAULT 0,
  record_lent BIGINT NOT NULL DEFAULT 0,
  escrow_lent BIGINT NOT NULL DEFAULT 0,
  open_fee BIGINT NOT NULL DEFAULT 0,
  may_burn_lamports BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX executions_unfinished ON executions (created_ms)
  WHERE state NOT IN ('settled', 'refunded', 'void');
CREATE INDEX executions_by_wallet ON executions (wallet, opened_at, execution_id);
CREATE INDEX executions_open_by_wallet ON executions (wallet)
  WHERE state NOT IN ('settled', 'refunded', 'void');
CREATE INDEX executions_by_lease ON executions (lease_owner, rest_until_ms)
  WHERE state NOT IN ('settled', 'refunded', 'void');
CREATE INDEX executions_not_final ON executions (created_ms)
  WHERE state IN ('settled', 'refunded', 'void') AND is_final = 0;
CREATE INDEX executions_ended_by_listing
  ON executions (listing, created_ms, state, refund_reason, execution_time_ms, wallet, timeout_seconds,
    listing_timeout_seconds)
  WHERE state IN ('settled', 'refunding', 'refunded');
CREATE INDEX executions_lent_by_wallet ON executions (wallet, state, record_lent, escrow_lent) WHERE record_lent > 0;
CREATE INDEX executions_lent_by_listing ON executions (listing, state, record_lent, escrow_lent) WHERE record_lent > 0;
CREATE INDEX executions_burnt_by_wallet ON executions (wallet, created_ms, lost_fees) WHERE lost_fees > 0;
CREATE INDEX executions_burnt_by_listing ON executions (listing, created_ms, lost_fees) WHERE lost_fees > 0;
CREATE INDEX executions_burnt ON executions (created_ms, lost_fees) WHERE lost_fees > 0;
CREATE INDEX executions_given_by_wallet ON executions (wallet, trials) WHERE trials > 0;
CREATE INDEX executions_given ON executions (created_ms, given_lamports) WHERE given_lamports > 0;
CREATE INDEX executions_at_risk
  ON executions (wallet, listing, state, may_burn_lamports, gas_lamports, house_lamports)
  WHERE state NOT IN ('settled', 'refunded', 'void')
    AND (may_burn_lamports > 0 OR state IN ('accepted', 'open_signed', 'verified', 'refunding'));
CREATE INDEX executions_paid_by_wallet ON executions (wallet, created_ms, state)
  WHERE gas_lamports > 0 AND opened_at IS NOT NULL AND nonce <> '';

CREATE TABLE results (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  result TEXT COLLATE "C" NOT NULL,
  result_hash TEXT COLLATE "C" NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  execution_signature TEXT COLLATE "C",
  tokens_used BIGINT,
  steps TEXT COLLATE "C",
  execution_time_ms BIGINT NOT NULL,
  token TEXT COLLATE "C" NOT NULL,
  verified_ms BIGINT NOT NULL
);

CREATE TABLE api_keys (
  key_hash TEXT COLLATE "C" PRIMARY KEY,
  key_id TEXT COLLATE "C" NOT NULL,
  wallet TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  created_ms BIGINT NOT NULL,
  last_used_ms BIGINT,
  revoked_ms BIGINT,
  scopes TEXT COLLATE "C" NOT NULL DEFAULT 'execute read',
  expires_ms BIGINT,
  allowed_ips TEXT COLLATE "C"
);
CREATE INDEX api_keys_by_wallet ON api_keys (wallet, created_ms);

CREATE TABLE metadata (
  metadata_hash TEXT COLLATE "C" PRIMARY KEY,
  document TEXT COLLATE "C" NOT NULL,
  received_ms BIGINT NOT NULL
);

CREATE TABLE answers (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  status BIGINT NOT NULL,
  body BYTEA NOT NULL,
  answered_ms BIGINT NOT NULL
);
CREATE INDEX answers_by_age ON answers (answered_ms);

CREATE TABLE relays (
  owner TEXT COLLATE "C" PRIMARY KEY,
  alive_until_ms BIGINT NOT NULL
);

CREATE TABLE late_answers (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  result TEXT COLLATE "C" NOT NULL,
  result_hash TEXT COLLATE "C" NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  execution_signature TEXT COLLATE "C",
  received_ms BIGINT NOT NULL
);
CREATE INDEX late_answers_by_age ON late_answers (received_ms);

CREATE TABLE probes (
  listing TEXT COLLATE "C" PRIMARY KEY,
  probed_ms BIGINT NOT NULL,
  passed_ms BIGINT
);

CREATE TABLE pending_metadata (
  metadata_hash TEXT COLLATE "C" NOT NULL,
  wallet TEXT COLLATE "C" NOT NULL,
  received_ms BIGINT NOT NULL,
  document TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (metadata_hash, wallet)
);
CREATE INDEX pending_metadata_by_wallet ON pending_metadata (wallet, received_ms);
CREATE INDEX pending_metadata_by_age ON pending_metadata (received_ms);
CREATE INDEX pending_metadata_of_wallets ON pending_metadata (received_ms) WHERE wallet <> '';

CREATE TABLE archive_trees (
  archive_index BIGINT PRIMARY KEY,
  tree TEXT COLLATE "C" NOT NULL,
  leaf_count BIGINT NOT NULL,
  is_proven BIGINT NOT NULL CHECK (is_proven IN (0, 1))
);

CREATE TABLE archive_nodes (
  archive_index BIGINT NOT NULL,
  level BIGINT NOT NULL,
  position BIGINT NOT NULL,
  hash BYTEA NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (archive_index, level, position)
);

CREATE TABLE sweeper (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  owner TEXT COLLATE "C",
  signed BYTEA,
  signature TEXT COLLATE "C",
  last_valid_height BIGINT
);
INSERT INTO sweeper (id) VALUES (1);

CREATE TABLE revocations (
  wallet TEXT COLLATE "C" NOT NULL,
  sent_ms BIGINT NOT NULL,
  fee BIGINT NOT NULL
);
CREATE INDEX revocations_by_time ON revocations (sent_ms, wallet, fee);

CREATE TABLE evidence (
  execution_id TEXT COLLATE "C" NOT NULL,
  evidence_hash TEXT COLLATE "C" NOT NULL,
  wallet TEXT COLLATE "C" NOT NULL,
  media_type TEXT COLLATE "C" NOT NULL,
  content BYTEA NOT NULL,
  received_ms BIGINT NOT NULL,
  PRIMARY KEY (execution_id, evidence_hash)
);
CREATE INDEX evidence_by_wallet ON evidence (wallet, received_ms);
CREATE INDEX evidence_by_age ON evidence (received_ms);

CREATE TABLE dispute_reasons (
  execution_id TEXT COLLATE "C" NOT NULL,
  reason_hash TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  received_ms BIGINT NOT NULL,
  PRIMARY KEY (execution_id, reason_hash)
);
