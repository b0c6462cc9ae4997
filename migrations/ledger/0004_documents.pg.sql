-- See 0004_documents.sqlite.sql.
DROP TABLE agents_cursor;
DROP TABLE agent_texts;
DROP TABLE agents;
DROP FUNCTION index_agent_words();

CREATE TABLE documents (
  id BIGINT PRIMARY KEY,
  metadata_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  received_ms BIGINT NOT NULL,
  description TEXT COLLATE "C",
  words TEXT COLLATE "C",
  is_sandbox BIGINT NOT NULL DEFAULT 0 CHECK (is_sandbox IN (0, 1)),
  document TEXT COLLATE "C" NOT NULL,
  lexemes TSVECTOR GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED
);
CREATE INDEX documents_sandbox ON documents (id) WHERE is_sandbox = 1;
CREATE INDEX documents_undescribed ON documents (id) WHERE words IS NULL;
CREATE INDEX documents_by_lexeme ON documents USING gin (lexemes);

INSERT INTO documents (id, metadata_hash, received_ms, document)
SELECT CAST(CAST('x' || substr(metadata_hash, 1, 15) AS BIT(60)) AS BIGINT), metadata_hash, max(received_ms), min(document)
FROM (
  SELECT metadata_hash, received_ms, document FROM metadata
  UNION ALL SELECT metadata_hash, received_ms, document FROM pending_metadata
) AS stored
GROUP BY metadata_hash
ON CONFLICT DO NOTHING;
DROP TABLE metadata;
ALTER TABLE pending_metadata DROP COLUMN document;
