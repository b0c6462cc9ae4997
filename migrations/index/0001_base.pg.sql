-- The index on PostgreSQL: the tables of 0001_base.sqlite.sql, which documents them. Text is ordered by its bytes, as in
-- SQLite, whatever the locale of the database.

CREATE TABLE chain_meta (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  genesis_hash TEXT COLLATE "C" NOT NULL,
  program_id TEXT COLLATE "C" NOT NULL,
  restart_slot BIGINT
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
  applied_slot BIGINT,
  PRIMARY KEY (slot, signature, event_index)
);
CREATE INDEX events_late ON events (applied_slot) WHERE applied_slot IS NOT NULL;
CREATE INDEX events_of_admin ON events (slot, signature, event_index) WHERE name IN (
  'AdminChanged', 'ChangeApplied', 'ChangeCancelled', 'ChangeProposed', 'ChangesCancelled', 'ConfigInitialized',
  'ConfigUpdated', 'CreatorVerificationChanged', 'DisputeResolved', 'RelayAuthorityRemoved', 'TreasuryWithdrawn'
);

CREATE TABLE configs (
  config TEXT COLLATE "C" PRIMARY KEY,
  admin TEXT COLLATE "C" NOT NULL,
  relay_authorities TEXT COLLATE "C" NOT NULL,
  usdc_mint TEXT COLLATE "C" NOT NULL,
  treasury TEXT COLLATE "C" NOT NULL,
  fee_bps BIGINT NOT NULL,
  record_seconds BIGINT NOT NULL,
  slot BIGINT NOT NULL,
  admin_paused BIGINT NOT NULL DEFAULT 0 CHECK (admin_paused IN (0, 1)),
  guardian_paused BIGINT NOT NULL DEFAULT 0 CHECK (guardian_paused IN (0, 1))
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
  forfeited BIGINT NOT NULL DEFAULT 0,
  returnable_at BIGINT,
  collateral_returned BIGINT NOT NULL DEFAULT 0 CHECK (collateral_returned IN (0, 1))
);
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
  gas_lamports BIGINT NOT NULL DEFAULT 0,
  spender_lends_escrow BIGINT NOT NULL DEFAULT 0 CHECK (spender_lends_escrow IN (0, 1)),
  deposit TEXT COLLATE "C"
);
CREATE INDEX executions_open ON executions (refund_at, execution_id, price) WHERE status = 'open';
CREATE INDEX executions_by_opened_slot ON executions (opened_slot, open_index);
CREATE INDEX executions_kept ON executions (settled_at) WHERE closed = 0 AND status <> 'open';
CREATE INDEX executions_ended_by_listing ON executions (listing, settled_at DESC) WHERE status <> 'open';
CREATE INDEX executions_ended_by_caller ON executions (caller, settled_at DESC) WHERE status <> 'open';
CREATE INDEX executions_by_caller_status ON executions (
  caller, status, opened_at DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST, execution_id DESC
);
CREATE INDEX executions_by_listing_caller ON executions (
  listing, caller, status, opened_at DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST, execution_id DESC
);
CREATE INDEX executions_by_key ON executions (
  key_id, caller, status, opened_at DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST, execution_id DESC
) WHERE key_id IS NOT NULL;

CREATE TABLE deposits (
  deposit TEXT COLLATE "C" PRIMARY KEY,
  caller TEXT COLLATE "C" NOT NULL,
  rent_sponsor TEXT COLLATE "C" NOT NULL,
  price TEXT COLLATE "C" NOT NULL,
  service_fee BIGINT NOT NULL,
  prepared_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('prepared', 'opened', 'refunded')),
  ended_at BIGINT,
  end_signature TEXT COLLATE "C",
  slot BIGINT NOT NULL,
  closed BIGINT NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
);
CREATE INDEX deposits_waiting ON deposits (prepared_at, deposit) WHERE closed = 0;

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
  amount_to_caller BIGINT,
  amount_slashed BIGINT,
  owed BIGINT NOT NULL,
  opened_at BIGINT NOT NULL,
  resolved_at BIGINT,
  slot BIGINT NOT NULL,
  closed BIGINT NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  rent_sponsor TEXT COLLATE "C" NOT NULL DEFAULT ''
);
-- The disputes of a party: open ones, then the others, newest first.
CREATE INDEX disputes_by_caller ON disputes (caller, (outcome <> 'open'), opened_at DESC, execution_id, outcome);
CREATE INDEX disputes_by_listing ON disputes (listing, (outcome <> 'open'), opened_at DESC, execution_id, caller, outcome);
CREATE INDEX disputes_of_listing ON disputes (listing, outcome);
CREATE INDEX disputes_by_outcome ON disputes (outcome, opened_at DESC, execution_id);
CREATE INDEX disputes_waiting ON disputes (opened_at, execution_id) WHERE outcome = 'open';
CREATE INDEX disputes_ended ON disputes (opened_at DESC, execution_id) WHERE outcome <> 'open';
-- Ended disputes whose account still exists, and which may be closed.
CREATE INDEX disputes_kept ON disputes (resolved_at) WHERE closed = 0 AND outcome <> 'open';

CREATE TABLE unread_accounts (
  address TEXT COLLATE "C" PRIMARY KEY,
  slot BIGINT NOT NULL,
  execution_id TEXT COLLATE "C",
  open_signature TEXT COLLATE "C",
  opened_slot BIGINT,
  end_signature TEXT COLLATE "C",
  deposit TEXT COLLATE "C"
);

