-- As 0018_results_in_pieces.sqlite.sql says.
CREATE TABLE result_pieces (
  token  TEXT COLLATE "C" NOT NULL,
  place  BIGINT NOT NULL,
  bytes  BYTEA NOT NULL,
  PRIMARY KEY (token, place)
);
-- To try to make them smaller holds the writer up for longer than to write them.
ALTER TABLE result_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE loose_pieces (
  token     TEXT COLLATE "C" PRIMARY KEY,
  since_ms  BIGINT NOT NULL
);
CREATE INDEX loose_pieces_by_age ON loose_pieces (since_ms);

ALTER TABLE late_answers ADD COLUMN token TEXT COLLATE "C";
ALTER TABLE answers ADD COLUMN result_at BIGINT;

CREATE FUNCTION loosen_pieces() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO loose_pieces (token, since_ms)
  SELECT OLD.token, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
  WHERE EXISTS (SELECT 1 FROM result_pieces WHERE token = OLD.token)
  ON CONFLICT (token) DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER results_let_go AFTER UPDATE OF result ON results
  FOR EACH ROW WHEN (NEW.result IS NULL) EXECUTE FUNCTION loosen_pieces();
CREATE TRIGGER results_dropped AFTER DELETE ON results
  FOR EACH ROW EXECUTE FUNCTION loosen_pieces();
CREATE TRIGGER late_answers_dropped AFTER DELETE ON late_answers
  FOR EACH ROW WHEN (OLD.token IS NOT NULL) EXECUTE FUNCTION loosen_pieces();
