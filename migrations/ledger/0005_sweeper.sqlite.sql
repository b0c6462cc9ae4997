-- The relay that sweeps is the leader of `sweep`, like those of other tasks, and has several transactions in flight.

-- Its signed transactions with unknown outcomes.
CREATE TABLE sweeper_transactions (
  signature TEXT PRIMARY KEY,
  signed BLOB NOT NULL,
  last_valid_height INTEGER NOT NULL
) STRICT;
DROP TABLE sweeper;
