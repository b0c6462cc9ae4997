-- One row: the last restart of the cluster, by its sysvar LastRestartSlot, after which the ledger was compared with the chain.
CREATE TABLE cluster (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  restart_slot INTEGER NOT NULL
) STRICT;
