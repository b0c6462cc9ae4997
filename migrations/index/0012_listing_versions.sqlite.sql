-- index.db: the timeout of each version of a listing. Where a log was cut, the listing's row is read from its account, which may
-- be of a later version than the executions that come next: theirs follows from the chain alone, whenever accounts are read.
-- The indexer is the only writer.

CREATE TABLE listing_versions (
  version TEXT PRIMARY KEY,          -- the listing and the number of the version, a space between
  timeout_seconds INTEGER NOT NULL,
  slot INTEGER NOT NULL
) STRICT;

INSERT INTO listing_versions (version, timeout_seconds, slot)
SELECT json_extract(data, '$.listing') || ' ' || json_extract(data, '$.listingVersion'), json_extract(data, '$.timeoutSeconds'), slot
FROM events
WHERE name IN ('AgentListed', 'ListingUpdated');
