-- As 0017_pending_by_network.sqlite.sql says.
ALTER TABLE pending_metadata ADD COLUMN network TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE pending_metadata ALTER COLUMN network DROP DEFAULT;
ALTER TABLE pending_metadata DROP CONSTRAINT pending_metadata_pkey;
ALTER TABLE pending_metadata ADD PRIMARY KEY (metadata_hash, wallet, network);
CREATE INDEX pending_metadata_by_network ON pending_metadata (wallet, network, received_ms);
