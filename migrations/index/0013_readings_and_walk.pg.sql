-- index: what was read from accounts that a fork may still take back, and how far the history was looked through. The
-- indexer is the only writer.

-- The transaction in `slot` was written from its accounts as they were after the block of `read_slot`, which was confirmed
-- and not final. Where the chain drops that block, the transaction is taken back and read again; rows go once it is final.
CREATE TABLE readings (
  slot BIGINT NOT NULL,
  read_slot BIGINT NOT NULL,
  PRIMARY KEY (slot, read_slot)
);

-- The whole history is looked through for what the node had left out, newest first, a page at a time: the next page is what is
-- older than the transaction `before` (NULL: the newest). `ended_at` is when the last walk came to the end, unix ms; NULL
-- while one is under way.
CREATE TABLE history_walk (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  before TEXT COLLATE "C",
  ended_at BIGINT
);
