-- index: PostgreSQL begins here, with what SQLite's files make up to this number, which also say what tables and columns mean
-- and who writes them. Text is ordered by its bytes, as SQLite does it, whatever the locale of the database.

CREATE TABLE chain_meta (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  genesis_hash TEXT COLLATE "C" NOT NULL,
  program_id TEXT COLLATE "C" NOT NULL
);

CREATE TABLE cursor (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  signature TEXT COLLATE "C" NOT NULL,
  slot BIGINT NOT NULL
);

CREATE TABLE progress (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  slot BIGINT NOT NULL,
  checked_at BIGINT NOT NULL
);

CREATE TABLE events (
  signature TEXT COLLATE "C" NOT NULL,
  event_index BIGINT NOT NULL,
  slot BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  data TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (signature, event_index)
);

CREATE TABLE configs (
  config TEXT COLLATE "C" PRIMARY KEY,
  admin TEXT COLLATE "C" NOT NULL,
  relay_authorities TEXT COLLATE "C" NOT NULL,
  usdc_mint TEXT COLLATE "C" NOT NULL,
  treasury TEXT COLLATE "C" NOT NULL,
  fee_bps BIGINT NOT NULL,
  slot BIGINT NOT NULL,
  pending_admin TEXT COLLATE "C",
  opens_paused BIGINT NOT NULL DEFAULT 0 CHECK (opens_paused IN (0, 1))
);

CREATE TABLE creators (
  wallet TEXT COLLATE "C" PRIMARY KEY,
  verified BIGINT NOT NULL CHECK (verified IN (0, 1)),
  verified_at BIGINT NOT NULL,
  slot BIGINT NOT NULL
);

CREATE TABLE listings (
  listing TEXT COLLATE "C" PRIMARY KEY,
  creator TEXT COLLATE "C" NOT NULL,
  listing_id TEXT COLLATE "C" NOT NULL,
  signing_key TEXT COLLATE "C" NOT NULL,
  payout TEXT COLLATE "C" NOT NULL,
  price BIGINT NOT NULL,
  timeout_seconds BIGINT NOT NULL,
  min_timeout_seconds BIGINT NOT NULL,
  tag_mask BIGINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'delisted')),
  listing_version BIGINT NOT NULL,
  metadata_hash TEXT COLLATE "C" NOT NULL,
  metadata_uri TEXT COLLATE "C" NOT NULL,
  deposited BIGINT NOT NULL,
  listed_at BIGINT NOT NULL,
  slot BIGINT NOT NULL,
  slashed BIGINT NOT NULL DEFAULT 0,
  returnable_at BIGINT,
  collateral_returned BIGINT NOT NULL DEFAULT 0 CHECK (collateral_returned IN (0, 1))
);
CREATE INDEX listings_by_status ON listings (status, listing);
CREATE INDEX listings_by_metadata ON listings (metadata_hash);
CREATE INDEX listings_by_creator ON listings (creator, listed_at DESC);

CREATE TABLE grants (
  grant_address TEXT COLLATE "C" PRIMARY KEY,
  wallet TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  per_execution_max TEXT COLLATE "C" NOT NULL,
  period_max TEXT COLLATE "C" NOT NULL,
  total_max TEXT COLLATE "C" NOT NULL,
  period_seconds BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked BIGINT NOT NULL CHECK (revoked IN (0, 1)),
  execution_count BIGINT NOT NULL,
  total_spent TEXT COLLATE "C" NOT NULL,
  slot BIGINT NOT NULL,
  closed BIGINT NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  max_gas_lamports BIGINT NOT NULL DEFAULT 0,
  UNIQUE (wallet, key_id)
);

CREATE TABLE executions (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  record TEXT COLLATE "C" NOT NULL UNIQUE,
  listing TEXT COLLATE "C" NOT NULL,
  caller TEXT COLLATE "C" NOT NULL,
  signing_key TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C",
  rent_sponsor TEXT COLLATE "C" NOT NULL,
  price BIGINT NOT NULL,
  fee_bps BIGINT NOT NULL,
  listing_version BIGINT NOT NULL,
  request_hash TEXT COLLATE "C" NOT NULL,
  result_hash TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('open', 'completed', 'refunded', 'disputed', 'dispute_upheld')),
  reason BIGINT,
  creator_amount BIGINT NOT NULL DEFAULT 0,
  platform_amount BIGINT NOT NULL DEFAULT 0,
  execution_time_ms BIGINT,
  opened_at BIGINT NOT NULL,
  deadline BIGINT NOT NULL,
  refund_at BIGINT NOT NULL,
  settled_at BIGINT,
  dispute_window_seconds BIGINT NOT NULL,
  dispute_count BIGINT NOT NULL DEFAULT 0,
  open_signature TEXT COLLATE "C",
  end_signature TEXT COLLATE "C",
  slot BIGINT NOT NULL,
  closed BIGINT NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  opened_slot BIGINT,
  open_index BIGINT,
  listing_timeout_seconds BIGINT,
  gas_lamports BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX executions_by_caller ON executions (caller, opened_at DESC, execution_id DESC);
