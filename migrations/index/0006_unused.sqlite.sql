-- Written by the indexer.
-- No query uses these indexes: lists of agents read the table `agents`, and deposits are found by address or while they wait.
DROP INDEX listings_by_status;
DROP INDEX deposits_by_caller;
