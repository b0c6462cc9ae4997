-- See 0003_cluster.sqlite.sql.
CREATE TABLE cluster (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  restart_slot BIGINT NOT NULL
);
