-- Owner: the relay, the only kind of process that writes these tables.
-- The nodes of the archives' trees, so that a proof is 20 reads; and who of the relays sweeps.

-- Trees whose nodes are kept. `leaf_count` of their leaves are built in; `is_proven` is 1 once the root of these was found
-- in the tree's own account, and only then a proof is shown. Whatever is here can be deleted: it is made again from the
-- index.
CREATE TABLE archive_trees (
  archive_index  INTEGER PRIMARY KEY,
  tree           TEXT NOT NULL,
  leaf_count     INTEGER NOT NULL,
  is_proven      INTEGER NOT NULL CHECK (is_proven IN (0, 1))
) STRICT;

-- Only nodes with a leaf below them. Level 0 are the leaves, level 20 is the root; `position` counts from the left.
CREATE TABLE archive_nodes (
  archive_index  INTEGER NOT NULL,
  level          INTEGER NOT NULL,
  position       INTEGER NOT NULL,
  hash           BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (archive_index, level, position)
) STRICT, WITHOUT ROWID;

-- One row: the relay process that sweeps, by its name in `relays`, and the transaction that it has signed and not yet
-- followed to its fate.
CREATE TABLE sweeper (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  owner              TEXT,
  signed             BLOB,
  signature          TEXT,
  last_valid_height  INTEGER
) STRICT;
INSERT INTO sweeper (id) VALUES (1);
