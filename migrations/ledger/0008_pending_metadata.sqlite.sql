-- Owner: the relay, the only kind of process that writes these tables.
-- Documents that wait for their listing, apart from those that are shown, so that no request looks through the latter.
-- Those that waited in `metadata` until now stay there: they count from when they came, as all do.

-- `wallet` is whose session posted it, '' where nobody's did. The same document may wait for several wallets.
CREATE TABLE pending_metadata (
  metadata_hash  TEXT NOT NULL,
  wallet         TEXT NOT NULL,
  received_ms    INTEGER NOT NULL,
  document       TEXT NOT NULL,
  PRIMARY KEY (metadata_hash, wallet)
) STRICT;
CREATE INDEX pending_metadata_by_wallet ON pending_metadata (wallet, received_ms);
CREATE INDEX pending_metadata_by_age ON pending_metadata (received_ms);
CREATE INDEX pending_metadata_of_wallets ON pending_metadata (received_ms) WHERE wallet <> '';
