-- ledger.db: the relay's own tables. Only relays write them.
-- They cannot be rebuilt from the chain: requests, answers, and signed transactions that may not have landed yet. Commits that
-- money depends on use synchronous=FULL; a backup must contain this file.
-- Amounts are base units of USDC or lamports. Times named *_at are unix seconds of the chain's clock; those named *_ms are unix
-- milliseconds of this machine.

-- The journal: one row per execution. Its state moves forward only.
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
-- For recovery: everything that has not ended.
CREATE INDEX executions_unfinished ON executions (created_ms)
  WHERE state NOT IN ('settled', 'refunded', 'returned', 'void');
CREATE INDEX executions_by_lease ON executions (lease_owner, rest_until_ms)
  WHERE state NOT IN ('settled', 'refunded', 'returned', 'void');
CREATE INDEX executions_ended_by_listing
  ON executions (listing, created_ms, state, refund_reason, execution_time_ms, wallet, timeout_seconds,
    listing_timeout_seconds)
  WHERE state IN ('settled', 'refunding', 'refunded');
-- The failed calls that a creator's server received, newest first.
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
-- Calls that will repay lost fees once their open has landed.
CREATE INDEX executions_repaying ON executions (wallet)
  WHERE repaid_lamports > 0 AND opened_at IS NULL AND state NOT IN ('returned', 'void');
-- Executions whose escrow holds rent of the wallet's gas balance.
CREATE INDEX executions_held_by_wallet ON executions (wallet, gas_balance_lamports, fee_lamports, gas_lamports)
  WHERE state IN ('open_confirmed', 'dispatched', 'verified', 'refunding', 'parked') AND gas_balance_lamports > 0;
-- A deposit belongs to one call, and so does a payer's own id of a payment.
CREATE UNIQUE INDEX executions_by_deposit ON executions (deposit) WHERE deposit IS NOT NULL AND state <> 'void';
-- An Idempotency-Key, the last 12 bytes of the nonce, belongs to one call of a wallet.
CREATE UNIQUE INDEX executions_by_key ON executions (wallet, substr(nonce, 9))
  WHERE fingerprint IS NOT NULL AND state <> 'void';
CREATE UNIQUE INDEX executions_by_payment ON executions (wallet, payment_id) WHERE payment_id IS NOT NULL AND state <> 'void';
-- Calls of x402 clients that ended, paid or not, because the listing had changed.
CREATE INDEX executions_returned_by_listing ON executions (listing, created_ms)
  WHERE state IN ('returning', 'returned', 'void') AND error_code = 'price_changed' AND deposit IS NOT NULL;
-- Opens that accounts of an earlier slot do not show yet.
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

