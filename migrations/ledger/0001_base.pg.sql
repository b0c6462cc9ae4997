-- The ledger on PostgreSQL: the tables of 0001_base.sqlite.sql, which documents them. Text is ordered by its bytes, as in
-- SQLite, whatever the locale of the database. Text that may contain U+0000 is TEXT too: the driver replaces that character
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
    'accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid', 'returning',
    'open_signed', 'open_confirmed', 'dispatched', 'verified', 'refunding',
    'settled', 'refunded', 'returned', 'void', 'parked')),
  created_ms BIGINT NOT NULL,
  accepted_at BIGINT NOT NULL,
  open_before BIGINT,
  opened_at BIGINT,
  deadline BIGINT,
  refund_at BIGINT,
  fee_bps BIGINT,
  dispatched_ms BIGINT,
  execution_time_ms BIGINT,
  refund_reason BIGINT,
  refund_state TEXT COLLATE "C" CHECK (refund_state IN ('pending', 'waiting', 'done')),
  settled_at BIGINT,
  creator_amount BIGINT,
  platform_amount BIGINT,
  error_code TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  culprit TEXT COLLATE "C" CHECK (culprit IN ('wallet', 'listing', 'operator')),
  rebuilds BIGINT NOT NULL DEFAULT 0,
  fingerprint TEXT COLLATE "C",
  lease_owner TEXT COLLATE "C",
  lost_fees BIGINT NOT NULL DEFAULT 0,
  listing_fees BIGINT NOT NULL DEFAULT 0,
  lost_ms BIGINT NOT NULL DEFAULT 0,
  rest_until_ms BIGINT NOT NULL DEFAULT 0,
  listing_timeout_seconds BIGINT,
  fee_lamports BIGINT NOT NULL DEFAULT 0,
  repaid_lamports BIGINT NOT NULL DEFAULT 0,
  gas_lamports BIGINT NOT NULL DEFAULT 0,
  record_lent BIGINT NOT NULL DEFAULT 0,
  escrow_lent BIGINT NOT NULL DEFAULT 0,
  gas_balance_lamports BIGINT NOT NULL DEFAULT 0,
  opened_slot BIGINT,
  content_deleted_ms BIGINT,
  deposit TEXT COLLATE "C",
  names_payer BIGINT NOT NULL DEFAULT 0 CHECK (names_payer IN (0, 1)),
  service_fee BIGINT NOT NULL DEFAULT 0,
  payment_id TEXT COLLATE "C",
  payment BYTEA,
  payment_last_valid_height BIGINT
);
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
-- Lost network fees: in total, and those that count against a listing.
CREATE INDEX executions_lost ON executions (lost_ms, lost_fees, listing_fees) WHERE lost_fees > 0 OR listing_fees > 0;
CREATE INDEX executions_lost_by_listing ON executions (listing, lost_ms, listing_fees) WHERE listing_fees > 0;
-- Refunds and returns that wait for the caller's account.
CREATE INDEX executions_waiting ON executions (wallet, execution_id)
  WHERE refund_state = 'waiting';
-- Reservations: money that accounts may still show. No decision uses accounts older than finality.
CREATE INDEX executions_opening ON executions (wallet, key_id, price, gas_balance_lamports)
  WHERE state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed')
    OR (state = 'open_signed' AND deposit IS NULL);
-- The same opens by listing.
CREATE INDEX executions_opening_by_listing ON executions (listing)
  WHERE state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed')
    OR (state = 'open_signed' AND deposit IS NULL);
CREATE INDEX executions_repaying ON executions (wallet)
  WHERE repaid_lamports > 0 AND opened_at IS NULL AND state NOT IN ('returned', 'void');
-- Executions whose escrow holds rent of the wallet's gas balance.
CREATE INDEX executions_held_by_wallet ON executions (wallet, gas_balance_lamports, fee_lamports, gas_lamports)
  WHERE state IN ('open_confirmed', 'dispatched', 'verified', 'refunding', 'parked') AND gas_balance_lamports > 0;
CREATE UNIQUE INDEX executions_by_deposit ON executions (deposit) WHERE deposit IS NOT NULL AND state <> 'void';
CREATE UNIQUE INDEX executions_by_key ON executions (wallet, substr(nonce, 9))
  WHERE fingerprint IS NOT NULL AND state <> 'void';
