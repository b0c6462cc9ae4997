-- index.db: figures that lists show, kept in the transaction that changes them, so that no list adds up executions; and what
-- has changed, so that readers can follow. The indexer is the only writer. All of it follows from the other tables but the
-- revisions, which only ever grow.

-- Executions of a listing that have ended, by the rules of `ended_executions`: the same figures as the view of 0007, and what
-- the mean is made of. A listing of which nothing has ended has no row.
DROP VIEW agent_statistics;
CREATE TABLE agent_statistics (
  listing TEXT PRIMARY KEY,
  total_executions INTEGER NOT NULL,
  successful_executions INTEGER NOT NULL,
  success_rate REAL NOT NULL,
  avg_execution_time_ms INTEGER NOT NULL,
  dispute_count INTEGER NOT NULL,
  earned INTEGER NOT NULL,
  -- Of all that ended, the refunded too: with the last of them the row goes.
  ended_executions INTEGER NOT NULL,
  timed_executions INTEGER NOT NULL,
  total_time_ms INTEGER NOT NULL
) STRICT;
INSERT INTO agent_statistics
SELECT
  listing,
  total,
  successful,
  CASE WHEN total = 0 THEN 0.0 ELSE 1.0 * successful / total END,
  CASE WHEN timed = 0 THEN 0 ELSE (2 * total_time + timed) / (2 * timed) END,
  disputes,
  earned,
  ended,
  timed,
  total_time
FROM (
  SELECT
    listing,
    sum(CASE WHEN outcome <> 'refunded' THEN 1 ELSE 0 END) AS total,
    sum(CASE WHEN outcome IN ('completed', 'disputed') THEN 1 ELSE 0 END) AS successful,
    sum(dispute_count) AS disputes,
    sum(creator_amount) AS earned,
    count(*) AS ended,
    sum(CASE WHEN outcome NOT IN ('failed', 'refunded') AND execution_time_ms IS NOT NULL THEN 1 ELSE 0 END) AS timed,
    sum(CASE WHEN outcome NOT IN ('failed', 'refunded') THEN coalesce(execution_time_ms, 0) ELSE 0 END) AS total_time
  FROM ended_executions
  GROUP BY listing
) AS figures;

-- How many executions a caller has by the chain's status and the hour of opening (`opened_at` / 3600): each counts under its
-- listing and once more under '', which is all of the caller's. What is 0 has no row.
CREATE TABLE caller_totals (
  caller TEXT NOT NULL,
  listing TEXT NOT NULL,
  status TEXT NOT NULL,
  hour INTEGER NOT NULL,
  executions INTEGER NOT NULL,
  PRIMARY KEY (caller, listing, status, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX caller_totals_empty ON caller_totals (executions) WHERE executions = 0;
INSERT INTO caller_totals
SELECT caller, listing, status, opened_at / 3600, count(*) FROM executions GROUP BY 1, 2, 3, 4;
INSERT INTO caller_totals
SELECT caller, '', status, opened_at / 3600, count(*) FROM executions GROUP BY 1, 3, 4;

-- The revision at which a listing, its statistics or its creator's badge changed last.
CREATE TABLE changed_agents (
  listing TEXT PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT;
CREATE INDEX changed_agents_by_revision ON changed_agents (revision, listing);
INSERT INTO changed_agents SELECT listing, 1 FROM listings;

-- The highest revision there was; one row.
CREATE TABLE catalogue_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
) STRICT;
INSERT INTO catalogue_revision VALUES (1, 1);

-- A wallet's list, whole or filtered, in the order of the chain, newest first. The statistics have their table now.
DROP INDEX executions_by_listing;
DROP INDEX executions_by_caller;
DROP INDEX executions_by_caller_status;
DROP INDEX executions_by_caller_listing;
CREATE INDEX executions_by_caller
  ON executions (caller, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
CREATE INDEX executions_by_caller_status
  ON executions (caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
CREATE INDEX executions_by_caller_listing
  ON executions (caller, listing, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);

-- Raw events and the names of transactions by slot, in which a transaction is found and in whose order they come: an index by
-- signature alone costs more than all that it points to.
CREATE TABLE events_by_slot (
  signature TEXT NOT NULL,
  event_index INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (slot, signature, event_index)
) STRICT;
INSERT INTO events_by_slot SELECT signature, event_index, slot, name, data FROM events ORDER BY rowid;
DROP TABLE events;
ALTER TABLE events_by_slot RENAME TO events;
CREATE TABLE eventless_by_slot (
  signature TEXT NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (slot, signature)
) STRICT;
INSERT INTO eventless_by_slot SELECT signature, slot FROM eventless_transactions ORDER BY rowid;
DROP TABLE eventless_transactions;
ALTER TABLE eventless_by_slot RENAME TO eventless_transactions;
