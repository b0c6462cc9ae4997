-- index: how to take back what changed at slots that the chain may still drop. The indexer is the only writer.

-- A row as it was before the first change to it in a slot, JSON with 64-bit integers as lists of one decimal text; NULL where
-- there was none. Events and names of transactions carry their slot and need no image; statistics follow from executions.
CREATE TABLE undo (
  slot BIGINT NOT NULL,
  table_name TEXT COLLATE "C" NOT NULL,
  row_key TEXT COLLATE "C" NOT NULL,
  image TEXT COLLATE "C",
  PRIMARY KEY (slot, table_name, row_key)
);

-- Nothing at or below this slot can be taken back; one row.
CREATE TABLE undo_floor (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  slot BIGINT NOT NULL
);
-- What was applied before this file has no images.
INSERT INTO undo_floor SELECT 1, slot FROM cursor;
