-- index.db: the relay authorities, of which there can be several; the gas of executions; disputes that are closed.
-- The indexer is the only writer.

-- JSON array of base58: the keys that may settle and refund, and open for API keys.
ALTER TABLE configs RENAME COLUMN relay_authority TO relay_authorities;
UPDATE configs SET relay_authorities = json_array(relay_authorities);

-- Lamports parked at open for the relay authority that ends it.
ALTER TABLE executions ADD COLUMN gas_lamports INTEGER NOT NULL DEFAULT 0;

-- Most that one execution may take from the wallet's tank as gas, lamports.
ALTER TABLE grants ADD COLUMN max_gas_lamports INTEGER NOT NULL DEFAULT 0;

-- 1 once the account is gone, long after the outcome. Where a log could not be trusted and the account was gone by the
-- time it was read, times are those of the block, and amounts what the instruction asked for.
ALTER TABLE disputes ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));

-- Who paid a dispute's rent and bond, and gets its rent back.
ALTER TABLE disputes ADD COLUMN rent_sponsor TEXT NOT NULL DEFAULT '';
