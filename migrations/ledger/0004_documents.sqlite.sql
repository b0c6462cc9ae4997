-- Lists of agents join the index with `documents`. The tables that followed the index go.

DROP TABLE agents_cursor;
DROP TABLE agent_words;
DROP TABLE agent_texts;
DROP TABLE agents;

-- Metadata documents by the SHA-256 of their exact bytes, each with what lists show and search. All but the time follows from
-- the bytes.
CREATE TABLE documents (
  -- The first 60 bits of the hash, as `agents.document` of the index.
  id INTEGER PRIMARY KEY,
  metadata_hash TEXT NOT NULL UNIQUE,
  received_ms INTEGER NOT NULL,
  -- The fields that lists show, as JSON. NULL, like `words`: an older version stored it, and the relay fills it at its start.
  description TEXT,
  -- Words to find it by, separated by spaces: its words, its creator's name's words after an @, its tags after a #.
  words TEXT,
  -- 1 if it is tagged `sandbox`: agents for tests come last in the order `best`.
  is_sandbox INTEGER NOT NULL DEFAULT 0 CHECK (is_sandbox IN (0, 1)),
  document TEXT NOT NULL
) STRICT;
CREATE INDEX documents_sandbox ON documents (id) WHERE is_sandbox = 1;
CREATE INDEX documents_undescribed ON documents (id) WHERE words IS NULL;

-- The words are already normalized, in any language. Besides letters and digits, only spaces and the marks are ASCII.
CREATE VIRTUAL TABLE document_words USING fts5(
  words, content = 'documents', content_rowid = 'id', tokenize = "ascii tokenchars '@#-'", detail = none,
  prefix = '1 2 3 4 5 6 7 8'
);
CREATE TRIGGER documents_added AFTER INSERT ON documents WHEN new.words IS NOT NULL BEGIN
  INSERT INTO document_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER documents_described AFTER UPDATE OF words ON documents WHEN old.words IS NULL BEGIN
  INSERT INTO document_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER documents_dropped AFTER DELETE ON documents WHEN old.words IS NOT NULL BEGIN
  INSERT INTO document_words (document_words, rowid, words) VALUES ('delete', old.id, old.words);
END;

INSERT INTO documents (id, metadata_hash, received_ms, document)
SELECT ('0x' || substr(metadata_hash, 1, 15)) ->> '$', metadata_hash, max(received_ms), document FROM (
  SELECT metadata_hash, received_ms, document FROM metadata
  UNION ALL SELECT metadata_hash, received_ms, document FROM pending_metadata
)
WHERE true GROUP BY metadata_hash
ON CONFLICT DO NOTHING;
DROP TABLE metadata;
-- `pending_metadata` keeps who posted a document that waits for its listing.
ALTER TABLE pending_metadata DROP COLUMN document;