CREATE UNIQUE INDEX executions_by_payment ON executions (wallet, payment_id) WHERE payment_id IS NOT NULL AND state <> 'void';
CREATE INDEX executions_returned_by_listing ON executions (listing, created_ms)
  WHERE state IN ('returning', 'returned', 'void') AND error_code = 'price_changed' AND deposit IS NOT NULL;
CREATE INDEX executions_landed ON executions (wallet, opened_slot) WHERE opened_slot IS NOT NULL;
-- Lent rents that come back by the clock, the oldest end first.
CREATE INDEX executions_lent ON executions (settled_at, execution_id, record_lent)
  WHERE record_lent > 0 AND state IN ('settled', 'refunded');
-- Recent ends, which the index may not have yet.
CREATE INDEX executions_settled_by_wallet ON executions (wallet, settled_at, state) WHERE state IN ('settled', 'refunded');
-- Calls that never reach the chain, newest first.
CREATE INDEX executions_void_by_wallet
  ON executions (wallet, (coalesce(opened_at, accepted_at)) DESC, created_ms DESC, execution_id DESC, listing)
  WHERE state IN ('returned', 'void');

CREATE TABLE results (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  size BIGINT NOT NULL,
  object_stored BIGINT NOT NULL DEFAULT 0,
  result_hash TEXT COLLATE "C" NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  execution_signature TEXT COLLATE "C",
  tokens_used BIGINT,
  steps TEXT COLLATE "C",
  execution_time_ms BIGINT NOT NULL,
  token TEXT COLLATE "C" NOT NULL,
  verified_ms BIGINT NOT NULL,
  result BYTEA
);
-- PostgreSQL would try to compress up to 5 MiB, which takes longer than writing them.
ALTER TABLE results ALTER COLUMN result SET STORAGE EXTERNAL;
CREATE INDEX results_kept ON results (verified_ms) WHERE result IS NOT NULL OR object_stored = 1;
CREATE INDEX results_here ON results (size) WHERE result IS NOT NULL;

CREATE TABLE signed_transactions (
  signature TEXT COLLATE "C" PRIMARY KEY,
  last_valid_height BIGINT NOT NULL,
  fee BIGINT NOT NULL,
  bytes BYTEA NOT NULL
);

CREATE TABLE transactions (
  execution_id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('deposit', 'pay', 'open', 'settle', 'refund', 'return')),
  attempt BIGINT NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  fee BIGINT NOT NULL,
  outcome TEXT COLLATE "C" CHECK (outcome IN ('landed', 'failed', 'expired')),
  culprit TEXT COLLATE "C" CHECK (culprit IN ('wallet', 'listing', 'operator')),
  PRIMARY KEY (execution_id, kind, attempt)
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
  allowed_ips TEXT COLLATE "C",
  -- Comma-separated addresses of listings.
  allowed_agents TEXT COLLATE "C"
);
CREATE INDEX api_keys_by_wallet ON api_keys (wallet, created_ms);

CREATE TABLE documents (
  id BIGINT PRIMARY KEY,
  metadata_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  received_ms BIGINT NOT NULL,
  description TEXT COLLATE "C" NOT NULL,
  words TEXT COLLATE "C" NOT NULL,
  is_sandbox BIGINT NOT NULL DEFAULT 0 CHECK (is_sandbox IN (0, 1)),
  document TEXT COLLATE "C" NOT NULL,
  lexemes TSVECTOR GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED
);
CREATE INDEX documents_sandbox ON documents (id) WHERE is_sandbox = 1;
CREATE INDEX documents_by_lexeme ON documents USING gin (lexemes);

CREATE TABLE answers (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  status BIGINT NOT NULL,
  body BYTEA NOT NULL,
  answered_ms BIGINT NOT NULL,
  result_at BIGINT
);
CREATE INDEX answers_by_age ON answers (answered_ms);

CREATE TABLE relays (
  owner TEXT COLLATE "C" PRIMARY KEY,
  alive_until_ms BIGINT NOT NULL
);

CREATE TABLE failed_answers (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  http_status BIGINT,
  body BYTEA,
  is_cut BIGINT NOT NULL CHECK (is_cut IN (0, 1)),
  duration_ms BIGINT NOT NULL,
  answered_ms BIGINT NOT NULL
);
CREATE INDEX failed_answers_by_age ON failed_answers (answered_ms) WHERE body IS NOT NULL;

