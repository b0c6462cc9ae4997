-- Written by the indexer.
-- The admin and the guardian each have their own pause. Pending changes, also those of the admin, are read from the chain.
ALTER TABLE configs DROP COLUMN pending_admin;
ALTER TABLE configs RENAME COLUMN opens_paused TO admin_paused;
ALTER TABLE configs ADD COLUMN guardian_paused INTEGER NOT NULL DEFAULT 0 CHECK (guardian_paused IN (0, 1));
-- The log of what only admin or guardian can do; indexer/read.ts has the same names.
DROP INDEX events_of_admin;
CREATE INDEX events_of_admin ON events (slot, signature, event_index) WHERE name IN (
  'AdminChanged', 'ChangeApplied', 'ChangeCancelled', 'ChangeProposed', 'ChangesCancelled', 'ConfigInitialized',
  'ConfigUpdated', 'CreatorVerificationChanged', 'DisputeResolved', 'RelayAuthorityRemoved', 'TreasuryWithdrawn'
);
