-- index.db: how to take back what changed at slots that the chain may still drop. The indexer is the only writer.

-- A row as it was before the first change to it in a slot, JSON with 64-bit integers as lists of one decimal text; NULL where
-- there was none. Events and names of transactions carry their slot and need no image; statistics follow from executions.
CREATE TABLE undo (
  slot INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  row_key TEXT NOT NULL,
  image TEXT,
  PRIMARY KEY (slot, table_name, row_key)
) STRICT, WITHOUT ROWID;

-- Nothing at or below this slot can be taken back; one row.
CREATE TABLE undo_floor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  slot INTEGER NOT NULL
) STRICT;
-- What was applied before this file has no images.
INSERT INTO undo_floor SELECT 1, slot FROM cursor;
