-- Owner: the relay, the only kind of process that writes these tables.

-- Network fees of opens that the chain refused, lamports: those of this row, and those of earlier calls under its id,
-- whose place it took because they never paid. Opens that expired cost nothing.
ALTER TABLE executions ADD COLUMN lost_fees INTEGER NOT NULL DEFAULT 0;
UPDATE executions SET lost_fees = fees WHERE state = 'void' AND error_code <> 'service_unavailable';

-- Until then nobody need look at the row: only a person, or the end of its time, can change anything.
ALTER TABLE executions ADD COLUMN rest_until_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX executions_by_lease ON executions (lease_owner, rest_until_ms)
  WHERE state NOT IN ('settled', 'refunded', 'void');

-- An open that counts as never landed is proven like any other end. One that was never sent needs no proof.
UPDATE executions SET is_final = 1 WHERE state = 'void';
DROP INDEX executions_not_final;
CREATE INDEX executions_not_final ON executions (created_ms)
  WHERE state IN ('settled', 'refunded', 'void') AND is_final = 0;
