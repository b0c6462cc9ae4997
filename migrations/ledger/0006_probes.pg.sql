-- See 0006_probes.sqlite.sql.
DROP TABLE probes;
