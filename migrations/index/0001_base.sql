-- index.db: the chain's data, in tables that queries can join. Only the indexer writes; relays read.
-- Everything but the rows of `progress` follows from the chain, so the database can be deleted: a backfill rebuilds it.
-- Public keys and signatures are base58, ids and hashes lower-case hex, execution ids UUIDs, times unix seconds, amounts base
-- units of USDC. u64 values that may not fit SQLite's signed 64 bits are decimal TEXT. `slot` is the slot of the state that a
-- row shows: an older write never overwrites a newer one.

-- The chain and program that this file was made from; one row.
CREATE TABLE chain_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  genesis_hash TEXT NOT NULL,
  program_id TEXT NOT NULL,
  -- The sysvar LastRestartSlot of the chain that the tables show. A cluster that restarts may continue from before its last final
  -- slot, so the tables are built again when it changes. NULL until it was read for the first time.
  restart_slot INTEGER
) STRICT;

-- The last applied transaction, which may be a failed one; no row before the first.
CREATE TABLE cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

-- Progress of the indexer: everything up to this slot is in the tables. `checked_at` is the time of that look by its clock, ms.
CREATE TABLE progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  slot INTEGER NOT NULL,
  checked_at INTEGER NOT NULL
) STRICT;

-- The other settings, the pauses and pending changes are read from the chain.
CREATE TABLE configs (
  config TEXT PRIMARY KEY,
  admin TEXT NOT NULL,
  -- JSON array of base58: the keys that may settle and refund, and open for API keys.
  relay_authorities TEXT NOT NULL,
  -- Time from a paid execution's end until its record can be archived.
  record_seconds INTEGER NOT NULL,
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

-- Spending rights of API keys, including revoked ones; their limits are read from the chain. The column is `grant_address`, because GRANT is an SQL keyword.
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

-- `key_id` is NULL if the wallet opened it itself. `reason` is the number of the program's RefundReason, NULL unless refunded;
-- `settled_at` is also a refund's time. Amounts are 0 until settled.
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
-- Open executions by the time from which anyone can refund them. The escrows' total is computed from it alone.
CREATE INDEX executions_open ON executions (refund_at, execution_id, price) WHERE status = 'open';
CREATE INDEX executions_by_opened_slot ON executions (opened_slot, open_index);
-- Ended records whose account still exists, and which may be archived or closed.
CREATE INDEX executions_kept ON executions (settled_at) WHERE closed = 0 AND status <> 'open';
CREATE INDEX executions_ended_by_listing ON executions (listing, settled_at DESC) WHERE status <> 'open';
CREATE INDEX executions_ended_by_caller ON executions (caller, settled_at DESC) WHERE status <> 'open';

-- Deposits: payments that wait to become executions. An address can be prepared again after its refund: the row shows the
-- last time. `ended_at` and `end_signature` are those of the open or refund, NULL before; the row of `executions` whose
-- `deposit` it is has the execution. `closed` 0 with a refund: the rent could not be returned, so the accounts still exist. 1
-- with `prepared`: it ended in slots that the index lacks, nobody knows how. If the log could not be trusted and the account could
-- not be read any more, times are the block's.
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
-- Deposits that wait for their payment, their open or their refund.
CREATE INDEX deposits_waiting ON deposits (prepared_at, deposit) WHERE closed = 0;

-- Disputes, one per record, ever; kept after their outcome. `bond` is the lamports held in the account: 0 once paid out;
-- `bond_paid` is what its open paid in: NULL if only the ended account was read, which no longer shows it. `owed` is the part of `amount_to_caller` that waits for an account that can receive it. `evidence_uri` is not in the account: NULL
-- if neither the event nor the instruction could be read. `reason_hash` is NULL if the outcome has none.
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
-- The disputes of a party: open ones, then the others, newest first.
CREATE INDEX disputes_by_caller ON disputes (caller, (outcome <> 'open'), opened_at DESC, execution_id, outcome);
CREATE INDEX disputes_by_listing ON disputes (listing, (outcome <> 'open'), opened_at DESC, execution_id, caller, outcome);
CREATE INDEX disputes_of_listing ON disputes (listing, outcome);
CREATE INDEX disputes_by_outcome ON disputes (outcome, opened_at DESC, execution_id);
-- The admin's queue: open disputes by due time, then the others, newest first.
CREATE INDEX disputes_waiting ON disputes (opened_at, execution_id) WHERE outcome = 'open';
CREATE INDEX disputes_ended ON disputes (opened_at DESC, execution_id) WHERE outcome <> 'open';
-- Ended disputes whose account still exists, and which may be closed.
CREATE INDEX disputes_kept ON disputes (resolved_at) WHERE closed = 0 AND outcome <> 'open';

-- Grants and records created in a transaction whose log cannot be trusted, and closed before their account was read. No row can
-- be made of them, so later events about them are skipped.
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

-- Archives: the trees of executions whose records are gone.
-- `archive_index` is the archive's position among all, from 0. `leaf_count` is the number of leaves in its tree, which is the
-- index of the next leaf.
CREATE TABLE archives (
  archive TEXT PRIMARY KEY,
  archive_index INTEGER NOT NULL UNIQUE,
  tree TEXT NOT NULL UNIQUE,
  leaf_count INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

-- One row per archived execution, and one execution per leaf, even if the transaction's log was cut: the program sends these as
-- an instruction to itself. `leaf` is the hash in the tree, lower-case hex; `signature` and `slot` are those of the transaction
-- that added it. Every archived execution also has a row in `executions`, with the fields of the leaf and with `closed` 1.
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

-- Refunds that their callers' accounts could not receive. Each is a leaf too, and the program sends these as instructions to
-- itself. `claim` is the address of the account that exists once it is claimed, `source` that of the record or the deposit.
-- `claimed_at` is NULL until then. `signature` is NULL while only the claim is known, and not the transaction that added the
-- leaf. The amounts of the others are in one account of the program.
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
-- Those that wait for their claim.
CREATE INDEX unclaimed_refunds_open ON unclaimed_refunds (amount) WHERE claimed_at IS NULL;

-- The outcome of each end, defined in one place: `failed` counts against the creator, `refunded` does not. Of the program's
-- RefundReason, 0 to 3 are the creator's fault. For 1, a timeout, that holds only if the caller had not asked for less time
-- than the listing gives.
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

-- Figures of a listing's ended executions, by the rules of `ended_executions`. They are updated in the transaction that changes
-- them, so no list has to add up executions. A listing without ended executions has no row.
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

-- Lists of agents come from here. The filters are columns of three tables, and a list that joined them would read all agents to
-- find the few that match.
-- Active listings. The indexer keeps it equal to the view `active_agents`, in the transaction of each change.
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
-- One index per order, including the columns of filters: a row that a filter excludes is not read.
CREATE INDEX agents_by_total ON agents (total_executions DESC, listing, verified, success_rate, tag_mask, document);
CREATE INDEX agents_by_rate ON agents (success_rate DESC, listing, verified, total_executions, tag_mask, document);
CREATE INDEX agents_by_score ON agents (score DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price ON agents (price, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price_down
  ON agents (price DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_age ON agents (listed_at DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_document ON agents (document, verified, total_executions, success_rate, tag_mask);
CREATE INDEX agents_by_creator ON agents (creator);

-- Raw events and names of transactions, ordered by slot. Transactions are looked up by slot and read in its order. An index by
-- signature alone would be larger than the rows.
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
-- What only admin or guardian can do; indexer/queries/read.ts has the same names.
CREATE INDEX events_of_admin ON events (slot, signature, event_index) WHERE name IN (
  'AdminChanged', 'ChangeApplied', 'ChangeCancelled', 'ChangeProposed', 'ChangesCancelled', 'ConfigInitialized',
  'ConfigUpdated', 'CreatorVerificationChanged', 'DisputeResolved', 'RelayAuthorityRemoved', 'TreasuryWithdrawn'
);

CREATE TABLE eventless_transactions (
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (slot, signature)
) STRICT;

-- A backfill in progress; no row if there is none. `listing`: signatures are still being listed, from the newest to the oldest.
-- `applying`: the list is complete. `history`: pages come from a service in the order of the chain, and `token` names the next
-- one (NULL: the first).
CREATE TABLE backfill (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  state TEXT NOT NULL CHECK (state IN ('listing', 'applying', 'history')),
  token TEXT
) STRICT;

-- The list of the backfill: lower positions are older. Rows are deleted once applied.
CREATE TABLE listed_signatures (
  position INTEGER PRIMARY KEY,
  slot INTEGER NOT NULL,
  signature TEXT NOT NULL,
  failed INTEGER NOT NULL CHECK (failed IN (0, 1))
) STRICT;

-- The timeout of each version of a listing. If a log was cut, the listing's row is read from its account. Its version may be
-- later than that of the next executions. Their timeout must follow from the chain alone, whenever accounts are read.
CREATE TABLE listing_versions (
  -- Listing address and version number, separated by a space.
  version TEXT PRIMARY KEY,
  timeout_seconds INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

-- Transactions that the node returned and this version of the indexer could not read: the index lacks what they did. Each is
-- tried again at every start, and its row is deleted once it is applied.
CREATE TABLE gaps (
  signature TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;

-- Slots that the node had forgotten before the index reached them: their transactions are in no table. Accounts were read
-- instead, in their state some slots later.
CREATE TABLE pruned_slots (
  first_slot INTEGER PRIMARY KEY,
  last_slot INTEGER NOT NULL
) STRICT;

-- Number of a caller's ended executions, by the chain's status and the day of opening (`opened_at` / 86400). Each counts under
-- its listing and once more under '', the total of the caller. Zero totals have no row. A list skips whole days by these
-- totals, and reads its page within one day.
CREATE TABLE caller_totals (
  caller TEXT NOT NULL,
  listing TEXT NOT NULL,
  status TEXT NOT NULL,
  day INTEGER NOT NULL,
  executions INTEGER NOT NULL,
  PRIMARY KEY (caller, listing, status, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX caller_totals_empty ON caller_totals (executions) WHERE executions = 0;

-- Number of a listing's ended executions, by the day on which they ended (`settled_at` / 86400), the outcome of
-- `ended_executions`, and more: of a refunded one the number of its RefundReason in `reason`, of a settled one its execution
-- time in `time_ms`, to two significant digits, so that a day has few rows however many executions are in it. -1 where there is
-- none. `paid` is the sum of the prices of the settled ones, `earned` of their `creator_amount`. Each execution counts under its
-- listing and once more under '', the total of all. Rows without executions are deleted.
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
-- The admin reads the agents that failed lately.
CREATE INDEX agent_days_failed ON agent_days (day, listing, executions) WHERE outcome IN ('failed', 'dispute_upheld');
