-- Owner: the relay, the only kind of process that writes these tables.
-- What the operator may still lose, so that budgets hold however much is under way at once. All in lamports.

-- Where the call's wallet had paid for too few when it was taken: the most that it may burn before its refund is signed,
-- held against the budgets until then. 0 where the wallet had, or where the operator pays for everybody.
ALTER TABLE executions ADD COLUMN may_burn_lamports INTEGER NOT NULL DEFAULT 0;

-- What may still be burnt: all that unproven wallets have under way, and of the others what is on its way to the chain.
DROP INDEX executions_at_risk;
CREATE INDEX executions_at_risk
  ON executions (wallet, listing, state, may_burn_lamports, gas_lamports, house_lamports)
  WHERE state NOT IN ('settled', 'refunded', 'void')
    AND (may_burn_lamports > 0 OR state IN ('accepted', 'open_signed', 'verified', 'refunding'));

-- The same rows as before, and whether their gas has come back with their end.
DROP INDEX executions_paid_by_wallet;
CREATE INDEX executions_paid_by_wallet ON executions (wallet, created_ms, state)
  WHERE gas_lamports > 0 AND opened_at IS NOT NULL AND nonce <> '';

-- Revocations of keys that the relay has signed and paid for: one row each, kept for the day that they count.
CREATE TABLE revocations (
  wallet   TEXT NOT NULL,
  sent_ms  INTEGER NOT NULL,
  fee      INTEGER NOT NULL
) STRICT;
CREATE INDEX revocations_by_time ON revocations (sent_ms, wallet, fee);
