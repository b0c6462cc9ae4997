-- index: the timeout of each version of a listing. Where a log was cut, the listing's row is read from its account, which may
-- be of a later version than the executions that come next: theirs follows from the chain alone, whenever accounts are read.
-- The indexer is the only writer.

CREATE TABLE listing_versions (
  version TEXT COLLATE "C" PRIMARY KEY, -- the listing and the number of the version, a space between
  timeout_seconds BIGINT NOT NULL,
  slot BIGINT NOT NULL
);

INSERT INTO listing_versions (version, timeout_seconds, slot)
SELECT
  (data::json ->> 'listing') || ' ' || (data::json ->> 'listingVersion'), (data::json ->> 'timeoutSeconds')::bigint, slot
FROM events
WHERE name IN ('AgentListed', 'ListingUpdated');
