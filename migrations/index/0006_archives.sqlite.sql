-- index.db: archives, the trees of executions whose records are gone. The indexer is the only writer.

-- `archive_index` is its place in the line of all, from 0; `leaf_count` the leaves in its tree, so that the next one gets
-- this index.
CREATE TABLE archives (
  archive TEXT PRIMARY KEY,
  archive_index INTEGER NOT NULL UNIQUE,
  tree TEXT NOT NULL UNIQUE,
  leaf_count INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

-- One row per archived execution, and one execution per leaf, also where the transaction's log was cut: the program sends
-- these as an instruction to itself. `leaf` is the hash that is in the tree, lower-case hex; `signature` and `slot` are
-- those of the transaction that put it there. Every archived execution has its row in `executions` too, with the fields
-- that the leaf is made of and with `closed` 1.
CREATE TABLE archive_leaves (
  tree TEXT NOT NULL,
  leaf_index INTEGER NOT NULL,
  record TEXT NOT NULL UNIQUE,
  execution_id TEXT NOT NULL UNIQUE,
  leaf TEXT NOT NULL,
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (tree, leaf_index)
) STRICT;

-- What can be archived or closed by now: ended records whose account is still there.
CREATE INDEX executions_kept ON executions (settled_at) WHERE closed = 0 AND status <> 'open';

-- What is known of a record that was gone before its account was read: its execution, and which transactions opened and
-- ended it. The row that its leaf makes later takes them over. NULL for what is no record. Of a dispute of such a record
-- there is a row only if its account was read, or its event.
ALTER TABLE unread_accounts ADD COLUMN execution_id TEXT;
ALTER TABLE unread_accounts ADD COLUMN open_signature TEXT;
ALTER TABLE unread_accounts ADD COLUMN opened_slot INTEGER;
ALTER TABLE unread_accounts ADD COLUMN end_signature TEXT;
