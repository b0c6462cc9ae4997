-- See 0006_unused.sqlite.sql.
DROP INDEX listings_by_status;
DROP INDEX deposits_by_caller;
