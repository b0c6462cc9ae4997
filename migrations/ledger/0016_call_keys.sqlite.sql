-- Owner: the relay, the only kind of process that writes these tables.
-- The keys that relays on this ledger sign calls to creators with, each its own: the public halves only, so that what any of
-- them signs can be verified by the directory that any of them serves.
CREATE TABLE call_keys (
  kid              TEXT PRIMARY KEY,
  x                TEXT NOT NULL,
  -- By this database's clock; a relay that lives puts it off again and again.
  listed_until_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
