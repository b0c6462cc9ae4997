-- What only SQLite has, or writes otherwise.

-- The words are already normalized, in any language. Besides letters and digits, only spaces and the marks are ASCII.
CREATE VIRTUAL TABLE document_words USING fts5(
  words, content = 'documents', content_rowid = 'id', tokenize = "ascii tokenchars '@#-'", detail = none,
  prefix = '1 2 3 4 5 6 7 8'
);
CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
  INSERT INTO document_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER documents_dropped AFTER DELETE ON documents BEGIN
  INSERT INTO document_words (document_words, rowid, words) VALUES ('delete', old.id, old.words);
END;

-- Rent that the operator lends to calls with keys and to x402 clients, who have none, lamports. Triggers update it in the
-- transaction that changes it, because adding up the rows for each claim would take longer with every row. It follows from
-- `executions` alone.
CREATE TABLE lent_sums (
  kind TEXT PRIMARY KEY CHECK (kind IN ('keys', 'x402')),
  lamports INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO lent_sums (kind, lamports) VALUES ('keys', 0), ('x402', 0);

CREATE TRIGGER executions_lent_added AFTER INSERT ON executions WHEN new.lent <> 0 BEGIN
  UPDATE lent_sums SET lamports = lamports + new.lent WHERE kind = new.lent_to;
END;
-- A row that replaces a void one may be of the other kind; the void one had lent nothing.
CREATE TRIGGER executions_lent_moved AFTER UPDATE OF state, record_lent, escrow_lent ON executions
WHEN new.lent <> old.lent BEGIN
  UPDATE lent_sums SET lamports = lamports + new.lent - old.lent WHERE kind = new.lent_to;
END;
CREATE TRIGGER executions_lent_dropped AFTER DELETE ON executions WHEN old.lent <> 0 BEGIN
  UPDATE lent_sums SET lamports = lamports - old.lent WHERE kind = old.lent_to;
END;

CREATE TRIGGER executions_owed_added AFTER INSERT ON executions WHEN new.owed <> 0 BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms)
  VALUES (new.wallet, new.owed, CASE WHEN new.lost_fees > 0 THEN new.lost_ms ELSE 0 END)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports, lost_ms = max(lost_ms, excluded.lost_ms);
  DELETE FROM debts WHERE wallet = new.wallet AND lamports = 0;
END;
CREATE TRIGGER executions_owed_moved AFTER UPDATE OF lost_fees, repaid_lamports, opened_at ON executions
WHEN new.owed <> old.owed BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms)
  VALUES (new.wallet, new.owed - old.owed, CASE WHEN new.lost_fees > old.lost_fees THEN new.lost_ms ELSE 0 END)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports, lost_ms = max(lost_ms, excluded.lost_ms);
  DELETE FROM debts WHERE wallet = new.wallet AND lamports = 0;
END;
CREATE TRIGGER executions_owed_dropped AFTER DELETE ON executions WHEN old.owed <> 0 BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms) VALUES (old.wallet, -old.owed, 0)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports;
  DELETE FROM debts WHERE wallet = old.wallet AND lamports = 0;
END;

-- An execution's event is written where its public status changes. A new row has an event only in these states.
CREATE TRIGGER executions_begun AFTER INSERT ON executions WHEN new.state IN ('open_confirmed', 'parked') BEGIN
  INSERT INTO events (wallet, type, execution_id, listing, cost, created_ms)
  VALUES (new.wallet, new.event_type, new.execution_id, new.listing, new.price,
    CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER executions_moved AFTER UPDATE OF state, refund_state ON executions
WHEN new.event_type IS NOT NULL AND new.event_type IS NOT old.event_type BEGIN
  INSERT INTO events (wallet, type, execution_id, listing, cost, error_code, created_ms)
  VALUES (new.wallet, new.event_type, new.execution_id, new.listing,
    CASE new.event_type WHEN 'execution.failed' THEN 0 ELSE new.price END,
    CASE new.event_type WHEN 'execution.failed' THEN new.error_code END, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
