-- Owner: the relay, the only kind of process that writes these tables.
-- What relays on one ledger must share: what is promised to opens under way, what is lent in all, sessions, and who of them
-- does what only one may.

-- What the open takes out of the wallet's tank, lamports: gas, and the rent that nobody lends.
ALTER TABLE executions ADD COLUMN tank_lamports BIGINT NOT NULL DEFAULT 0;
UPDATE executions SET tank_lamports = gas_lamports WHERE state IN ('accepted', 'open_signed');
-- A slot in which the chain showed the record: accounts as of an earlier one may show money that the open has taken.
ALTER TABLE executions ADD COLUMN opened_slot BIGINT;
-- Money that accounts may show and that is promised already. Nobody counts on accounts that are older than finality.
CREATE INDEX executions_opening ON executions (wallet, key_id, price, tank_lamports)
  WHERE state IN ('accepted', 'open_signed');
CREATE INDEX executions_landed ON executions (wallet, opened_slot)
  WHERE is_final = 0 AND opened_slot IS NOT NULL;

-- Rent that is out, by wallet, by listing and in all (''), lamports: kept by triggers in the transaction that changes it,
-- because a claim that added up the rows would take longer with each of them. It follows from `executions` alone. What many
-- rows add to is kept in parts, by the first letter of their id, so that relays do not wait for each other's commits.
CREATE TABLE lent_sums (
  scope     TEXT COLLATE "C" NOT NULL CHECK (scope IN ('wallet', 'listing', 'total')),
  name      TEXT COLLATE "C" NOT NULL,
  part      TEXT COLLATE "C" NOT NULL,
  lamports  BIGINT NOT NULL,
  PRIMARY KEY (scope, name, part)
);
CREATE FUNCTION rent_out(record_lent BIGINT, escrow_lent BIGINT, state TEXT) RETURNS BIGINT IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE WHEN record_lent = 0 OR state = 'void' THEN 0
    WHEN state IN ('settled', 'refunded') THEN record_lent ELSE record_lent + escrow_lent END
$$;
INSERT INTO lent_sums (scope, name, part, lamports)
WITH lent AS (
  SELECT wallet, listing, left(execution_id, 1) AS part, rent_out(record_lent, escrow_lent, state) AS lamports
  FROM executions WHERE record_lent > 0 AND state <> 'void'
)
SELECT 'wallet', wallet, part, sum(lamports) FROM lent GROUP BY wallet, part
UNION ALL SELECT 'listing', listing, part, sum(lamports) FROM lent GROUP BY listing, part
UNION ALL SELECT 'total', '', part, sum(lamports) FROM lent GROUP BY part;
CREATE FUNCTION count_lent() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  changed  executions%ROWTYPE;
  added    BIGINT := 0;
BEGIN
  -- A row that takes the place of a void one may be of another listing; what was void had nothing out.
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  IF TG_OP <> 'DELETE' THEN added := rent_out(NEW.record_lent, NEW.escrow_lent, NEW.state); END IF;
  IF TG_OP <> 'INSERT' THEN added := added - rent_out(OLD.record_lent, OLD.escrow_lent, OLD.state); END IF;
  IF added <> 0 THEN
    -- Always in this order, so that no two transactions wait for each other.
    INSERT INTO lent_sums (scope, name, part, lamports) VALUES
      ('listing', changed.listing, left(changed.execution_id, 1), added),
      ('total', '', left(changed.execution_id, 1), added),
      ('wallet', changed.wallet, left(changed.execution_id, 1), added)
    ON CONFLICT (scope, name, part) DO UPDATE SET lamports = lent_sums.lamports + excluded.lamports;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER executions_lent_added AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.record_lent > 0) EXECUTE FUNCTION count_lent();
CREATE TRIGGER executions_lent_moved AFTER UPDATE OF state, record_lent, escrow_lent ON executions
  FOR EACH ROW WHEN (OLD.record_lent > 0 OR NEW.record_lent > 0) EXECUTE FUNCTION count_lent();
CREATE TRIGGER executions_lent_dropped AFTER DELETE ON executions
  FOR EACH ROW WHEN (OLD.record_lent > 0) EXECUTE FUNCTION count_lent();
DROP INDEX IF EXISTS executions_lent_by_wallet;
DROP INDEX IF EXISTS executions_lent_by_listing;
-- Rents whose return is looked for, in the order of their ids.
CREATE INDEX executions_lent ON executions (execution_id)
  WHERE record_lent > 0 AND state IN ('settled', 'refunded');

-- Sessions of wallets by the SHA-256 of their token or cookie, hex; nothing of theirs can be used by who reads this.
CREATE TABLE sessions (
  digest      TEXT COLLATE "C" PRIMARY KEY,
  kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('token', 'cookie')),
  wallet      TEXT COLLATE "C" NOT NULL,
  expires_ms  BIGINT NOT NULL,
  -- The longest that it can be prolonged to.
  ends_ms     BIGINT NOT NULL
);
CREATE INDEX sessions_by_wallet ON sessions (wallet, expires_ms);
CREATE INDEX sessions_by_expiry ON sessions (expires_ms);
-- Challenges that have been answered, by their SHA-256 in hex, until nobody could answer them any more.
CREATE TABLE used_challenges (
  digest      TEXT COLLATE "C" PRIMARY KEY,
  expires_ms  BIGINT NOT NULL
);
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_ms);
-- What all relays on this ledger know and nobody else: by it they recognise the challenges of one another.
CREATE TABLE secrets (
  name   TEXT COLLATE "C" PRIMARY KEY,
  bytes  BYTEA NOT NULL
);

-- What only one relay does at a time, by name, and until when it is that relay's, by this database's clock.
CREATE TABLE leaderships (
  name      TEXT COLLATE "C" PRIMARY KEY,
  owner     TEXT COLLATE "C" NOT NULL,
  until_ms  BIGINT NOT NULL
);
