-- Both databases after all migrations. Made by: RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts
-- What tables and columns mean is said in the migrations.

-- index.db

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;

CREATE TABLE chain_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  genesis_hash TEXT NOT NULL,
  program_id TEXT NOT NULL
) STRICT;

CREATE TABLE cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

CREATE TABLE progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  slot INTEGER NOT NULL,
  checked_at INTEGER NOT NULL,
  finalized_slot INTEGER
) STRICT;

CREATE TABLE configs (
  config TEXT PRIMARY KEY,
  admin TEXT NOT NULL,
  relay_authorities TEXT NOT NULL,
  usdc_mint TEXT NOT NULL,
  treasury TEXT NOT NULL,
  fee_bps INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  pending_admin TEXT,
  opens_paused INTEGER NOT NULL DEFAULT 0 CHECK (opens_paused IN (0, 1))
) STRICT;

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
  slot INTEGER NOT NULL,
  slashed INTEGER NOT NULL DEFAULT 0,
  returnable_at INTEGER,
  collateral_returned INTEGER NOT NULL DEFAULT 0 CHECK (collateral_returned IN (0, 1))
) STRICT;
CREATE INDEX listings_by_status ON listings (status, listing);
CREATE INDEX listings_by_metadata ON listings (metadata_hash);
CREATE INDEX listings_by_creator ON listings (creator, listed_at DESC);

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
  slot INTEGER NOT NULL, closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)), max_gas_lamports INTEGER NOT NULL DEFAULT 0,
  UNIQUE (wallet, key_id)
) STRICT;

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
  slot INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  opened_slot INTEGER,
  open_index INTEGER,
  listing_timeout_seconds INTEGER,
  gas_lamports INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX executions_open ON executions (price) WHERE status = 'open';
