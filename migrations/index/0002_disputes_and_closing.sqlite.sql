-- index.db: disputes, delisting and what can be closed. The indexer is the only writer, as of all tables here; what is
-- said at the head of 0001 holds. Rows made before this file are right as they are: nothing of this could happen then.

-- Disputes, one per record, ever; kept after their outcome. `bond` is the lamports held in the account: 0 once paid
-- out. `owed` is the part of `amount_to_caller` that waits for an account that can receive it. `evidence_uri` is not
-- in the account: NULL where neither the event nor the instruction could be read. `reason_hash` is NULL where the
-- outcome has none.
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
  slot INTEGER NOT NULL
) STRICT;

-- `slashed` is what upheld disputes took of `deposited`. `returnable_at` is NULL before delisting.
ALTER TABLE listings ADD COLUMN slashed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE listings ADD COLUMN returnable_at INTEGER;
ALTER TABLE listings ADD COLUMN collateral_returned INTEGER NOT NULL DEFAULT 0 CHECK (collateral_returned IN (0, 1));

-- `pending_admin` is NULL where nobody is proposed.
ALTER TABLE configs ADD COLUMN pending_admin TEXT;
ALTER TABLE configs ADD COLUMN opens_paused INTEGER NOT NULL DEFAULT 0 CHECK (opens_paused IN (0, 1));

-- 1 where the account is gone. A closed grant is also `revoked`, because its key is worth nothing; its limits and figures
-- may lack what a log that could not be trusted did last. A closed record was refunded before.
ALTER TABLE grants ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));
ALTER TABLE executions ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));

-- Grants and records that were made in a transaction whose log cannot be trusted and were closed before their account
-- was read: there is nothing left to make a row of, so later events of theirs are passed over.
CREATE TABLE unread_accounts (
  address TEXT PRIMARY KEY,
  slot INTEGER NOT NULL
) STRICT;