CREATE INDEX executions_by_caller_status ON executions (caller, status, opened_at DESC, execution_id DESC);
CREATE INDEX executions_by_caller_listing ON executions (caller, listing, opened_at DESC, execution_id DESC);
CREATE INDEX executions_open ON executions (price) WHERE status = 'open';
CREATE INDEX executions_by_opened_slot ON executions (opened_slot, open_index);
CREATE INDEX executions_kept ON executions (settled_at) WHERE closed = 0 AND status <> 'open';
CREATE INDEX executions_by_listing ON executions (
  listing, status, reason, execution_time_ms, dispute_count, opened_at, deadline, listing_timeout_seconds,
  creator_amount
);
CREATE INDEX executions_ended_by_listing ON executions (listing, settled_at DESC) WHERE status <> 'open';

CREATE TABLE disputes (
  dispute TEXT COLLATE "C" PRIMARY KEY,
  record TEXT COLLATE "C" NOT NULL UNIQUE,
  execution_id TEXT COLLATE "C" NOT NULL UNIQUE,
  listing TEXT COLLATE "C" NOT NULL,
  caller TEXT COLLATE "C" NOT NULL,
  evidence_hash TEXT COLLATE "C" NOT NULL,
  evidence_uri TEXT COLLATE "C",
  reason_hash TEXT COLLATE "C",
  outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('open', 'rejected', 'upheld', 'lapsed')),
  bond BIGINT NOT NULL,
  amount_to_caller BIGINT NOT NULL,
  amount_to_treasury BIGINT NOT NULL,
  owed BIGINT NOT NULL,
  opened_at BIGINT NOT NULL,
  resolved_at BIGINT,
  slot BIGINT NOT NULL,
  closed BIGINT NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  rent_sponsor TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX disputes_by_caller ON disputes (caller, opened_at DESC);
CREATE INDEX disputes_by_listing ON disputes (listing, opened_at DESC);
CREATE INDEX disputes_by_outcome ON disputes (outcome, opened_at);

CREATE TABLE unread_accounts (
  address TEXT COLLATE "C" PRIMARY KEY,
  slot BIGINT NOT NULL,
  execution_id TEXT COLLATE "C",
  open_signature TEXT COLLATE "C",
  opened_slot BIGINT,
  end_signature TEXT COLLATE "C"
);

CREATE TABLE eventless_transactions (
  signature TEXT COLLATE "C" PRIMARY KEY,
  slot BIGINT NOT NULL
);

CREATE TABLE archives (
  archive TEXT COLLATE "C" PRIMARY KEY,
  archive_index BIGINT NOT NULL UNIQUE,
  tree TEXT COLLATE "C" NOT NULL UNIQUE,
  leaf_count BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  slot BIGINT NOT NULL
);

CREATE TABLE archive_leaves (
  tree TEXT COLLATE "C" NOT NULL,
  leaf_index BIGINT NOT NULL,
  record TEXT COLLATE "C" NOT NULL UNIQUE,
  execution_id TEXT COLLATE "C" NOT NULL UNIQUE,
  leaf TEXT COLLATE "C" NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  slot BIGINT NOT NULL,
  PRIMARY KEY (tree, leaf_index)
);

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

CREATE VIEW agent_statistics AS
SELECT
  listing,
  sum(CASE WHEN outcome <> 'refunded' THEN 1 ELSE 0 END) AS total_executions,
  sum(CASE WHEN outcome IN ('completed', 'disputed') THEN 1 ELSE 0 END) AS successful_executions,
  CAST(coalesce(
    1.0 * sum(CASE WHEN outcome IN ('completed', 'disputed') THEN 1 ELSE 0 END)
      / nullif(sum(CASE WHEN outcome <> 'refunded' THEN 1 ELSE 0 END), 0), 0) AS DOUBLE PRECISION) AS success_rate,
  CAST(coalesce(round(avg(CASE WHEN outcome NOT IN ('failed', 'refunded') THEN execution_time_ms END)), 0) AS BIGINT)
    AS avg_execution_time_ms,
  sum(dispute_count) AS dispute_count,
  sum(creator_amount) AS earned
FROM ended_executions
GROUP BY listing;
