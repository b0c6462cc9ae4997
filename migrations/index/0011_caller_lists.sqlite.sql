-- index.db: a wallet's list, whole or of one listing, is merged from one range for each status: two indexes serve every filter,
-- and no page reads what it does not show. The listing comes first in its own, so that it is never taken for the other. The
-- indexer is the only writer.

DROP INDEX executions_by_caller;
DROP INDEX executions_by_caller_status;
DROP INDEX executions_by_caller_listing;
CREATE INDEX executions_by_caller_status
  ON executions (caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
CREATE INDEX executions_by_listing_caller
  ON executions (listing, caller, status, opened_at DESC, opened_slot DESC, open_index DESC, execution_id DESC);
