-- Written by the indexer.
-- Transactions that the node returned and this version of the indexer could not read: the index lacks what they did. Each is
-- tried again at every start, and its row is deleted once it is applied.
CREATE TABLE gaps (
  signature TEXT COLLATE "C" PRIMARY KEY,
  slot BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL
);
