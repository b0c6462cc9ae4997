-- index: pages of disputes are ranges of indexes, however many disputes there are. The indexer is the only writer.

DROP INDEX disputes_by_caller;
DROP INDEX disputes_by_listing;
DROP INDEX disputes_by_outcome;
CREATE INDEX disputes_by_caller ON disputes (caller, opened_at DESC, execution_id);
CREATE INDEX disputes_by_listing ON disputes (listing, opened_at DESC, execution_id, caller);
CREATE INDEX disputes_by_outcome ON disputes (outcome, opened_at DESC, execution_id);
-- The admin's queue: those that wait by when they are due, then the others, the newest first.
CREATE INDEX disputes_waiting ON disputes (opened_at, execution_id) WHERE outcome = 'open';
CREATE INDEX disputes_ended ON disputes (opened_at DESC, execution_id) WHERE outcome <> 'open';