-- Every signed transaction of the executions, once: several calls may share one. It is stored before it is sent.
CREATE TABLE signed_transactions (
  -- The fee payer's.
  signature TEXT PRIMARY KEY,
  -- The last block height at which it can land.
  last_valid_height INTEGER NOT NULL,
  -- What it costs if it lands or fails, lamports: the sum of its calls' shares.
  fee INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- The executions that each of them is for, stored in the transaction of the row's move. One that is signed again is another
-- attempt: no signature is forgotten. A call that replaces a void one goes on counting.
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

-- API keys by the SHA-256 of the whole key. A row alone allows nothing: the grant on-chain decides.
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

-- Metadata documents by the SHA-256 of their exact bytes, each with what lists show and search. All but the time follows from
-- the bytes.
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
CREATE INDEX documents_sandbox ON documents (id) WHERE is_sandbox = 1;

-- Several relay processes may share this database; one of them at a time works on each row of the journal.
-- The live relay processes. A process renews its row every second; a killed process's row expires.
CREATE TABLE relays (
  owner TEXT PRIMARY KEY,
  alive_until_ms INTEGER NOT NULL
) STRICT;

-- The nodes of the archives' trees are stored, so that a proof takes 20 reads.
-- Trees with stored nodes. `leaf_count` of their leaves are included. `is_proven` is 1 once their root was found in the tree's
-- own account; only then a proof is shown. These rows can be deleted: they are rebuilt from the index.
CREATE TABLE archive_trees (
  archive_index INTEGER PRIMARY KEY,
  tree TEXT NOT NULL,
  leaf_count INTEGER NOT NULL,
  is_proven INTEGER NOT NULL CHECK (is_proven IN (0, 1))
) STRICT;

-- Only nodes with a leaf below them. Level 0 has the leaves, level 20 the root; `position` counts from the left.
CREATE TABLE archive_nodes (
  archive_index INTEGER NOT NULL,
  level INTEGER NOT NULL,
  position INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (archive_index, level, position)
) STRICT, WITHOUT ROWID;

-- The signed transactions with unknown outcomes of the relay that sweeps.
CREATE TABLE sweeper_transactions (
  signature TEXT PRIMARY KEY,
  signed BLOB NOT NULL,
  last_valid_height INTEGER NOT NULL
) STRICT;

-- The relay authorities that have lent rent on this ledger, now or before. Deposits name them as sponsors.
CREATE TABLE lenders (
  address TEXT PRIMARY KEY
) STRICT;

-- One row: the last restart of the cluster, by its sysvar LastRestartSlot, after which the ledger was compared with the chain.
CREATE TABLE cluster (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  restart_slot INTEGER NOT NULL
) STRICT;

-- Revocations of keys that the relay has signed and paid for: one row each, kept for the day in which they count.
CREATE TABLE revocations (
  wallet TEXT NOT NULL,
  sent_ms INTEGER NOT NULL,
  fee INTEGER NOT NULL
) STRICT;
CREATE INDEX revocations_by_time ON revocations (sent_ms, wallet, fee);

-- The contents behind a dispute's hashes on the chain.
-- Evidence as its caller sent it, by the SHA-256 of its bytes. Evidence that no dispute names is deleted after a day.
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

-- The admin's reasons by the SHA-256 of their UTF-8 bytes; the one with the dispute's hash is shown.
CREATE TABLE dispute_reasons (
  execution_id TEXT NOT NULL,
  reason_hash TEXT NOT NULL,
  reason TEXT NOT NULL,
  received_ms INTEGER NOT NULL,
  PRIMARY KEY (execution_id, reason_hash)
) STRICT;

-- What the admin did through a relay of this ledger, and whose private data it read. A row is written before the action and
-- completed after it, and is never deleted.
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

-- The creator's reply to a dispute; it can be changed until the dispute ends.
CREATE TABLE dispute_replies (
  execution_id TEXT PRIMARY KEY,
  reply TEXT NOT NULL,
  received_ms INTEGER NOT NULL
) STRICT;

-- A passed test that its creator shows on the agent's page: what was sent, and the beginning of the result. The wallet is of the
-- session that tested; only the example of a listing's own creator is shown.
CREATE TABLE agent_examples (
  metadata_hash TEXT NOT NULL,
  wallet TEXT NOT NULL,
  -- Task, parameters and result as JSON, whose escapes hold any text.
  example TEXT NOT NULL,
  tested_ms INTEGER NOT NULL,
  PRIMARY KEY (metadata_hash, wallet)
) STRICT;

-- Results are bytes, because their text may contain U+0000. They may be in an object storage instead. Old ones are dropped, and
-- the row then keeps only their hash.
--
-- A result is here while `result` is not null, else in the storage while `object_stored` is 1, else it has been dropped.
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
-- Results that expire, and results to move to the object storage.
CREATE INDEX results_kept ON results (verified_ms) WHERE result IS NOT NULL OR object_stored = 1;
CREATE INDEX results_here ON results (size) WHERE result IS NOT NULL;

-- What creators' servers said in calls that were refunded, for the creators.
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

-- Lost network fees that wallets owe, and when each lost the last one. Triggers keep it, for the same reason.
CREATE TABLE debts (
  wallet TEXT PRIMARY KEY,
  lamports INTEGER NOT NULL,
  lost_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions of wallets by the SHA-256 of their token or cookie, hex; a reader of this table cannot use them.
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

-- Answered challenges by their SHA-256 in hex, until they expire.
CREATE TABLE used_challenges (
  digest TEXT PRIMARY KEY,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_ms);

-- Codes of OAuth that a host exchanges for an API key, until they are used or expire. `sealed_key` is the key, encrypted
-- by the code, of which `digest` is the SHA-256 in hex. `binding` is that of the client, redirect URI, challenge and
-- resource of the request. A key has at most one code.
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

-- Secrets that all relays on this ledger share, so that they recognise each other's challenges.
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

-- Tasks that only one relay does at a time, by name, and until when that relay holds them, by this database's clock.
CREATE TABLE leaderships (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT;

-- The public keys that relays on this ledger sign calls to creators with, one per relay. Every relay's directory serves all of
-- them, so it verifies the calls of any relay.
CREATE TABLE call_keys (
  kid TEXT PRIMARY KEY,
  x TEXT NOT NULL,
  -- By this database's clock; a live relay extends it repeatedly.
  listed_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Documents that wait for their listing. One posted without a session counts for its network, so that nobody's documents push
-- out others'; the same document may wait for several.
-- `network` is its source, one address or the /64 of IPv6; '' if a wallet's session posted it.
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

-- The outbox: what webhooks and event streams report, a row for each event and wallet. It is written in the transaction of
-- what it reports: triggers write the events of executions.
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

-- One row: the last numbered event, and the slot up to which the index's events were followed.
CREATE TABLE event_feed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL,
  -- Null before the first look: the history before it is not reported.
  slot INTEGER
) STRICT;
INSERT INTO event_feed (id, position) VALUES (1, 0);

-- Where a wallet receives its events over HTTP.
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

-- One event for one endpoint, and its last attempt.
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

-- Warnings that were given and still hold, so that each is given once.
CREATE TABLE warnings (
  wallet TEXT NOT NULL,
  type TEXT NOT NULL,
  -- The key, or the agent; '' for the wallet.
  subject TEXT NOT NULL,
  PRIMARY KEY (wallet, type, subject)
) STRICT, WITHOUT ROWID;
