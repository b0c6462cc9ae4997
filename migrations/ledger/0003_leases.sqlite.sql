-- Owner: the relay, the only kind of process that writes these tables.
-- Several relay processes may share this file; each row of the journal is worked on by one of them at a time.

-- The relay processes that say they are alive. A process renews its row every second; a killed one's runs out.
CREATE TABLE relays (
  owner           TEXT PRIMARY KEY,
  alive_until_ms  INTEGER NOT NULL
) STRICT;

-- Whose the row is: only that process moves it. Another may take it once the owner is not alive any more.
ALTER TABLE executions ADD COLUMN lease_owner TEXT;
-- How often the open was signed again because the chain had rolled it back.
ALTER TABLE executions ADD COLUMN reopens INTEGER NOT NULL DEFAULT 0;
