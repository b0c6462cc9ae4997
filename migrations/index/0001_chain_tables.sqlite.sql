-- index.db: what the chain says, in tables that queries can join. The indexer is the only writer; the relay reads.
-- Every row but those of `progress` follows from the chain alone, so the file can be deleted and is rebuilt by a
-- backfill. Pubkeys and signatures are base58, ids and hashes lower-case hex, execution ids UUIDs, times unix
-- seconds, amounts base units of USDC. u64 values that may not fit SQLite's signed 64 bits are decimal TEXT.
-- `slot` is that of the state a row shows: an older write never overwrites a newer one.

-- Which chain and program this file was made from; one row.
CREATE TABLE chain_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  genesis_hash TEXT NOT NULL,
  program_id TEXT NOT NULL
) STRICT;

-- The last transaction that was applied, failed ones too; no row before the first.
CREATE TABLE cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

-- How far the indexer has looked: everything up to this slot is in the tables. `checked_at` is its clock, in ms.
CREATE TABLE progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  slot INTEGER NOT NULL,
  checked_at INTEGER NOT NULL
) STRICT;

-- Every event as it was read, in the order of the chain. `data` is JSON with u64 and i64 as decimal text. A
-- transaction whose log cannot be trusted leaves no row here; its accounts were read instead.
CREATE TABLE events (
  signature TEXT NOT NULL,
  event_index INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (signature, event_index)
) STRICT;

CREATE TABLE configs (
  config TEXT PRIMARY KEY,
  admin TEXT NOT NULL,
  relay_authority TEXT NOT NULL,
  usdc_mint TEXT NOT NULL,
  treasury TEXT NOT NULL,
  fee_bps INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

-- Creators whose badge was ever given or taken; a creator without a row is not verified.
CREATE TABLE creators (
  wallet TEXT PRIMARY KEY,
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
  verified_at INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

CREATE TABLE listings (
  listing TEXT PRIMARY KEY,
  creator TEXT NOT NULL,
  listing_id TEXT NOT NULL,
  signing_key TEXT NOT NULL,
  payout TEXT NOT NULL,
  price INTEGER NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  min_timeout_seconds INTEGER NOT NULL,
  tag_mask INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'delisted')),
  listing_version INTEGER NOT NULL,
  metadata_hash TEXT NOT NULL,
  metadata_uri TEXT NOT NULL,
  deposited INTEGER NOT NULL,
  listed_at INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;
CREATE INDEX listings_by_status ON listings (status, listing);
CREATE INDEX listings_by_metadata ON listings (metadata_hash);

-- API keys' spending rights, revoked ones too. `grant_address`, because GRANT is a word of SQL.
CREATE TABLE grants (
  grant_address TEXT PRIMARY KEY,
  wallet TEXT NOT NULL,
  key_id TEXT NOT NULL,
  per_execution_max TEXT NOT NULL,
  period_max TEXT NOT NULL,
  total_max TEXT NOT NULL,
  period_seconds INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  revoked INTEGER NOT NULL CHECK (revoked IN (0, 1)),
  execution_count INTEGER NOT NULL,
  total_spent TEXT NOT NULL,
  slot INTEGER NOT NULL,
  UNIQUE (wallet, key_id)
) STRICT;

-- `key_id` is NULL where the wallet opened it itself. `reason` is the number of the program's RefundReason, NULL
-- unless refunded; `settled_at` is also a refund's time. Amounts are 0 until settled.
CREATE TABLE executions (
  execution_id TEXT PRIMARY KEY,
  record TEXT NOT NULL UNIQUE,
  listing TEXT NOT NULL,
  caller TEXT NOT NULL,
  signing_key TEXT NOT NULL,
  key_id TEXT,
  rent_sponsor TEXT NOT NULL,
  price INTEGER NOT NULL,
  fee_bps INTEGER NOT NULL,
  listing_version INTEGER NOT NULL,
  request_hash TEXT NOT NULL,
  result_hash TEXT,
  status TEXT NOT NULL CHECK (status IN ('open', 'completed', 'refunded', 'disputed', 'dispute_upheld')),
  reason INTEGER,
  creator_amount INTEGER NOT NULL DEFAULT 0,
  platform_amount INTEGER NOT NULL DEFAULT 0,
  execution_time_ms INTEGER,
  opened_at INTEGER NOT NULL,
  deadline INTEGER NOT NULL,
  refund_at INTEGER NOT NULL,
  settled_at INTEGER,
  dispute_window_seconds INTEGER NOT NULL,
  dispute_count INTEGER NOT NULL DEFAULT 0,
  open_signature TEXT,
  end_signature TEXT,
  slot INTEGER NOT NULL
) STRICT;
-- The first three serve a wallet's list, newest first, whole or filtered; the fourth holds all that the
-- statistics read, so that they never touch the table itself.
CREATE INDEX executions_by_caller ON executions (caller, opened_at DESC, execution_id DESC);
CREATE INDEX executions_by_caller_status ON executions (caller, status, opened_at DESC, execution_id DESC);
CREATE INDEX executions_by_caller_listing ON executions (caller, listing, opened_at DESC, execution_id DESC);
CREATE INDEX executions_by_listing ON executions (listing, status, reason, execution_time_ms, dispute_count);

-- One row per listing that was ever called. Finished executions are those that settled, and those refunded for the
-- creator's own fault (reasons 0 to 3: failed, timed out, invalid answer, payout unusable); the rest, such as
-- executions the marketplace could not serve, say nothing about the agent.
CREATE VIEW agent_statistics AS
WITH judged AS (
  SELECT
    listing,
    status IN ('completed', 'disputed', 'dispute_upheld') AS settled,
    status IN ('completed', 'disputed') AS successful,
    status = 'refunded' AND coalesce(reason, 4) <= 3 AS failed,
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
