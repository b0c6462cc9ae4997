-- Both databases after all migrations. Made by: RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts
-- What tables and columns mean is said in the migrations.

-- index.db

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
      release TEXT NOT NULL, older_run INTEGER NOT NULL) STRICT;

CREATE TABLE chain_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  genesis_hash TEXT NOT NULL,
  program_id TEXT NOT NULL,
  -- The sysvar LastRestartSlot of the chain that the tables show. A cluster that restarts may continue from before its last final
  -- slot, so the tables are built again when it changes. NULL until it was read for the first time.
  restart_slot INTEGER
) STRICT;

CREATE TABLE cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

CREATE TABLE progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  slot INTEGER NOT NULL,
  checked_at INTEGER NOT NULL
) STRICT;

CREATE TABLE configs (
  config TEXT PRIMARY KEY,
  admin TEXT NOT NULL,
  -- JSON array of base58: the keys that may settle and refund, and open for API keys.
  relay_authorities TEXT NOT NULL,
  -- Time from a paid execution's end until its record can be archived.
  record_seconds INTEGER NOT NULL,
  slot INTEGER NOT NULL
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
  -- `slashed` is the part of `deposited` that upheld disputes took, `forfeited` the part of it that is still in the vault
  -- and neither paid nor owed. `returnable_at` is NULL before delisting.
  slashed INTEGER NOT NULL DEFAULT 0,
  forfeited INTEGER NOT NULL DEFAULT 0,
  returnable_at INTEGER,
  collateral_returned INTEGER NOT NULL DEFAULT 0 CHECK (collateral_returned IN (0, 1))
) STRICT;
CREATE INDEX listings_by_metadata ON listings (metadata_hash);
CREATE INDEX listings_by_creator ON listings (creator, listed_at DESC);

CREATE TABLE grants (
  grant_address TEXT PRIMARY KEY,
  wallet TEXT NOT NULL,
  key_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  revoked INTEGER NOT NULL CHECK (revoked IN (0, 1)),
  execution_count INTEGER NOT NULL,
  total_spent TEXT NOT NULL,
  slot INTEGER NOT NULL,
  -- 1 if the account is gone. A closed grant is also `revoked`, because its key is useless. Its expiry and figures may lack the
  -- last changes of a log that could not be trusted. The execution of a closed record has ended.
  closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
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
  -- Slot of the transaction that opened it, and the number of the program's executions opened before in that slot. Together
  -- they give the order of the chain, which seconds cannot. NULL if the opening transaction is unknown.
  opened_slot INTEGER,
  open_index INTEGER,
  -- The listing's own timeout when the execution was opened; NULL if that version of the listing was not seen.
  listing_timeout_seconds INTEGER,
  -- Lamports in the record for the relay authority that ends it.
  gas_lamports INTEGER NOT NULL DEFAULT 0,
  -- 1 if the caller's gas balance lent the escrow's rent and gets it back; else `rent_sponsor` does.
  spender_lends_escrow INTEGER NOT NULL DEFAULT 0 CHECK (spender_lends_escrow IN (0, 1)),
  -- The deposit that paid; NULL if a wallet or a grant did. No account shows it.
  deposit TEXT
) STRICT;
CREATE INDEX executions_open ON executions (refund_at, execution_id, price) WHERE status = 'open';
CREATE INDEX executions_by_opened_slot ON executions (opened_slot, open_index);
CREATE INDEX executions_kept ON executions (settled_at) WHERE closed = 0 AND status <> 'open';
CREATE INDEX executions_ended_by_listing ON executions (listing, settled_at DESC) WHERE status <> 'open';
CREATE INDEX executions_ended_by_caller ON executions (caller, settled_at DESC) WHERE status <> 'open';
CREATE INDEX executions_by_caller_status
  ON executions (caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
CREATE INDEX executions_by_listing_caller
  ON executions (listing, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
CREATE INDEX executions_by_key
  ON executions (key_id, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC)
  WHERE key_id IS NOT NULL;

CREATE TABLE deposits (
  deposit TEXT PRIMARY KEY,
  caller TEXT NOT NULL,
  rent_sponsor TEXT NOT NULL,
  price TEXT NOT NULL,
  service_fee INTEGER NOT NULL,
  prepared_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('prepared', 'opened', 'refunded')),
  ended_at INTEGER,
  end_signature TEXT,
  slot INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
) STRICT;
CREATE INDEX deposits_waiting ON deposits (prepared_at, deposit) WHERE closed = 0;

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
  bond_paid INTEGER,
  amount_to_caller INTEGER,
  amount_slashed INTEGER,
  owed INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_at INTEGER,
  slot INTEGER NOT NULL,
  -- 1 once the account is gone, long after the outcome. If the log could not be trusted and the account could not be read any
  -- more, times are the block's, and amounts follow from the instruction and the listing's row, or are NULL.
  closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
) STRICT;
CREATE INDEX disputes_by_caller ON disputes (caller, (outcome <> 'open'), opened_at DESC, execution_id, outcome);
CREATE INDEX disputes_by_listing ON disputes (listing, (outcome <> 'open'), opened_at DESC, execution_id, caller, outcome);
CREATE INDEX disputes_of_listing ON disputes (listing, outcome);
CREATE INDEX disputes_by_outcome ON disputes (outcome, opened_at DESC, execution_id);
CREATE INDEX disputes_waiting ON disputes (opened_at, execution_id) WHERE outcome = 'open';
CREATE INDEX disputes_ended ON disputes (opened_at DESC, execution_id) WHERE outcome <> 'open';
CREATE INDEX disputes_kept ON disputes (resolved_at) WHERE closed = 0 AND outcome <> 'open';