CREATE TABLE pending_metadata (
  metadata_hash TEXT COLLATE "C" NOT NULL,
  wallet TEXT COLLATE "C" NOT NULL,
  network TEXT COLLATE "C" NOT NULL,
  is_known BIGINT NOT NULL CHECK (is_known IN (0, 1)),
  received_ms BIGINT NOT NULL,
  PRIMARY KEY (metadata_hash, wallet, network)
);
CREATE INDEX pending_metadata_by_wallet ON pending_metadata (wallet, received_ms);
CREATE INDEX pending_metadata_by_age ON pending_metadata (received_ms);
CREATE INDEX pending_metadata_of_strangers ON pending_metadata (network, received_ms) WHERE wallet <> '' AND is_known = 0;
CREATE INDEX pending_metadata_by_network ON pending_metadata (wallet, network, received_ms);

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

CREATE TABLE sweeper_transactions (
  signature TEXT COLLATE "C" PRIMARY KEY,
  signed BYTEA NOT NULL,
  last_valid_height BIGINT NOT NULL
);

CREATE TABLE lenders (
  address TEXT COLLATE "C" PRIMARY KEY
);

CREATE TABLE lost_calls (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  noticed_at BIGINT NOT NULL
);

CREATE TABLE cluster (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  restart_slot BIGINT NOT NULL
);

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

CREATE TABLE admin_actions (
  action_id TEXT COLLATE "C" PRIMARY KEY,
  begun_ms BIGINT NOT NULL,
  ended_ms BIGINT,
  wallet TEXT COLLATE "C" NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  outcome TEXT COLLATE "C"
);
CREATE INDEX admin_actions_by_time ON admin_actions (begun_ms, action_id);
CREATE INDEX admin_actions_of_subject ON admin_actions (subject, action, begun_ms);

CREATE TABLE dispute_replies (
  execution_id TEXT COLLATE "C" PRIMARY KEY,
  reply TEXT COLLATE "C" NOT NULL,
  received_ms BIGINT NOT NULL
);

CREATE TABLE agent_examples (
  metadata_hash TEXT COLLATE "C" NOT NULL,
  wallet TEXT COLLATE "C" NOT NULL,
  example TEXT COLLATE "C" NOT NULL,
  tested_ms BIGINT NOT NULL,
  PRIMARY KEY (metadata_hash, wallet)
);

-- Rent that the operator lends, by kind of lender. The sums are split by the first letter of the row's id, so that relays do not
-- wait for each other's commits.
CREATE TABLE lent_sums (
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('keys', 'x402')),
  part TEXT COLLATE "C" NOT NULL,
  lamports BIGINT NOT NULL,
  PRIMARY KEY (kind, part)
);

CREATE FUNCTION lent_by(e executions) RETURNS BIGINT IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE
    WHEN e.state IN ('returned', 'void') THEN 0
    WHEN e.state IN ('settled', 'refunded') THEN e.record_lent
    ELSE e.record_lent + e.escrow_lent END
$$;

CREATE FUNCTION count_lent() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  present executions := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  change BIGINT := coalesce(lent_by(NEW), 0) - coalesce(lent_by(OLD), 0);
BEGIN
  IF change <> 0 THEN
    -- A row that replaces a void one may be of the other kind; the void one had lent nothing.
    INSERT INTO lent_sums (kind, part, lamports)
    VALUES (CASE present.key_id WHEN '00000000000000000000000000000000' THEN 'x402' ELSE 'keys' END,
      left(present.execution_id, 1), change)
    ON CONFLICT (kind, part) DO UPDATE SET lamports = lent_sums.lamports + excluded.lamports;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER executions_lent_added AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.record_lent + NEW.escrow_lent > 0) EXECUTE FUNCTION count_lent();
CREATE TRIGGER executions_lent_moved AFTER UPDATE OF state, record_lent, escrow_lent ON executions
  FOR EACH ROW WHEN (OLD.record_lent + OLD.escrow_lent > 0 OR NEW.record_lent + NEW.escrow_lent > 0)
  EXECUTE FUNCTION count_lent();
CREATE TRIGGER executions_lent_dropped AFTER DELETE ON executions
  FOR EACH ROW WHEN (OLD.record_lent + OLD.escrow_lent > 0) EXECUTE FUNCTION count_lent();

-- Lost network fees that wallets owe.
CREATE TABLE debts (
  wallet TEXT COLLATE "C" PRIMARY KEY,
  lamports BIGINT NOT NULL,
  lost_ms BIGINT NOT NULL
);