CREATE INDEX executions_by_opened_slot ON executions (opened_slot, open_index);
CREATE INDEX executions_kept ON executions (settled_at) WHERE closed = 0 AND status <> 'open';
CREATE INDEX executions_ended_by_listing ON executions (listing, settled_at DESC) WHERE status <> 'open';
CREATE INDEX executions_by_caller_status
  ON executions (caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
CREATE INDEX executions_by_listing_caller
  ON executions (listing, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);

CREATE TABLE disputes (
  dispute TEXT PRIMARY KEY,
  record TEXT NOT NULL UNIQUE,
  execution_id TEXT NOT NULL UNIQUE,
  listing TEXT NOT NULL,
  caller TEXT NOT NULL,
  evidence_hash TEXT NOT NULL,
  evidence_uri TEXT,
  reason_hash TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('open', 'rejected', 'upheld', 'lapsed')),
  bond INTEGER NOT NULL,
  amount_to_caller INTEGER NOT NULL,
  amount_to_treasury INTEGER NOT NULL,
  owed INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_at INTEGER,
  slot INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  rent_sponsor TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX disputes_by_caller ON disputes (caller, opened_at DESC, execution_id);
CREATE INDEX disputes_by_listing ON disputes (listing, opened_at DESC, execution_id, caller);
CREATE INDEX disputes_by_outcome ON disputes (outcome, opened_at DESC, execution_id);
CREATE INDEX disputes_waiting ON disputes (opened_at, execution_id) WHERE outcome = 'open';
CREATE INDEX disputes_ended ON disputes (opened_at DESC, execution_id) WHERE outcome <> 'open';

CREATE TABLE unread_accounts (
  address TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  execution_id TEXT,
  open_signature TEXT,
  opened_slot INTEGER,
  end_signature TEXT
) STRICT;

CREATE TABLE archives (
  archive TEXT PRIMARY KEY,
  archive_index INTEGER NOT NULL UNIQUE,
  tree TEXT NOT NULL UNIQUE,
  leaf_count INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

CREATE TABLE archive_leaves (
  tree TEXT NOT NULL,
  leaf_index INTEGER NOT NULL,
  record TEXT NOT NULL UNIQUE,
  execution_id TEXT NOT NULL UNIQUE,
  leaf TEXT NOT NULL,
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (tree, leaf_index)
) STRICT;

CREATE TABLE agent_statistics (
  listing TEXT PRIMARY KEY,
  total_executions INTEGER NOT NULL,
  successful_executions INTEGER NOT NULL,
  success_rate REAL NOT NULL,
  avg_execution_time_ms INTEGER NOT NULL,
  dispute_count INTEGER NOT NULL,
  earned INTEGER NOT NULL,
  -- Of all that ended, the refunded too: with the last of them the row goes.
  ended_executions INTEGER NOT NULL,
  timed_executions INTEGER NOT NULL,
  total_time_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE caller_totals (
  caller TEXT NOT NULL,
  listing TEXT NOT NULL,
  status TEXT NOT NULL,
  hour INTEGER NOT NULL,
  executions INTEGER NOT NULL,
  PRIMARY KEY (caller, listing, status, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX caller_totals_empty ON caller_totals (executions) WHERE executions = 0;

CREATE TABLE changed_agents (
  listing TEXT PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT;
CREATE INDEX changed_agents_by_revision ON changed_agents (revision, listing);

CREATE TABLE catalogue_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
) STRICT;

CREATE TABLE "events" (
  signature TEXT NOT NULL,
  event_index INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (slot, signature, event_index)
) STRICT;

CREATE TABLE "eventless_transactions" (
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (slot, signature)
) STRICT;

CREATE TABLE undo (
  slot INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  row_key TEXT NOT NULL,
  image TEXT,
  PRIMARY KEY (slot, table_name, row_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE undo_floor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  slot INTEGER NOT NULL
) STRICT;

CREATE TABLE backfill (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  state TEXT NOT NULL CHECK (state IN ('listing', 'applying', 'history')),
  token TEXT,
  finalized_slot INTEGER NOT NULL
) STRICT;

CREATE TABLE listed_signatures (
  position INTEGER PRIMARY KEY,
  slot INTEGER NOT NULL,
  signature TEXT NOT NULL,
  failed INTEGER NOT NULL CHECK (failed IN (0, 1))
) STRICT;

CREATE TABLE listing_versions (
  version TEXT PRIMARY KEY,          -- the listing and the number of the version, a space between
  timeout_seconds INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

CREATE TABLE readings (
  slot INTEGER NOT NULL,
  read_slot INTEGER NOT NULL,
  PRIMARY KEY (slot, read_slot)
) STRICT;

CREATE TABLE history_walk (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  before TEXT,
  ended_at INTEGER
) STRICT;

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


-- ledger.db

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;

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
  rebuilds                INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT,
  fees INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  reopens INTEGER NOT NULL DEFAULT 0,
  is_final INTEGER NOT NULL DEFAULT 0 CHECK (is_final IN (0, 1)),
  lost_fees INTEGER NOT NULL DEFAULT 0,
  rest_until_ms INTEGER NOT NULL DEFAULT 0,
  listing_timeout_seconds INTEGER,
  gas_lamports INTEGER NOT NULL DEFAULT 0,
  house_lamports INTEGER NOT NULL DEFAULT 0,
  given_lamports INTEGER NOT NULL DEFAULT 0,
  trials INTEGER NOT NULL DEFAULT 0,
  record_lent INTEGER NOT NULL DEFAULT 0,
  escrow_lent INTEGER NOT NULL DEFAULT 0,
  open_fee INTEGER NOT NULL DEFAULT 0,
  may_burn_lamports INTEGER NOT NULL DEFAULT 0,
  tank_lamports INTEGER NOT NULL DEFAULT 0,
  opened_slot INTEGER
) STRICT;

CREATE TRIGGER executions_lent_added AFTER INSERT ON executions
WHEN new.record_lent > 0 AND new.state <> 'void' BEGIN
  INSERT INTO lent_sums (scope, name, lamports)
  SELECT scope, name, new.record_lent + CASE WHEN new.state IN ('settled', 'refunded') THEN 0 ELSE new.escrow_lent END
  FROM (SELECT 'wallet' AS scope, new.wallet AS name UNION ALL SELECT 'listing', new.listing UNION ALL SELECT 'total', '')
  WHERE true
  ON CONFLICT (scope, name) DO UPDATE SET lamports = lamports + excluded.lamports;
END;

CREATE TRIGGER executions_lent_moved AFTER UPDATE OF state, record_lent, escrow_lent ON executions
WHEN (old.record_lent > 0 OR new.record_lent > 0)
  AND (old.record_lent <> new.record_lent OR old.escrow_lent <> new.escrow_lent
    OR old.state IN ('settled', 'refunded', 'void') OR new.state IN ('settled', 'refunded', 'void'))
BEGIN
  INSERT INTO lent_sums (scope, name, lamports)
  SELECT scope, name,
    CASE WHEN new.record_lent = 0 OR new.state = 'void' THEN 0 WHEN new.state IN ('settled', 'refunded')
      THEN new.record_lent ELSE new.record_lent + new.escrow_lent END
    - CASE WHEN old.record_lent = 0 OR old.state = 'void' THEN 0 WHEN old.state IN ('settled', 'refunded')
      THEN old.record_lent ELSE old.record_lent + old.escrow_lent END
  FROM (SELECT 'wallet' AS scope, new.wallet AS name UNION ALL SELECT 'listing', new.listing UNION ALL SELECT 'total', '')
  WHERE true
  ON CONFLICT (scope, name) DO UPDATE SET lamports = lamports + excluded.lamports;
END;

CREATE TRIGGER executions_lent_dropped AFTER DELETE ON executions
WHEN old.record_lent > 0 AND old.state <> 'void' BEGIN
  UPDATE lent_sums SET lamports = lamports
    - old.record_lent - CASE WHEN old.state IN ('settled', 'refunded') THEN 0 ELSE old.escrow_lent END
  WHERE (scope, name) IN (VALUES ('wallet', old.wallet), ('listing', old.listing), ('total', ''));
END;
CREATE INDEX executions_unfinished ON executions (created_ms)
  WHERE state NOT IN ('settled', 'refunded', 'void');
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
CREATE INDEX executions_opening ON executions (wallet, key_id, price, tank_lamports)
  WHERE state IN ('accepted', 'open_signed');
CREATE INDEX executions_landed ON executions (wallet, opened_slot)
  WHERE is_final = 0 AND opened_slot IS NOT NULL;
CREATE INDEX executions_lent ON executions (execution_id)
  WHERE record_lent > 0 AND state IN ('settled', 'refunded');
CREATE INDEX executions_settled_by_wallet ON executions (wallet, settled_at) WHERE state IN ('settled', 'refunded');
CREATE INDEX executions_unproven_by_wallet ON executions (wallet)
  WHERE state IN ('settled', 'refunded', 'void') AND is_final = 0;
CREATE INDEX executions_void_by_wallet
  ON executions (wallet, coalesce(opened_at, accepted_at) DESC, created_ms DESC, execution_id DESC, listing)
  WHERE state = 'void' AND is_final = 1;

CREATE TABLE api_keys (
  key_hash      TEXT PRIMARY KEY,
  key_id        TEXT NOT NULL,
  wallet        TEXT NOT NULL,
  name          TEXT NOT NULL,
  created_ms    INTEGER NOT NULL,
  last_used_ms  INTEGER,
  revoked_ms    INTEGER,
  scopes TEXT NOT NULL DEFAULT 'execute read',
  expires_ms INTEGER,
  allowed_ips TEXT
) STRICT;
CREATE INDEX api_keys_by_wallet ON api_keys (wallet, created_ms);

CREATE TABLE metadata (
  metadata_hash  TEXT PRIMARY KEY,
  document       TEXT NOT NULL,
  received_ms    INTEGER NOT NULL
) STRICT;
CREATE INDEX metadata_by_age ON metadata (received_ms);

CREATE TABLE answers (
  execution_id  TEXT PRIMARY KEY,
  status        INTEGER NOT NULL,
  body          BLOB NOT NULL,
  answered_ms   INTEGER NOT NULL,
  result_at INTEGER
) STRICT;
CREATE INDEX answers_by_age ON answers (answered_ms);

CREATE TABLE relays (
  owner           TEXT PRIMARY KEY,
  alive_until_ms  INTEGER NOT NULL
) STRICT;

CREATE TABLE probes (
  listing    TEXT PRIMARY KEY,
  probed_ms  INTEGER NOT NULL,
  passed_ms  INTEGER
) STRICT;

CREATE TABLE archive_trees (
  archive_index  INTEGER PRIMARY KEY,
  tree           TEXT NOT NULL,
  leaf_count     INTEGER NOT NULL,
  is_proven      INTEGER NOT NULL CHECK (is_proven IN (0, 1))
) STRICT;

CREATE TABLE archive_nodes (
  archive_index  INTEGER NOT NULL,
  level          INTEGER NOT NULL,
  position       INTEGER NOT NULL,
  hash           BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (archive_index, level, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE sweeper (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  owner              TEXT,
  signed             BLOB,
  signature          TEXT,
  last_valid_height  INTEGER
) STRICT;

CREATE TABLE revocations (
  wallet   TEXT NOT NULL,
  sent_ms  INTEGER NOT NULL,
  fee      INTEGER NOT NULL
) STRICT;
CREATE INDEX revocations_by_time ON revocations (sent_ms, wallet, fee);

CREATE TABLE evidence (
  execution_id   TEXT NOT NULL,
  evidence_hash  TEXT NOT NULL,
  wallet         TEXT NOT NULL,
  media_type     TEXT NOT NULL,
  content        BLOB NOT NULL,
  received_ms    INTEGER NOT NULL,
  PRIMARY KEY (execution_id, evidence_hash)
) STRICT;
CREATE INDEX evidence_by_wallet ON evidence (wallet, received_ms);
CREATE INDEX evidence_by_age ON evidence (received_ms);

CREATE TABLE dispute_reasons (
  execution_id  TEXT NOT NULL,
  reason_hash   TEXT NOT NULL,
  reason        TEXT NOT NULL,
  received_ms   INTEGER NOT NULL,
  PRIMARY KEY (execution_id, reason_hash)
) STRICT;

CREATE TABLE "results" (
  execution_id         TEXT PRIMARY KEY,
  result               BLOB,
  -- Bytes of the result, wherever it is.
  size                 INTEGER NOT NULL,
  object_stored        INTEGER NOT NULL DEFAULT 0,
  result_hash          TEXT NOT NULL,
  signature            TEXT NOT NULL,
  execution_signature  TEXT,
  tokens_used          INTEGER,
  steps                TEXT,
  execution_time_ms    INTEGER NOT NULL,
  token                TEXT NOT NULL,
  verified_ms          INTEGER NOT NULL
) STRICT;

CREATE TRIGGER results_let_go AFTER UPDATE OF result ON results
WHEN new.result IS NULL AND EXISTS (SELECT 1 FROM result_pieces WHERE token = old.token) BEGIN
  INSERT INTO loose_pieces (token, since_ms) VALUES (old.token, CAST(unixepoch('subsec') * 1000 AS INTEGER))
  ON CONFLICT (token) DO NOTHING;
END;

CREATE TRIGGER results_dropped AFTER DELETE ON results
WHEN EXISTS (SELECT 1 FROM result_pieces WHERE token = old.token) BEGIN
  INSERT INTO loose_pieces (token, since_ms) VALUES (old.token, CAST(unixepoch('subsec') * 1000 AS INTEGER))
  ON CONFLICT (token) DO NOTHING;
END;
CREATE INDEX results_kept ON results (verified_ms) WHERE result IS NOT NULL OR object_stored = 1;
CREATE INDEX results_here ON results (size) WHERE result IS NOT NULL;

CREATE TABLE "late_answers" (
  execution_id         TEXT PRIMARY KEY,
  result               BLOB NOT NULL,
  result_hash          TEXT NOT NULL,
  signature            TEXT NOT NULL,
  execution_signature  TEXT,
  received_ms          INTEGER NOT NULL,
  token TEXT
) STRICT;

CREATE TRIGGER late_answers_dropped AFTER DELETE ON late_answers WHEN old.token IS NOT NULL BEGIN
  INSERT INTO loose_pieces (token, since_ms) VALUES (old.token, CAST(unixepoch('subsec') * 1000 AS INTEGER))
  ON CONFLICT (token) DO NOTHING;
END;
CREATE INDEX late_answers_by_age ON late_answers (received_ms);

CREATE TABLE lent_sums (
  scope     TEXT NOT NULL CHECK (scope IN ('wallet', 'listing', 'total')),
  name      TEXT NOT NULL,
  lamports  INTEGER NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  digest      TEXT PRIMARY KEY,
  kind        TEXT NOT NULL CHECK (kind IN ('token', 'cookie')),
  wallet      TEXT NOT NULL,
  expires_ms  INTEGER NOT NULL,
  -- The longest that it can be prolonged to.
  ends_ms     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_wallet ON sessions (wallet, expires_ms);
CREATE INDEX sessions_by_expiry ON sessions (expires_ms);

CREATE TABLE used_challenges (
  digest      TEXT PRIMARY KEY,
  expires_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_ms);

CREATE TABLE secrets (
  name   TEXT PRIMARY KEY,
  bytes  BLOB NOT NULL
) STRICT;

CREATE TABLE leaderships (
  name      TEXT PRIMARY KEY,
  owner     TEXT NOT NULL,
  until_ms  INTEGER NOT NULL
) STRICT;

CREATE TABLE call_keys (
  kid              TEXT PRIMARY KEY,
  x                TEXT NOT NULL,
  -- By this database's clock; a relay that lives puts it off again and again.
  listed_until_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE "pending_metadata" (
  metadata_hash  TEXT NOT NULL,
  wallet         TEXT NOT NULL,
  network        TEXT NOT NULL,
  received_ms    INTEGER NOT NULL,
  document       TEXT NOT NULL,
  PRIMARY KEY (metadata_hash, wallet, network)
) STRICT;
CREATE INDEX pending_metadata_by_wallet ON pending_metadata (wallet, received_ms);
CREATE INDEX pending_metadata_by_network ON pending_metadata (wallet, network, received_ms);
CREATE INDEX pending_metadata_by_age ON pending_metadata (received_ms);
CREATE INDEX pending_metadata_of_wallets ON pending_metadata (received_ms) WHERE wallet <> '';

CREATE TABLE result_pieces (
  -- Of the row that names them: nobody else's pieces have it.
  token  TEXT NOT NULL,
  -- From 0.
  place  INTEGER NOT NULL,
  bytes  BLOB NOT NULL,
  PRIMARY KEY (token, place)
) STRICT;

CREATE TABLE loose_pieces (
  token     TEXT PRIMARY KEY,
  -- By this database's clock; 0 once their deletion has begun, after which no row may name them.
  since_ms  INTEGER NOT NULL
) STRICT;
CREATE INDEX loose_pieces_by_age ON loose_pieces (since_ms);
