-- Owner: the relay, the only kind of process that writes these tables.
-- Who pays what a call costs beside its price: the wallet's tank, or the operator within its budgets. All in lamports.

-- Parked in the record at open, for the relay authority that ends the execution.
ALTER TABLE executions ADD COLUMN gas_lamports INTEGER NOT NULL DEFAULT 0;
-- What the operator gives for the fees of this call where it is on the house, and what it has given under this id in
-- all: calls that never paid leave their place to the next of their id, and what they cost stays.
ALTER TABLE executions ADD COLUMN house_lamports INTEGER NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN given_lamports INTEGER NOT NULL DEFAULT 0;
-- How many calls under this id were on the house.
ALTER TABLE executions ADD COLUMN trials INTEGER NOT NULL DEFAULT 0;
-- Rent of the record and of the escrow where the operator lends it. The escrow's comes back when the execution ends,
-- the record's when that is closed, which sets it to 0.
ALTER TABLE executions ADD COLUMN record_lent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN escrow_lent INTEGER NOT NULL DEFAULT 0;
-- What the open costs where it lands. From here on lost_fees counts whatever was burnt: fees that nobody paid for.
ALTER TABLE executions ADD COLUMN open_fee INTEGER NOT NULL DEFAULT 0;

-- What each claim adds up: rent that is out, fees burnt within a day, gifts, and opens that may still burn theirs.
CREATE INDEX executions_lent_by_wallet ON executions (wallet, state, record_lent, escrow_lent) WHERE record_lent > 0;
CREATE INDEX executions_lent_by_listing ON executions (listing, state, record_lent, escrow_lent) WHERE record_lent > 0;
CREATE INDEX executions_burnt_by_wallet ON executions (wallet, created_ms, lost_fees) WHERE lost_fees > 0;
CREATE INDEX executions_burnt_by_listing ON executions (listing, created_ms, lost_fees) WHERE lost_fees > 0;
CREATE INDEX executions_burnt ON executions (created_ms, lost_fees) WHERE lost_fees > 0;
CREATE INDEX executions_given_by_wallet ON executions (wallet, trials) WHERE trials > 0;
CREATE INDEX executions_given ON executions (created_ms, given_lamports) WHERE given_lamports > 0;
CREATE INDEX executions_at_risk ON executions (wallet, listing, state, gas_lamports, house_lamports)
  WHERE state IN ('accepted', 'open_signed')
    OR (state = 'refunding' AND refund_state IN ('claimable', 'blocked'));
-- Opens that a wallet has paid gas for: those through a key have a nonce.
CREATE INDEX executions_paid_by_wallet ON executions (wallet, created_ms)
  WHERE gas_lamports > 0 AND opened_at IS NOT NULL AND nonce <> '';
DROP INDEX executions_failed_by_wallet;