CREATE FUNCTION owed_by(e executions) RETURNS BIGINT IMMUTABLE LANGUAGE sql AS $$
  SELECT e.lost_fees - CASE WHEN e.opened_at IS NULL THEN 0 ELSE e.repaid_lamports END
$$;

CREATE FUNCTION count_owed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  present executions := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  change BIGINT := coalesce(owed_by(NEW), 0) - coalesce(owed_by(OLD), 0);
BEGIN
  IF change <> 0 THEN
    INSERT INTO debts (wallet, lamports, lost_ms)
    VALUES (present.wallet, change, CASE WHEN NEW.lost_fees > coalesce(OLD.lost_fees, 0) THEN NEW.lost_ms ELSE 0 END)
    ON CONFLICT (wallet) DO UPDATE
    SET lamports = debts.lamports + excluded.lamports, lost_ms = greatest(debts.lost_ms, excluded.lost_ms);
    DELETE FROM debts WHERE wallet = present.wallet AND lamports = 0;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER executions_owed_added AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.lost_fees > 0 OR NEW.repaid_lamports > 0) EXECUTE FUNCTION count_owed();
CREATE TRIGGER executions_owed_moved AFTER UPDATE OF lost_fees, repaid_lamports, opened_at ON executions
  FOR EACH ROW WHEN (NEW.lost_fees <> OLD.lost_fees OR NEW.repaid_lamports > 0 OR OLD.repaid_lamports > 0)
  EXECUTE FUNCTION count_owed();
CREATE TRIGGER executions_owed_dropped AFTER DELETE ON executions
  FOR EACH ROW WHEN (OLD.lost_fees > 0 OR OLD.repaid_lamports > 0) EXECUTE FUNCTION count_owed();

-- Sessions of wallets by the SHA-256 of their token or cookie, hex; a reader of this table cannot use them.
CREATE TABLE sessions (
  digest TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('token', 'cookie')),
  wallet TEXT COLLATE "C" NOT NULL,
  -- Of the address that signed in.
  network TEXT COLLATE "C" NOT NULL,
  -- 1 if strangers cannot displace it: the wallet has paid, has a listing, or is the admin's.
  is_known BIGINT NOT NULL CHECK (is_known IN (0, 1)),
  expires_ms BIGINT NOT NULL,
  -- The latest time that it can be extended to.
  ends_ms BIGINT NOT NULL
);
CREATE INDEX sessions_by_wallet ON sessions (wallet, expires_ms);
CREATE INDEX sessions_by_expiry ON sessions (expires_ms);
CREATE INDEX sessions_of_strangers ON sessions (network, expires_ms) WHERE is_known = 0;

-- Answered challenges by their SHA-256 in hex, until they expire.
CREATE TABLE used_challenges (
  digest TEXT COLLATE "C" PRIMARY KEY,
  expires_ms BIGINT NOT NULL
);
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_ms);

-- Codes of OAuth that a host exchanges for an API key, until they are used or expire. `sealed_key` is the key, encrypted
-- by the code, of which `digest` is the SHA-256 in hex. `binding` is that of the client, redirect URI, challenge and
-- resource of the request. A key has at most one code.
CREATE TABLE authorization_codes (
  key_hash TEXT COLLATE "C" PRIMARY KEY,
  digest TEXT COLLATE "C" NOT NULL UNIQUE,
  sealed_key BYTEA NOT NULL,
  binding TEXT COLLATE "C" NOT NULL,
  -- When the key ends on the chain, unix ms.
  key_expires_ms BIGINT NOT NULL,
  expires_ms BIGINT NOT NULL
);
CREATE INDEX authorization_codes_by_expiry ON authorization_codes (expires_ms);

-- Secrets that all relays on this ledger share, so that they recognise each other's challenges.
CREATE TABLE secrets (
  name TEXT COLLATE "C" PRIMARY KEY,
  bytes BYTEA NOT NULL
);

-- Tasks that only one relay does at a time, by name, and until when that relay holds them, by this database's clock.
CREATE TABLE leaderships (
  name TEXT COLLATE "C" PRIMARY KEY,
  owner TEXT COLLATE "C" NOT NULL,
  until_ms BIGINT NOT NULL
);

CREATE TABLE call_keys (
  kid TEXT COLLATE "C" PRIMARY KEY,
  x TEXT COLLATE "C" NOT NULL,
  listed_until_ms BIGINT NOT NULL
);