CREATE TABLE eventless_transactions (
  signature TEXT COLLATE "C" NOT NULL,
  slot BIGINT NOT NULL,
  PRIMARY KEY (slot, signature)
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

CREATE TABLE unclaimed_refunds (
  claim TEXT COLLATE "C" PRIMARY KEY,
  tree TEXT COLLATE "C" NOT NULL,
  leaf_index BIGINT NOT NULL,
  leaf TEXT COLLATE "C" NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  caller TEXT COLLATE "C" NOT NULL,
  amount BIGINT NOT NULL,
  unclaimed_at BIGINT NOT NULL,
  signature TEXT COLLATE "C",
  claimed_at BIGINT,
  claim_signature TEXT COLLATE "C",
  slot BIGINT NOT NULL,
  UNIQUE (tree, leaf_index)
);
CREATE INDEX unclaimed_refunds_by_source ON unclaimed_refunds (source);
CREATE INDEX unclaimed_refunds_open ON unclaimed_refunds (amount) WHERE claimed_at IS NULL;

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

CREATE TABLE agent_statistics (
  listing TEXT COLLATE "C" PRIMARY KEY,
  total_executions BIGINT NOT NULL,
  successful_executions BIGINT NOT NULL,
  success_rate DOUBLE PRECISION NOT NULL,
  avg_execution_time_ms BIGINT NOT NULL,
  dispute_count BIGINT NOT NULL,
  earned BIGINT NOT NULL,
  ended_executions BIGINT NOT NULL,
  timed_executions BIGINT NOT NULL,
  total_time_ms BIGINT NOT NULL
);

CREATE TABLE agents (
  id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  listing TEXT COLLATE "C" NOT NULL UNIQUE,
  creator TEXT COLLATE "C" NOT NULL,
  verified BIGINT NOT NULL CHECK (verified IN (0, 1)),
  price BIGINT NOT NULL,
  tag_mask BIGINT NOT NULL,
  listed_at BIGINT NOT NULL,
  metadata_hash TEXT COLLATE "C" NOT NULL,
  document BIGINT NOT NULL,
  total_executions BIGINT NOT NULL,
  success_rate DOUBLE PRECISION NOT NULL,
  score DOUBLE PRECISION NOT NULL,
  avg_execution_time_ms BIGINT NOT NULL
);
SELECT setval(pg_get_serial_sequence('agents', 'id'), CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT));
CREATE INDEX agents_by_total ON agents (total_executions DESC, listing, verified, success_rate, tag_mask, document);
CREATE INDEX agents_by_rate ON agents (success_rate DESC, listing, verified, total_executions, tag_mask, document);
CREATE INDEX agents_by_score ON agents (score DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price ON agents (price, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price_down
  ON agents (price DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_age ON agents (listed_at DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_document ON agents (document, verified, total_executions, success_rate, tag_mask);
CREATE INDEX agents_by_creator ON agents (creator);

CREATE VIEW active_agents AS
SELECT
  l.listing,
  l.creator,
  coalesce(c.verified, 0) AS verified,
  l.price,
  l.tag_mask,
  l.listed_at,
  l.metadata_hash,
  CAST(CAST('x' || substr(l.metadata_hash, 1, 15) AS BIT(60)) AS BIGINT) AS document,
  coalesce(s.total_executions, 0) AS total_executions,
  coalesce(s.success_rate, 0.0) AS success_rate,
  (coalesce(s.successful_executions, 0) + CAST(5 AS DOUBLE PRECISION)) / (coalesce(s.total_executions, 0) + 10) AS score,
  coalesce(s.avg_execution_time_ms, 0) AS avg_execution_time_ms
FROM listings AS l
LEFT JOIN creators AS c ON c.wallet = l.creator
LEFT JOIN agent_statistics AS s ON s.listing = l.listing
WHERE l.status = 'active';

CREATE TABLE backfill (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('listing', 'applying', 'history')),
  token TEXT COLLATE "C"
);

CREATE TABLE listed_signatures (
  position BIGINT PRIMARY KEY,
  slot BIGINT NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  failed BIGINT NOT NULL CHECK (failed IN (0, 1))
);

CREATE TABLE listing_versions (
  version TEXT COLLATE "C" PRIMARY KEY,
  timeout_seconds BIGINT NOT NULL,
  slot BIGINT NOT NULL
);

CREATE TABLE gaps (
  signature TEXT COLLATE "C" PRIMARY KEY,
  slot BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL
);

CREATE TABLE pruned_slots (
  first_slot BIGINT PRIMARY KEY,
  last_slot BIGINT NOT NULL
);

CREATE TABLE caller_totals (
  caller TEXT COLLATE "C" NOT NULL,
  listing TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  executions BIGINT NOT NULL,
  PRIMARY KEY (caller, listing, status, day)
);
CREATE INDEX caller_totals_empty ON caller_totals (executions) WHERE executions = 0;

CREATE TABLE agent_days (
  listing TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  outcome TEXT COLLATE "C" NOT NULL,
  reason BIGINT NOT NULL,
  time_ms BIGINT NOT NULL,
  executions BIGINT NOT NULL,
  earned BIGINT NOT NULL,
  PRIMARY KEY (listing, day, outcome, reason, time_ms)
);
CREATE INDEX agent_days_empty ON agent_days (executions) WHERE executions = 0;
