-- See 0005_sweeper.sqlite.sql.
CREATE TABLE sweeper_transactions (
  signature TEXT COLLATE "C" PRIMARY KEY,
  signed BYTEA NOT NULL,
  last_valid_height BIGINT NOT NULL
);
INSERT INTO sweeper_transactions (signature, signed, last_valid_height)
SELECT signature, signed, last_valid_height FROM sweeper WHERE signature IS NOT NULL;
DROP TABLE sweeper;