CREATE TABLE events (
  id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  position BIGINT UNIQUE,
  wallet TEXT COLLATE "C" NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  endpoint_id TEXT COLLATE "C",
  execution_id TEXT COLLATE "C",
  listing TEXT COLLATE "C",
  cost BIGINT,
  error_code TEXT COLLATE "C",
  data TEXT COLLATE "C",
  created_ms BIGINT NOT NULL
);
CREATE INDEX events_unnumbered ON events (id) WHERE position IS NULL;
CREATE INDEX events_of_wallet ON events (wallet, position);
CREATE INDEX events_of_execution ON events (execution_id, position) WHERE execution_id IS NOT NULL;
CREATE INDEX events_by_age ON events (created_ms);

CREATE TABLE event_feed (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  position BIGINT NOT NULL,
  slot BIGINT
);
INSERT INTO event_feed (id, position) VALUES (1, 0);

-- What the row's state is reported as; null for a state that is not reported.
CREATE FUNCTION event_type_of(e executions) RETURNS TEXT IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE
    WHEN e.state = 'open_confirmed' THEN 'execution.pending'
    WHEN e.state = 'settled' THEN 'execution.completed'
    WHEN e.state IN ('refunded', 'returned', 'void') OR coalesce(e.refund_state, '') = 'waiting' THEN 'execution.failed'
    WHEN e.state IN ('dispatched', 'verified', 'refunding', 'returning', 'parked') THEN 'execution.running'
  END
$$;

CREATE FUNCTION report_execution() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  reported TEXT := event_type_of(NEW);
BEGIN
  INSERT INTO events (wallet, type, execution_id, listing, cost, error_code, created_ms)
  VALUES (NEW.wallet, reported, NEW.execution_id, NEW.listing, CASE reported WHEN 'execution.failed' THEN 0 ELSE NEW.price END,
    CASE reported WHEN 'execution.failed' THEN NEW.error_code END,
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT));
  RETURN NULL;
END
$$;

CREATE TRIGGER executions_begun AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.state IN ('open_confirmed', 'parked')) EXECUTE FUNCTION report_execution();
CREATE TRIGGER executions_moved AFTER UPDATE OF state, refund_state ON executions
  FOR EACH ROW WHEN (NEW.state NOT IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid', 'open_signed')
    AND event_type_of(NEW) IS DISTINCT FROM event_type_of(OLD)) EXECUTE FUNCTION report_execution();

CREATE TABLE webhook_endpoints (
  endpoint_id TEXT COLLATE "C" PRIMARY KEY,
  wallet TEXT COLLATE "C" NOT NULL,
  network TEXT COLLATE "C" NOT NULL,
  is_known BIGINT NOT NULL CHECK (is_known IN (0, 1)),
  url TEXT COLLATE "C" NOT NULL,
  event_types TEXT COLLATE "C" NOT NULL,
  secret TEXT COLLATE "C" NOT NULL,
  old_secret TEXT COLLATE "C",
  old_secret_until_ms BIGINT,
  created_ms BIGINT NOT NULL,
  failing_since_ms BIGINT,
  slow_for BIGINT NOT NULL DEFAULT 0 CHECK (slow_for >= 0),
  disabled_ms BIGINT,
  disabled_by TEXT COLLATE "C" CHECK (disabled_by IN ('wallet', 'failures'))
);
CREATE INDEX webhook_endpoints_by_wallet ON webhook_endpoints (wallet, created_ms);
CREATE INDEX webhook_endpoints_of_strangers ON webhook_endpoints (network, created_ms) WHERE is_known = 0;

CREATE TABLE webhook_deliveries (
  id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  endpoint_id TEXT COLLATE "C" NOT NULL,
  position BIGINT NOT NULL,
  execution_id TEXT COLLATE "C",
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts BIGINT NOT NULL DEFAULT 0,
  due_ms BIGINT NOT NULL,
  is_sent BIGINT NOT NULL DEFAULT 0 CHECK (is_sent IN (0, 1)),
  is_asked BIGINT NOT NULL DEFAULT 0 CHECK (is_asked IN (0, 1)),
  attempted_ms BIGINT,
  duration_ms BIGINT,
  http_status BIGINT,
  body BYTEA,
  error TEXT COLLATE "C",
  created_ms BIGINT NOT NULL
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_ms, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (endpoint_id, execution_id, position)
  WHERE state = 'pending' AND execution_id IS NOT NULL;
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, due_ms, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_ms);

CREATE TABLE warnings (
  wallet TEXT COLLATE "C" NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (wallet, type, subject)
);
