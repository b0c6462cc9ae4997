-- See 0005_sweeper.sqlite.sql.
CREATE TABLE sweeper_transactions (
  signature TEXT COLLATE "C" PRIMARY KEY,
  signed BYTEA NOT NULL,
  last_valid_height BIGINT NOT NULL
);
DROP TABLE sweeper;
