-- Owner: the relay, the only kind of process that writes these tables.
-- What a dispute's hashes on the chain stand for; and the words by which agents are found.

-- Evidence as its caller sent it, under the SHA-256 of its bytes. What no dispute names is forgotten after a day.
CREATE TABLE evidence (
  execution_id   TEXT NOT NULL,
  evidence_hash  TEXT NOT NULL,
  wallet         TEXT NOT NULL,
  media_type     TEXT NOT NULL,
  content        BLOB NOT NULL,
  received_ms    INTEGER NOT NULL,
  PRIMARY KEY (execution_id, evidence_hash)
) STRICT;
CREATE INDEX evidence_by_wallet ON evidence (wallet, received_ms);
CREATE INDEX evidence_by_age ON evidence (received_ms);

-- The admin's reasons under the SHA-256 of their UTF-8 bytes: the one whose hash the dispute carries is shown.
CREATE TABLE dispute_reasons (
  execution_id  TEXT NOT NULL,
  reason_hash   TEXT NOT NULL,
  reason        TEXT NOT NULL,
  received_ms   INTEGER NOT NULL,
  PRIMARY KEY (execution_id, reason_hash)
) STRICT;

-- The words of the documents that are shown. By hash, because a copy of the file may number the rows anew; it is a word
-- too, so that a document's row is found without reading the others.
CREATE VIRTUAL TABLE metadata_words USING fts5 (
  metadata_hash, name, tagline, tags, display_name,
  tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER metadata_words_added AFTER INSERT ON metadata BEGIN
  INSERT INTO metadata_words (metadata_hash, name, tagline, tags, display_name) VALUES (
    new.metadata_hash,
    new.document ->> '$.name',
    new.document ->> '$.tagline',
    (SELECT group_concat(value, ' ') FROM json_each(new.document, '$.custom_tags')),
    new.document ->> '$.display_name');
END;
CREATE TRIGGER metadata_words_dropped AFTER DELETE ON metadata BEGIN
  DELETE FROM metadata_words WHERE metadata_words MATCH 'metadata_hash : "' || old.metadata_hash || '"';
END;
INSERT INTO metadata_words (metadata_hash, name, tagline, tags, display_name)
SELECT
  metadata_hash,
  document ->> '$.name',
  document ->> '$.tagline',
  (SELECT group_concat(value, ' ') FROM json_each(document, '$.custom_tags')),
  document ->> '$.display_name'
FROM metadata;
