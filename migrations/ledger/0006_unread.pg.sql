-- See 0006_unread.sqlite.sql.
DROP TABLE probes;
DROP TABLE late_answers;
