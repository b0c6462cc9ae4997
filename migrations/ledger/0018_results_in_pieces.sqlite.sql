-- Owner: the relay, the only kind of process that writes these tables.
-- Long results lie in pieces, because a statement that writes 5 MiB holds up every request. Their row in `results` has an
-- empty `result` beside a `size` that is not 0; one in `late_answers` has a `token`.
CREATE TABLE result_pieces (
  -- Of the row that names them: nobody else's pieces have it.
  token  TEXT NOT NULL,
  -- From 0.
  place  INTEGER NOT NULL,
  bytes  BLOB NOT NULL,
  PRIMARY KEY (token, place)
) STRICT;
-- Pieces that no row names: those that are being written, and those whose row has let go of them. They are deleted when
-- nobody can be writing or reading them any more.
CREATE TABLE loose_pieces (
  token     TEXT PRIMARY KEY,
  -- By this database's clock; 0 once their deletion has begun, after which no row may name them.
  since_ms  INTEGER NOT NULL
) STRICT;
CREATE INDEX loose_pieces_by_age ON loose_pieces (since_ms);

-- Null where the result is here as a whole.
ALTER TABLE late_answers ADD COLUMN token TEXT;
-- Where in `body` the JSON of the result belongs, bytes; null where it is there.
ALTER TABLE answers ADD COLUMN result_at INTEGER;

CREATE TRIGGER results_let_go AFTER UPDATE OF result ON results
WHEN new.result IS NULL AND EXISTS (SELECT 1 FROM result_pieces WHERE token = old.token) BEGIN
  INSERT INTO loose_pieces (token, since_ms) VALUES (old.token, CAST(unixepoch('subsec') * 1000 AS INTEGER))
  ON CONFLICT (token) DO NOTHING;
END;
CREATE TRIGGER results_dropped AFTER DELETE ON results
WHEN EXISTS (SELECT 1 FROM result_pieces WHERE token = old.token) BEGIN
  INSERT INTO loose_pieces (token, since_ms) VALUES (old.token, CAST(unixepoch('subsec') * 1000 AS INTEGER))
  ON CONFLICT (token) DO NOTHING;
END;
CREATE TRIGGER late_answers_dropped AFTER DELETE ON late_answers WHEN old.token IS NOT NULL BEGIN
  INSERT INTO loose_pieces (token, since_ms) VALUES (old.token, CAST(unixepoch('subsec') * 1000 AS INTEGER))
  ON CONFLICT (token) DO NOTHING;
END;
