-- index: how far the chain can be trusted, and what a backfill still has to do. The indexer is the only writer.

-- Up to this slot the rows were compared with what the node lists as finalized; above it they are provisional. NULL before
-- the first comparison.
ALTER TABLE progress ADD COLUMN finalized_slot BIGINT;

-- A backfill under way; no row where there is none. `listing`: signatures are still being listed, from the newest to the
-- oldest; `applying`: the list is whole; `history`: the pages come from a service in the order of the chain, the next one by
-- `token` (NULL: the first). What was finalized when it began does not leave the chain any more.
CREATE TABLE backfill (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('listing', 'applying', 'history')),
  token TEXT COLLATE "C",
  finalized_slot BIGINT NOT NULL
);

-- Its list: the lower the position, the older. Rows go once they are applied.
CREATE TABLE listed_signatures (
  position BIGINT PRIMARY KEY,
  slot BIGINT NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  failed BIGINT NOT NULL CHECK (failed IN (0, 1))
);
