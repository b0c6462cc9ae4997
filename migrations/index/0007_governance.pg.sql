-- See 0007_governance.sqlite.sql.
ALTER TABLE configs DROP COLUMN pending_admin;
ALTER TABLE configs RENAME COLUMN opens_paused TO admin_paused;
ALTER TABLE configs ADD COLUMN guardian_paused BIGINT NOT NULL DEFAULT 0 CHECK (guardian_paused IN (0, 1));
DROP INDEX events_of_admin;
CREATE INDEX events_of_admin ON events (slot, signature, event_index) WHERE name IN (
  'AdminChanged', 'ChangeApplied', 'ChangeCancelled', 'ChangeProposed', 'ChangesCancelled', 'ConfigInitialized',
  'ConfigUpdated', 'CreatorVerificationChanged', 'DisputeResolved', 'RelayAuthorityRemoved', 'TreasuryWithdrawn'
);
