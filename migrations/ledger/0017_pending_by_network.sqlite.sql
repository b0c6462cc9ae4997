-- Owner: the relay, the only kind of process that writes these tables.
-- A document that nobody's session posted waits for the network that it came from, so that nobody's make others' give way:
-- the same document may wait for several.

-- `network` is where it came from, one address or the /64 of IPv6; '' where a wallet's session posted it.
CREATE TABLE pending_metadata_anew (
  metadata_hash  TEXT NOT NULL,
  wallet         TEXT NOT NULL,
  network        TEXT NOT NULL,
  received_ms    INTEGER NOT NULL,
  document       TEXT NOT NULL,
  PRIMARY KEY (metadata_hash, wallet, network)
) STRICT;
INSERT INTO pending_metadata_anew (metadata_hash, wallet, network, received_ms, document)
  SELECT metadata_hash, wallet, '', received_ms, document FROM pending_metadata;
DROP TABLE pending_metadata;
ALTER TABLE pending_metadata_anew RENAME TO pending_metadata;
CREATE INDEX pending_metadata_by_wallet ON pending_metadata (wallet, received_ms);
CREATE INDEX pending_metadata_by_network ON pending_metadata (wallet, network, received_ms);
CREATE INDEX pending_metadata_by_age ON pending_metadata (received_ms);
CREATE INDEX pending_metadata_of_wallets ON pending_metadata (received_ms) WHERE wallet <> '';
