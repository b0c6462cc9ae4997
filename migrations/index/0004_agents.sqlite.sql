-- Lists of agents come straight from the index: `agents` has what they filter and sort by, and relays copy nothing any more.
-- The filters are columns of three tables. A list that joined them would read all agents to find the few that match.

DROP TABLE changed_agents;
DROP TABLE catalogue_revision;

-- Active listings. The indexer keeps it equal to the view `active_agents`, in the transaction of each change.
CREATE TABLE agents (
  -- Grows with each listing and each change of a listing's document, also over rebuilds of the index. A reader that has seen an
  -- id therefore asks only for later ones.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  listing TEXT NOT NULL UNIQUE,
  creator TEXT NOT NULL,
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
  price INTEGER NOT NULL,
  tag_mask INTEGER NOT NULL,
  listed_at INTEGER NOT NULL,
  metadata_hash TEXT NOT NULL,
  -- The first 60 bits of `metadata_hash`: the id of its document in the ledger. Joins by a number are several times faster.
  document INTEGER NOT NULL,
  total_executions INTEGER NOT NULL,
  success_rate REAL NOT NULL,
  -- The order `best`: the success rate with ten more calls, half of them successful. A few calls decide little.
  score REAL NOT NULL,
  avg_execution_time_ms INTEGER NOT NULL
) STRICT;
INSERT INTO sqlite_sequence (name, seq) VALUES ('agents', CAST(unixepoch('subsec') * 1000000 AS INTEGER));
-- One index per order, including the columns of filters: a row that a filter excludes is not read.
CREATE INDEX agents_by_total ON agents (total_executions DESC, listing, verified, success_rate, tag_mask, document);
CREATE INDEX agents_by_rate ON agents (success_rate DESC, listing, verified, total_executions, tag_mask, document);
CREATE INDEX agents_by_score ON agents (score DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price ON agents (price, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_price_down
  ON agents (price DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_age ON agents (listed_at DESC, listing, verified, total_executions, success_rate, tag_mask, document);
CREATE INDEX agents_by_document ON agents (document, verified, total_executions, success_rate, tag_mask);
CREATE INDEX agents_by_creator ON agents (creator);

CREATE VIEW active_agents AS
SELECT
  l.listing,
  l.creator,
  coalesce(c.verified, 0) AS verified,
  l.price,
  l.tag_mask,
  l.listed_at,
  l.metadata_hash,
  -- SQLite has no other way from hexadecimal digits to a number.
  ('0x' || substr(l.metadata_hash, 1, 15)) ->> '$' AS document,
  coalesce(s.total_executions, 0) AS total_executions,
  coalesce(s.success_rate, 0.0) AS success_rate,
  (coalesce(s.successful_executions, 0) + 5.0) / (coalesce(s.total_executions, 0) + 10.0) AS score,
  coalesce(s.avg_execution_time_ms, 0) AS avg_execution_time_ms
FROM listings AS l
LEFT JOIN creators AS c ON c.wallet = l.creator
LEFT JOIN agent_statistics AS s ON s.listing = l.listing
WHERE l.status = 'active';

INSERT INTO agents (listing, creator, verified, price, tag_mask, listed_at, metadata_hash, document, total_executions,
  success_rate, score, avg_execution_time_ms)
SELECT * FROM active_agents;