CREATE TABLE unread_accounts (
  address TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  -- Known facts about a record that was gone before its account was read: its execution, and the transactions that opened and
  -- ended it. The row that its leaf makes later takes them over. NULL if the account is not a record. A dispute of such a
  -- record has a row only if its account or its event was read.
  execution_id TEXT,
  open_signature TEXT,
  opened_slot INTEGER,
  end_signature TEXT,
  -- The deposit that paid; NULL if none did.
  deposit TEXT
) STRICT;

CREATE TABLE archives (
  archive TEXT PRIMARY KEY,
  archive_index INTEGER NOT NULL UNIQUE,
  tree TEXT NOT NULL UNIQUE,
  leaf_count INTEGER NOT NULL,
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

CREATE TABLE unclaimed_refunds (
  claim TEXT PRIMARY KEY,
  tree TEXT NOT NULL,
  leaf_index INTEGER NOT NULL,
  leaf TEXT NOT NULL,
  source TEXT NOT NULL,
  caller TEXT NOT NULL,
  amount INTEGER NOT NULL,
  unclaimed_at INTEGER NOT NULL,
  signature TEXT,
  claimed_at INTEGER,
  slot INTEGER NOT NULL,
  UNIQUE (tree, leaf_index)
) STRICT;
CREATE INDEX unclaimed_refunds_by_source ON unclaimed_refunds (source);
CREATE INDEX unclaimed_refunds_open ON unclaimed_refunds (amount) WHERE claimed_at IS NULL;

CREATE TABLE agent_statistics (
  listing TEXT PRIMARY KEY,
  total_executions INTEGER NOT NULL,
  successful_executions INTEGER NOT NULL,
  success_rate REAL NOT NULL,
  avg_execution_time_ms INTEGER NOT NULL,
  dispute_count INTEGER NOT NULL,
  earned INTEGER NOT NULL,
  -- All ended executions, including refunded ones; when this falls to 0, the row is deleted.
  ended_executions INTEGER NOT NULL,
  timed_executions INTEGER NOT NULL,
  total_time_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
  -- Grows with each listing and each change of a listing's document, also over rebuilds of the index. A reader that has seen an
  -- id therefore asks only for later ones.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  listing TEXT NOT NULL UNIQUE,
  creator TEXT NOT NULL,
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
  price INTEGER NOT NULL,
  tag_mask INTEGER NOT NULL,
  listed_at INTEGER NOT NULL,
  metadata_hash TEXT NOT NULL,
  -- The first 60 bits of `metadata_hash`: the id of its document in the ledger. Joins by a number are several times faster.
  document INTEGER NOT NULL,
  total_executions INTEGER NOT NULL,
  success_rate REAL NOT NULL,
  -- The order `best`: the success rate with ten more calls, half of them successful. A few calls decide little.
  score REAL NOT NULL,
  avg_execution_time_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX agents_by_total ON agents (total_executions DESC, listing, verified, success_rate, tag_mask, document);
CREATE INDEX agents_by_rate ON agents (success_rate DESC, listing, verified, total_executions, tag_mask, document);
CREATE INDEX agents_by_score ON agents (score DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price ON agents (price, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price_down
  ON agents (price DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_age ON agents (listed_at DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_document ON agents (document, verified, total_executions, success_rate, tag_mask);
CREATE INDEX agents_by_creator ON agents (creator);

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE events (
  signature TEXT NOT NULL,
  event_index INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  -- Relays follow the events by slot, so an event that is applied late would be in a slot that they have passed. NULL for an event
  -- in the order of the chain. For a late one it is above every slot that the tables had reached, and relays find it there.
  applied_slot INTEGER,
  PRIMARY KEY (slot, signature, event_index)
) STRICT;
CREATE INDEX events_late ON events (applied_slot) WHERE applied_slot IS NOT NULL;
CREATE INDEX events_of_admin ON events (slot, signature, event_index) WHERE name IN (
  'AdminChanged', 'ChangeApplied', 'ChangeCancelled', 'ChangeProposed', 'ChangesCancelled', 'ConfigInitialized',
  'ConfigUpdated', 'CreatorVerificationChanged', 'DisputeResolved', 'RelayAuthorityRemoved', 'TreasuryWithdrawn'
);

CREATE TABLE eventless_transactions (
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (slot, signature)
) STRICT;

CREATE TABLE backfill (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  state TEXT NOT NULL CHECK (state IN ('listing', 'applying', 'history')),
  token TEXT
) STRICT;

CREATE TABLE listed_signatures (
  position INTEGER PRIMARY KEY,
  slot INTEGER NOT NULL,
  signature TEXT NOT NULL,
  failed INTEGER NOT NULL CHECK (failed IN (0, 1))
) STRICT;

CREATE TABLE listing_versions (
  -- Listing address and version number, separated by a space.
  version TEXT PRIMARY KEY,
  timeout_seconds INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

CREATE TABLE gaps (
  signature TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE pruned_slots (
  first_slot INTEGER PRIMARY KEY,
  last_slot INTEGER NOT NULL
) STRICT;

CREATE TABLE caller_totals (
  caller TEXT NOT NULL,
  listing TEXT NOT NULL,
  status TEXT NOT NULL,
  day INTEGER NOT NULL,
  executions INTEGER NOT NULL,
  PRIMARY KEY (caller, listing, status, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX caller_totals_empty ON caller_totals (executions) WHERE executions = 0;

CREATE TABLE agent_days (
  listing TEXT NOT NULL,
  day INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  executions INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  earned INTEGER NOT NULL,
  PRIMARY KEY (listing, day, outcome, reason, time_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_days_empty ON agent_days (executions) WHERE executions = 0;
CREATE INDEX agent_days_failed ON agent_days (day, listing, executions) WHERE outcome IN ('failed', 'dispute_upheld');

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
  settled_at,
  opened_slot,
  open_index
FROM executions
WHERE status <> 'open';

CREATE VIEW active_agents AS
SELECT
  l.listing,
  l.creator,
  coalesce(c.verified, 0) AS verified,
  l.price,
  l.tag_mask,
  l.listed_at,
  l.metadata_hash,
  -- SQLite has no other way from hexadecimal digits to a number.
  ('0x' || substr(l.metadata_hash, 1, 15)) ->> '$' AS document,
  coalesce(s.total_executions, 0) AS total_executions,
  coalesce(s.success_rate, 0.0) AS success_rate,
  (coalesce(s.successful_executions, 0) + 5.0) / (coalesce(s.total_executions, 0) + 10.0) AS score,
  coalesce(s.avg_execution_time_ms, 0) AS avg_execution_time_ms
FROM listings AS l
LEFT JOIN creators AS c ON c.wallet = l.creator
LEFT JOIN agent_statistics AS s ON s.listing = l.listing
WHERE l.status = 'active';


-- ledger.db

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
      release TEXT NOT NULL, older_run INTEGER NOT NULL) STRICT;

CREATE TABLE executions (
  execution_id TEXT PRIMARY KEY,
  wallet TEXT NOT NULL,
  key_id TEXT NOT NULL,
  listing TEXT NOT NULL,
  listing_version INTEGER NOT NULL,
  metadata_hash TEXT NOT NULL,
  nonce TEXT NOT NULL,
  price INTEGER NOT NULL,
  max_cost INTEGER NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  task TEXT NOT NULL,
  parameters TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN (
    'accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid', 'returning',
    'open_signed', 'open_confirmed', 'dispatched', 'verified', 'refunding',
    'settled', 'refunded', 'returned', 'void', 'parked')),
  created_ms INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  open_before INTEGER,
  opened_at INTEGER,
  refund_at INTEGER,
  dispatched_ms INTEGER,
  execution_time_ms INTEGER,
  refund_reason INTEGER,
  refund_state TEXT CHECK (refund_state IN ('pending', 'waiting', 'done')),
  settled_at INTEGER,
  creator_amount INTEGER,
  platform_amount INTEGER,
  error_code TEXT,
  error_message TEXT,
  -- Whose doing it was that a deposit is sent back. Its network fees count against them if nothing was paid.
  culprit TEXT CHECK (culprit IN ('wallet', 'listing', 'operator')),
  rebuilds INTEGER NOT NULL DEFAULT 0,
  -- SHA-256 of agent and canonical body, if the request had an Idempotency-Key; the key itself is in the nonce.
  fingerprint TEXT,
  -- The relay that owns the row: only that process changes it. Another takes it once the owner is no longer alive.
  lease_owner TEXT,
  -- Network fees that this call and earlier calls with its id cost and nobody paid, lamports. The wallet owes the first part
  -- until a later call repays it; the second counts against the listing, whose change or closed account was the cause.
  lost_fees INTEGER NOT NULL DEFAULT 0,
  listing_fees INTEGER NOT NULL DEFAULT 0,
  -- When the last fee was lost.
  lost_ms INTEGER NOT NULL DEFAULT 0,
  -- Until then the row needs no work: only a person, or the end of its time, can change anything.
  rest_until_ms INTEGER NOT NULL DEFAULT 0,
  -- The listing's timeout at that time; the caller may have asked for less.
  listing_timeout_seconds INTEGER,
  -- What the open pays to the relay out of the gas balance: its own fee, and earlier losses of the wallet that it repays.
  -- A call paid by a deposit repays them out of its service fee. And the gas that the record holds for its end.
  fee_lamports INTEGER NOT NULL DEFAULT 0,
  repaid_lamports INTEGER NOT NULL DEFAULT 0,
  gas_lamports INTEGER NOT NULL DEFAULT 0,
  -- Rent of the record and of the escrow if the operator lends it. The escrow's is returned when the execution ends, the
  -- record's when it is closed, which sets it to 0.
  record_lent INTEGER NOT NULL DEFAULT 0,
  escrow_lent INTEGER NOT NULL DEFAULT 0,
  -- Lamports that the open takes from the wallet's gas balance: fee, gas, and the rent that the operator does not lend.
  gas_balance_lamports INTEGER NOT NULL DEFAULT 0,
  -- A slot at which the chain showed the record. Accounts read at an earlier slot may still show the money that the open took.
  opened_slot INTEGER,
  -- When the caller deleted task, parameters and result; null while they are kept.
  content_deleted_ms INTEGER,
  -- Of a call that an x402 client pays for: the address of its deposit, whether that address names the payer, the part of the
  -- payment beyond the price, and the client's own id of the payment.
  deposit TEXT,
  names_payer INTEGER NOT NULL DEFAULT 0 CHECK (names_payer IN (0, 1)),
  service_fee INTEGER NOT NULL DEFAULT 0,
  payment_id TEXT,
  -- The client's payment as the client alone signed it; null once the relay has signed it too (`transactions`). Without that
  -- signature nobody can send it.
  payment BLOB,
  payment_last_valid_height INTEGER,
  -- For the triggers: rent that the operator lends for this call, and to whom: a key, or an x402 client, who has no key.
  lent INTEGER GENERATED ALWAYS AS (CASE
    WHEN state IN ('returned', 'void') THEN 0
    WHEN state IN ('settled', 'refunded') THEN record_lent
    ELSE record_lent + escrow_lent END) STORED,
  lent_to TEXT GENERATED ALWAYS AS (CASE key_id WHEN '00000000000000000000000000000000' THEN 'x402' ELSE 'keys' END) STORED,
  -- Lost fees that the wallet owes for it, less what it has repaid.
  owed INTEGER GENERATED ALWAYS AS (lost_fees - CASE WHEN opened_at IS NULL THEN 0 ELSE repaid_lamports END) STORED,
  -- The event of its public status; null for a state that is not reported.
  event_type TEXT GENERATED ALWAYS AS (CASE
    WHEN state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid', 'open_signed') THEN NULL
    WHEN state = 'open_confirmed' THEN 'execution.pending'
    WHEN state = 'settled' THEN 'execution.completed'
    WHEN state IN ('refunded', 'returned', 'void') OR coalesce(refund_state, '') = 'waiting' THEN 'execution.failed'
    ELSE 'execution.running' END) STORED
) STRICT;

CREATE TRIGGER executions_lent_added AFTER INSERT ON executions WHEN new.lent <> 0 BEGIN
  UPDATE lent_sums SET lamports = lamports + new.lent WHERE kind = new.lent_to;
END;

CREATE TRIGGER executions_lent_moved AFTER UPDATE OF state, record_lent, escrow_lent ON executions
WHEN new.lent <> old.lent BEGIN
  UPDATE lent_sums SET lamports = lamports + new.lent - old.lent WHERE kind = new.lent_to;
END;

CREATE TRIGGER executions_lent_dropped AFTER DELETE ON executions WHEN old.lent <> 0 BEGIN
  UPDATE lent_sums SET lamports = lamports - old.lent WHERE kind = old.lent_to;
END;

CREATE TRIGGER executions_owed_added AFTER INSERT ON executions WHEN new.owed <> 0 BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms)
  VALUES (new.wallet, new.owed, CASE WHEN new.lost_fees > 0 THEN new.lost_ms ELSE 0 END)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports, lost_ms = max(lost_ms, excluded.lost_ms);
  DELETE FROM debts WHERE wallet = new.wallet AND lamports = 0;
END;

CREATE TRIGGER executions_owed_moved AFTER UPDATE OF lost_fees, repaid_lamports, opened_at ON executions
WHEN new.owed <> old.owed BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms)
  VALUES (new.wallet, new.owed - old.owed, CASE WHEN new.lost_fees > old.lost_fees THEN new.lost_ms ELSE 0 END)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports, lost_ms = max(lost_ms, excluded.lost_ms);
  DELETE FROM debts WHERE wallet = new.wallet AND lamports = 0;
END;

CREATE TRIGGER executions_owed_dropped AFTER DELETE ON executions WHEN old.owed <> 0 BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms) VALUES (old.wallet, -old.owed, 0)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports;
  DELETE FROM debts WHERE wallet = old.wallet AND lamports = 0;
END;

CREATE TRIGGER executions_begun AFTER INSERT ON executions WHEN new.state IN ('open_confirmed', 'parked') BEGIN
  INSERT INTO events (wallet, type, execution_id, listing, cost, created_ms)
  VALUES (new.wallet, new.event_type, new.execution_id, new.listing, new.price,
    CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

CREATE TRIGGER executions_moved AFTER UPDATE OF state, refund_state ON executions
WHEN new.event_type IS NOT NULL AND new.event_type IS NOT old.event_type BEGIN
  INSERT INTO events (wallet, type, execution_id, listing, cost, error_code, created_ms)
  VALUES (new.wallet, new.event_type, new.execution_id, new.listing,
    CASE new.event_type WHEN 'execution.failed' THEN 0 ELSE new.price END,
    CASE new.event_type WHEN 'execution.failed' THEN new.error_code END, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE INDEX executions_unfinished ON executions (created_ms)
  WHERE state NOT IN ('settled', 'refunded', 'returned', 'void');
CREATE INDEX executions_by_lease ON executions (lease_owner, rest_until_ms)
  WHERE state NOT IN ('settled', 'refunded', 'returned', 'void');
CREATE INDEX executions_ended_by_listing
  ON executions (listing, created_ms, state, refund_reason, execution_time_ms, wallet, timeout_seconds,
    listing_timeout_seconds)
  WHERE state IN ('settled', 'refunding', 'refunded');
CREATE INDEX executions_failed_by_listing ON executions (listing, created_ms, execution_id)
  WHERE state IN ('refunding', 'refunded') AND dispatched_ms IS NOT NULL;
CREATE INDEX executions_lost ON executions (lost_ms, lost_fees, listing_fees) WHERE lost_fees > 0 OR listing_fees > 0;
CREATE INDEX executions_lost_by_listing ON executions (listing, lost_ms, listing_fees) WHERE listing_fees > 0;
CREATE INDEX executions_waiting ON executions (wallet, execution_id)
  WHERE refund_state = 'waiting';
CREATE INDEX executions_opening ON executions (wallet, key_id, price, gas_balance_lamports)
  WHERE state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed')
    OR (state = 'open_signed' AND deposit IS NULL);
CREATE INDEX executions_opening_by_listing ON executions (listing)
  WHERE state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed')
    OR (state = 'open_signed' AND deposit IS NULL);
CREATE INDEX executions_repaying ON executions (wallet)
  WHERE repaid_lamports > 0 AND opened_at IS NULL AND state NOT IN ('returned', 'void');
CREATE INDEX executions_held_by_wallet ON executions (wallet, gas_balance_lamports, fee_lamports, gas_lamports)
  WHERE state IN ('open_confirmed', 'dispatched', 'verified', 'refunding', 'parked') AND gas_balance_lamports > 0;

CREATE UNIQUE INDEX executions_by_deposit ON executions (deposit) WHERE deposit IS NOT NULL AND state <> 'void';

CREATE UNIQUE INDEX executions_by_key ON executions (wallet, substr(nonce, 9))
  WHERE fingerprint IS NOT NULL AND state <> 'void';

CREATE UNIQUE INDEX executions_by_payment ON executions (wallet, payment_id) WHERE payment_id IS NOT NULL AND state <> 'void';
CREATE INDEX executions_returned_by_listing ON executions (listing, created_ms)
  WHERE state IN ('returning', 'returned', 'void') AND error_code = 'price_changed' AND deposit IS NOT NULL;
CREATE INDEX executions_landed ON executions (wallet, opened_slot) WHERE opened_slot IS NOT NULL;
CREATE INDEX executions_lent ON executions (settled_at, execution_id, record_lent)
  WHERE record_lent > 0 AND state IN ('settled', 'refunded');
CREATE INDEX executions_settled_by_wallet ON executions (wallet, settled_at, state) WHERE state IN ('settled', 'refunded');
CREATE INDEX executions_void_by_wallet
  ON executions (wallet, (coalesce(opened_at, accepted_at)) DESC, created_ms DESC, execution_id DESC, listing)
  WHERE state IN ('returned', 'void');

CREATE TABLE signed_transactions (
  -- The fee payer's.
  signature TEXT PRIMARY KEY,
  -- The last block height at which it can land.
  last_valid_height INTEGER NOT NULL,
  -- What it costs if it lands or fails, lamports: the sum of its calls' shares.
  fee INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE transactions (
  execution_id TEXT NOT NULL,
  -- `pay` is the client's payment into the deposit, `return` its refund.
  kind TEXT NOT NULL CHECK (kind IN ('deposit', 'pay', 'open', 'settle', 'refund', 'return')),
  -- 0 for the first of its kind.
  attempt INTEGER NOT NULL,
  signature TEXT NOT NULL,
  -- This execution's share of the fee, lamports; all of it if its part made the transaction fail.
  fee INTEGER NOT NULL,
  -- What became of it by what the relay has seen; null while that is unknown. An expired one costs this execution nothing: it
  -- cannot land, or another execution's part made it fail.
  outcome TEXT CHECK (outcome IN ('landed', 'failed', 'expired')),
  -- Whose doing it was that nobody pays this fee; null while somebody does, or it is unknown. The row's lost fees contain it
  -- from the same moment on, unless it is the operator, so that no fee counts twice.
  culprit TEXT CHECK (culprit IN ('wallet', 'listing', 'operator')),
  PRIMARY KEY (execution_id, kind, attempt)
) STRICT;

CREATE TABLE api_keys (
  key_hash TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  wallet TEXT NOT NULL,
  name TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  last_used_ms INTEGER,
  revoked_ms INTEGER,
  -- Restrictions that the wallet itself set, in addition to the grant's. NULL for none.
  scopes TEXT NOT NULL DEFAULT 'execute read',
  expires_ms INTEGER,
  -- Comma-separated CIDR blocks.
  allowed_ips TEXT,
  -- Comma-separated addresses of listings.
  allowed_agents TEXT
) STRICT;
CREATE INDEX api_keys_by_wallet ON api_keys (wallet, created_ms);

CREATE TABLE documents (
  -- The first 60 bits of the hash, as `agents.document` of the index.
  id INTEGER PRIMARY KEY,
  metadata_hash TEXT NOT NULL UNIQUE,
  received_ms INTEGER NOT NULL,
  -- The fields that lists show, as JSON.
  description TEXT NOT NULL,
  -- Words to find it by, separated by spaces: its words, its creator's name's words after an @, its tags after a #.
  words TEXT NOT NULL,
  -- 1 if it is tagged `sandbox`: agents for tests come last in the order `best`.
  is_sandbox INTEGER NOT NULL DEFAULT 0 CHECK (is_sandbox IN (0, 1)),
  document TEXT NOT NULL
) STRICT;

CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
  INSERT INTO document_words (rowid, words) VALUES (new.id, new.words);
END;

CREATE TRIGGER documents_dropped AFTER DELETE ON documents BEGIN
  INSERT INTO document_words (document_words, rowid, words) VALUES ('delete', old.id, old.words);
END;
CREATE INDEX documents_sandbox ON documents (id) WHERE is_sandbox = 1;

CREATE TABLE relays (
  owner TEXT PRIMARY KEY,
  alive_until_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE archive_trees (
  archive_index INTEGER PRIMARY KEY,
  tree TEXT NOT NULL,
  leaf_count INTEGER NOT NULL,
  is_proven INTEGER NOT NULL CHECK (is_proven IN (0, 1))
) STRICT;

CREATE TABLE archive_nodes (
  archive_index INTEGER NOT NULL,
  level INTEGER NOT NULL,
  position INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (archive_index, level, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE sweeper_transactions (
  signature TEXT PRIMARY KEY,
  signed BLOB NOT NULL,
  last_valid_height INTEGER NOT NULL
) STRICT;

CREATE TABLE lenders (
  address TEXT PRIMARY KEY
) STRICT;

CREATE TABLE cluster (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  restart_slot INTEGER NOT NULL
) STRICT;

CREATE TABLE revocations (
  wallet TEXT NOT NULL,
  sent_ms INTEGER NOT NULL,
  fee INTEGER NOT NULL
) STRICT;
CREATE INDEX revocations_by_time ON revocations (sent_ms, wallet, fee);

CREATE TABLE evidence (
  execution_id TEXT NOT NULL,
  evidence_hash TEXT NOT NULL,
  wallet TEXT NOT NULL,
  media_type TEXT NOT NULL,
  content BLOB NOT NULL,
  received_ms INTEGER NOT NULL,
  PRIMARY KEY (execution_id, evidence_hash)
) STRICT;
CREATE INDEX evidence_by_wallet ON evidence (wallet, received_ms);
CREATE INDEX evidence_by_age ON evidence (received_ms);

CREATE TABLE dispute_reasons (
  execution_id TEXT NOT NULL,
  reason_hash TEXT NOT NULL,
  reason TEXT NOT NULL,
  received_ms INTEGER NOT NULL,
  PRIMARY KEY (execution_id, reason_hash)
) STRICT;

CREATE TABLE admin_actions (
  action_id TEXT PRIMARY KEY,
  begun_ms INTEGER NOT NULL,
  -- NULL while it is done, and for ever if the process or the database stopped meanwhile; also `outcome`.
  ended_ms INTEGER,
  wallet TEXT NOT NULL,
  -- A name of /trpc.
  action TEXT NOT NULL,
  -- An execution's id; of a sign-in the address that it came from; of a list its filter.
  subject TEXT NOT NULL,
  -- `done`, or the code of the error.
  outcome TEXT
) STRICT;
CREATE INDEX admin_actions_by_time ON admin_actions ((coalesce(ended_ms, begun_ms)), action_id);
CREATE INDEX admin_actions_of_subject ON admin_actions (subject, action, begun_ms);

CREATE TABLE dispute_replies (
  execution_id TEXT PRIMARY KEY,
  reply TEXT NOT NULL,
  received_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE agent_examples (
  metadata_hash TEXT NOT NULL,
  wallet TEXT NOT NULL,
  -- Task, parameters and result as JSON, whose escapes hold any text.
  example TEXT NOT NULL,
  tested_ms INTEGER NOT NULL,
  PRIMARY KEY (metadata_hash, wallet)
) STRICT;

CREATE TABLE results (
  execution_id TEXT PRIMARY KEY,
  -- Bytes of the result, in any place.
  size INTEGER NOT NULL,
  object_stored INTEGER NOT NULL DEFAULT 0,
  result_hash TEXT NOT NULL,
  signature TEXT NOT NULL,
  execution_signature TEXT,
  tokens_used INTEGER,
  steps TEXT,
  execution_time_ms INTEGER NOT NULL,
  token TEXT NOT NULL,
  verified_ms INTEGER NOT NULL,
  -- At most 5 MiB. It is the last column because SQLite reads a row up to the last column that a query needs.
  result BLOB
) STRICT;
CREATE INDEX results_kept ON results (verified_ms) WHERE result IS NOT NULL OR object_stored = 1;
CREATE INDEX results_here ON results (size) WHERE result IS NOT NULL;

CREATE TABLE failed_answers (
  execution_id TEXT PRIMARY KEY,
  -- Null if no HTTP answer came.
  http_status INTEGER,
  -- The beginning of the body, at most 16 KiB; null if none came, or once it is old or its caller deleted it.
  body BLOB,
  -- 1 if the body was longer.
  is_cut INTEGER NOT NULL CHECK (is_cut IN (0, 1)),
  -- From the first call of the server to its answer, or to the deadline.
  duration_ms INTEGER NOT NULL,
  answered_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX failed_answers_by_age ON failed_answers (answered_ms) WHERE body IS NOT NULL;

CREATE TABLE debts (
  wallet TEXT PRIMARY KEY,
  lamports INTEGER NOT NULL,
  lost_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  digest TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('token', 'cookie')),
  wallet TEXT NOT NULL,
  -- Of the address that signed in.
  network TEXT NOT NULL,
  -- 1 if strangers cannot displace it: the wallet has paid, has a listing, or is the admin's.
  is_known INTEGER NOT NULL CHECK (is_known IN (0, 1)),
  expires_ms INTEGER NOT NULL,
  -- The latest time that it can be extended to.
  ends_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_wallet ON sessions (wallet, expires_ms);
CREATE INDEX sessions_by_expiry ON sessions (expires_ms);
CREATE INDEX sessions_of_strangers ON sessions (network, expires_ms) WHERE is_known = 0;

CREATE TABLE used_challenges (
  digest TEXT PRIMARY KEY,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_ms);

CREATE TABLE authorization_codes (
  key_hash TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  sealed_key BLOB NOT NULL,
  binding TEXT NOT NULL,
  -- When the key ends on the chain, unix ms.
  key_expires_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX authorization_codes_by_expiry ON authorization_codes (expires_ms);

CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE leaderships (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE call_keys (
  kid TEXT PRIMARY KEY,
  x TEXT NOT NULL,
  -- By this database's clock; a live relay extends it repeatedly.
  listed_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pending_metadata (
  metadata_hash TEXT NOT NULL,
  wallet TEXT NOT NULL,
  network TEXT NOT NULL,
  is_known INTEGER NOT NULL CHECK (is_known IN (0, 1)),
  received_ms INTEGER NOT NULL,
  PRIMARY KEY (metadata_hash, wallet, network)
) STRICT;
CREATE INDEX pending_metadata_by_wallet ON pending_metadata (wallet, received_ms);
CREATE INDEX pending_metadata_by_network ON pending_metadata (wallet, network, received_ms);
CREATE INDEX pending_metadata_by_age ON pending_metadata (received_ms);
CREATE INDEX pending_metadata_of_strangers ON pending_metadata (network, received_ms) WHERE wallet <> '' AND is_known = 0;

CREATE TABLE events (
  -- Of one execution, a later event has a larger id. The ids of several writers may become visible in another order.
  id INTEGER PRIMARY KEY,
  -- The order in which events are shown. Numbered after the event's transaction, by one relay at a time, so that no reader can
  -- miss an event. Null until then.
  position INTEGER UNIQUE,
  wallet TEXT NOT NULL,
  type TEXT NOT NULL,
  -- The endpoint that alone receives it: of a test event. Null for the wallet's endpoints that want the type.
  endpoint_id TEXT,
  execution_id TEXT,
  -- Of an event of an execution: its agent, what it costs in base units, and why it failed.
  listing TEXT,
  cost INTEGER,
  error_code TEXT,
  -- The details of all other events, as JSON.
  data TEXT,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX events_unnumbered ON events (id) WHERE position IS NULL;
CREATE INDEX events_of_wallet ON events (wallet, position);
CREATE INDEX events_of_execution ON events (execution_id, position) WHERE execution_id IS NOT NULL;
CREATE INDEX events_by_age ON events (created_ms);

CREATE TABLE event_feed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL,
  -- Null before the first look: the history before it is not reported.
  slot INTEGER
) STRICT;

CREATE TABLE webhook_endpoints (
  endpoint_id TEXT PRIMARY KEY,
  wallet TEXT NOT NULL,
  -- Of the address that created it.
  network TEXT NOT NULL,
  -- 1 if strangers cannot displace it: the wallet has paid, has a listing, or is the admin's. A 0 may be old.
  is_known INTEGER NOT NULL CHECK (is_known IN (0, 1)),
  url TEXT NOT NULL,
  -- Separated by spaces; empty for all types.
  event_types TEXT NOT NULL,
  -- Base64. A rotated secret signs too until its end.
  secret TEXT NOT NULL,
  old_secret TEXT,
  old_secret_until_ms INTEGER,
  created_ms INTEGER NOT NULL,
  -- Of the first attempt that failed since the last success; null while it works.
  failing_since_ms INTEGER,
  -- Quick attempts until it is no longer slow; 0 if it is not. Slow endpoints get few parallel attempts.
  slow_for INTEGER NOT NULL DEFAULT 0 CHECK (slow_for >= 0),
  -- When it was switched off, and by whom: its wallet, or the relay after days of failures.
  disabled_ms INTEGER,
  disabled_by TEXT CHECK (disabled_by IN ('wallet', 'failures'))
) STRICT;
CREATE INDEX webhook_endpoints_by_wallet ON webhook_endpoints (wallet, created_ms);
CREATE INDEX webhook_endpoints_of_strangers ON webhook_endpoints (network, created_ms) WHERE is_known = 0;

CREATE TABLE webhook_deliveries (
  id INTEGER PRIMARY KEY,
  endpoint_id TEXT NOT NULL,
  -- Of the event.
  position INTEGER NOT NULL,
  execution_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Of a pending one: when the next attempt is due. An attempt that begins moves it behind its own end, so that no other relay
  -- begins one too; if its relay dies, another attempt follows then.
  due_ms INTEGER NOT NULL,
  -- 1 while an attempt is made, or its relay died in it.
  is_sent INTEGER NOT NULL DEFAULT 0 CHECK (is_sent IN (0, 1)),
  -- 1 if the wallet asked for it: a test, or an event once more. It is sent to a disabled endpoint too.
  is_asked INTEGER NOT NULL DEFAULT 0 CHECK (is_asked IN (0, 1)),
  attempted_ms INTEGER,
  duration_ms INTEGER,
  -- Of the answer; null if none came, and then `error` says why.
  http_status INTEGER,
  -- The beginning of its body, at most 1 KiB.
  body BLOB,
  error TEXT,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_ms, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (endpoint_id, execution_id, position)
  WHERE state = 'pending' AND execution_id IS NOT NULL;
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, due_ms, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_ms);

CREATE TABLE warnings (
  wallet TEXT NOT NULL,
  type TEXT NOT NULL,
  -- The key, or the agent; '' for the wallet.
  subject TEXT NOT NULL,
  PRIMARY KEY (wallet, type, subject)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE document_words USING fts5(
  words, content = 'documents', content_rowid = 'id', tokenize = "ascii tokenchars '@#-'", detail = none,
  prefix = '1 2 3 4 5 6 7 8'
);

CREATE TABLE 'document_words_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'document_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE 'document_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);

CREATE TABLE 'document_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE lent_sums (
  kind TEXT PRIMARY KEY CHECK (kind IN ('keys', 'x402')),
  lamports INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
