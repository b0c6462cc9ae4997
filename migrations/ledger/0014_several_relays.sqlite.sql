-- Owner: the relay, the only kind of process that writes these tables.
-- What relays on one ledger must share: what is promised to opens under way, what is lent in all, sessions, and who of them
-- does what only one may.

-- What the open takes out of the wallet's tank, lamports: gas, and the rent that nobody lends.
ALTER TABLE executions ADD COLUMN tank_lamports INTEGER NOT NULL DEFAULT 0;
UPDATE executions SET tank_lamports = gas_lamports WHERE state IN ('accepted', 'open_signed');
-- A slot in which the chain showed the record: accounts as of an earlier one may show money that the open has taken.
ALTER TABLE executions ADD COLUMN opened_slot INTEGER;
-- Money that accounts may show and that is promised already. Nobody counts on accounts that are older than finality.
CREATE INDEX executions_opening ON executions (wallet, key_id, price, tank_lamports)
  WHERE state IN ('accepted', 'open_signed');
CREATE INDEX executions_landed ON executions (wallet, opened_slot)
  WHERE is_final = 0 AND opened_slot IS NOT NULL;

-- Rent that is out, by wallet, by listing and in all (''), lamports: kept by triggers in the transaction that changes it,
-- because a claim that added up the rows would take longer with each of them. It follows from `executions` alone.
CREATE TABLE lent_sums (
  scope     TEXT NOT NULL CHECK (scope IN ('wallet', 'listing', 'total')),
  name      TEXT NOT NULL,
  lamports  INTEGER NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
INSERT INTO lent_sums (scope, name, lamports)
WITH lent AS (
  SELECT wallet, listing,
    record_lent + CASE WHEN state IN ('settled', 'refunded') THEN 0 ELSE escrow_lent END AS lamports
  FROM executions WHERE record_lent > 0 AND state <> 'void'
)
SELECT 'wallet', wallet, sum(lamports) FROM lent GROUP BY wallet
UNION ALL SELECT 'listing', listing, sum(lamports) FROM lent GROUP BY listing
UNION ALL SELECT 'total', '', coalesce(sum(lamports), 0) FROM lent;
CREATE TRIGGER executions_lent_added AFTER INSERT ON executions
WHEN new.record_lent > 0 AND new.state <> 'void' BEGIN
  INSERT INTO lent_sums (scope, name, lamports)
  SELECT scope, name, new.record_lent + CASE WHEN new.state IN ('settled', 'refunded') THEN 0 ELSE new.escrow_lent END
  FROM (SELECT 'wallet' AS scope, new.wallet AS name UNION ALL SELECT 'listing', new.listing UNION ALL SELECT 'total', '')
  WHERE true
  ON CONFLICT (scope, name) DO UPDATE SET lamports = lamports + excluded.lamports;
END;
-- A row that takes the place of a void one may be of another listing; what was void had nothing out.
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
DROP INDEX executions_lent_by_wallet;
DROP INDEX executions_lent_by_listing;
-- Rents whose return is looked for, in the order of their ids.
CREATE INDEX executions_lent ON executions (execution_id)
  WHERE record_lent > 0 AND state IN ('settled', 'refunded');

-- Sessions of wallets by the SHA-256 of their token or cookie, hex; nothing of theirs can be used by who reads this.
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
-- Challenges that have been answered, by their SHA-256 in hex, until nobody could answer them any more.
CREATE TABLE used_challenges (
  digest      TEXT PRIMARY KEY,
  expires_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_ms);
-- What all relays on this ledger know and nobody else: by it they recognise the challenges of one another.
CREATE TABLE secrets (
  name   TEXT PRIMARY KEY,
  bytes  BLOB NOT NULL
) STRICT;

-- What only one relay does at a time, by name, and until when it is that relay's, by this database's clock.
CREATE TABLE leaderships (
  name      TEXT PRIMARY KEY,
  owner     TEXT NOT NULL,
  until_ms  INTEGER NOT NULL
) STRICT;
