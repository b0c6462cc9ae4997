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

CREATE TRIGGER executions_lent_added AFTER INSERT ON executions WHEN new.record_lent + new.escrow_lent > 0 BEGIN
  UPDATE lent_sums SET lamports = lamports + CASE
      WHEN new.state IN ('returned', 'void') THEN 0
      WHEN new.state IN ('settled', 'refunded') THEN new.record_lent
      ELSE new.record_lent + new.escrow_lent END
  WHERE kind = CASE new.key_id WHEN '00000000000000000000000000000000' THEN 'x402' ELSE 'keys' END;
END;
-- A row that replaces a void one may be of the other kind; the void one had lent nothing.
CREATE TRIGGER executions_lent_moved AFTER UPDATE OF state, record_lent, escrow_lent ON executions
WHEN old.record_lent + old.escrow_lent > 0 OR new.record_lent + new.escrow_lent > 0 BEGIN
  UPDATE lent_sums SET lamports = lamports + CASE
      WHEN new.state IN ('returned', 'void') THEN 0
      WHEN new.state IN ('settled', 'refunded') THEN new.record_lent
      ELSE new.record_lent + new.escrow_lent END - CASE
      WHEN old.state IN ('returned', 'void') THEN 0
      WHEN old.state IN ('settled', 'refunded') THEN old.record_lent
      ELSE old.record_lent + old.escrow_lent END
  WHERE kind = CASE new.key_id WHEN '00000000000000000000000000000000' THEN 'x402' ELSE 'keys' END;
END;

CREATE TRIGGER executions_lent_dropped AFTER DELETE ON executions WHEN old.record_lent + old.escrow_lent > 0 BEGIN
  UPDATE lent_sums SET lamports = lamports - CASE
      WHEN old.state IN ('returned', 'void') THEN 0
      WHEN old.state IN ('settled', 'refunded') THEN old.record_lent
      ELSE old.record_lent + old.escrow_lent END
  WHERE kind = CASE old.key_id WHEN '00000000000000000000000000000000' THEN 'x402' ELSE 'keys' END;
END;

CREATE TRIGGER executions_owed_added AFTER INSERT ON executions
WHEN new.lost_fees > 0 OR new.repaid_lamports > 0 BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms)
  VALUES (new.wallet, new.lost_fees - CASE WHEN new.opened_at IS NULL THEN 0 ELSE new.repaid_lamports END,
    CASE WHEN new.lost_fees > 0 THEN new.lost_ms ELSE 0 END)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports, lost_ms = max(lost_ms, excluded.lost_ms);
  DELETE FROM debts WHERE wallet = new.wallet AND lamports = 0;
END;
CREATE TRIGGER executions_owed_moved AFTER UPDATE OF lost_fees, repaid_lamports, opened_at ON executions
WHEN new.lost_fees <> old.lost_fees OR new.repaid_lamports > 0 OR old.repaid_lamports > 0 BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms)
  VALUES (new.wallet, new.lost_fees - CASE WHEN new.opened_at IS NULL THEN 0 ELSE new.repaid_lamports END
    - old.lost_fees + CASE WHEN old.opened_at IS NULL THEN 0 ELSE old.repaid_lamports END,
    CASE WHEN new.lost_fees > old.lost_fees THEN new.lost_ms ELSE 0 END)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports, lost_ms = max(lost_ms, excluded.lost_ms);
  DELETE FROM debts WHERE wallet = new.wallet AND lamports = 0;
END;
CREATE TRIGGER executions_owed_dropped AFTER DELETE ON executions
WHEN old.lost_fees > 0 OR old.repaid_lamports > 0 BEGIN
  INSERT INTO debts (wallet, lamports, lost_ms)
  VALUES (old.wallet, CASE WHEN old.opened_at IS NULL THEN 0 ELSE old.repaid_lamports END - old.lost_fees, 0)
  ON CONFLICT (wallet) DO UPDATE SET lamports = lamports + excluded.lamports;
  DELETE FROM debts WHERE wallet = old.wallet AND lamports = 0;
END;

-- An execution's event is written where its public status changes. States before the money is in the escrow are not reported.
CREATE TRIGGER executions_begun AFTER INSERT ON executions WHEN new.state IN ('open_confirmed', 'parked') BEGIN
  INSERT INTO events (wallet, type, execution_id, listing, cost, created_ms)
  VALUES (new.wallet, CASE new.state WHEN 'parked' THEN 'execution.running' ELSE 'execution.pending' END, new.execution_id,
    new.listing, new.price, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER executions_moved AFTER UPDATE OF state, refund_state ON executions
WHEN CASE
    WHEN new.state = 'open_confirmed' THEN 'execution.pending'
    WHEN new.state = 'settled' THEN 'execution.completed'
    WHEN new.state IN ('refunded', 'returned', 'void') OR coalesce(new.refund_state, '') = 'waiting' THEN 'execution.failed'
    WHEN new.state IN ('dispatched', 'verified', 'refunding', 'returning', 'parked') THEN 'execution.running'
  END
  IS NOT CASE
    WHEN old.state = 'open_confirmed' THEN 'execution.pending'
    WHEN old.state = 'settled' THEN 'execution.completed'
    WHEN old.state IN ('refunded', 'returned', 'void') OR coalesce(old.refund_state, '') = 'waiting' THEN 'execution.failed'
    WHEN old.state IN ('dispatched', 'verified', 'refunding', 'returning', 'parked') THEN 'execution.running'
  END
  AND new.state NOT IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid', 'open_signed') BEGIN
  INSERT INTO events (wallet, type, execution_id, listing, cost, error_code, created_ms)
  SELECT new.wallet, type, new.execution_id, new.listing, CASE type WHEN 'execution.failed' THEN 0 ELSE new.price END,
    CASE type WHEN 'execution.failed' THEN new.error_code END, CAST(unixepoch('subsec') * 1000 AS INTEGER)
  FROM (SELECT CASE
    WHEN new.state = 'open_confirmed' THEN 'execution.pending'
    WHEN new.state = 'settled' THEN 'execution.completed'
    WHEN new.state IN ('refunded', 'returned', 'void') OR coalesce(new.refund_state, '') = 'waiting' THEN 'execution.failed'
    WHEN new.state IN ('dispatched', 'verified', 'refunding', 'returning', 'parked') THEN 'execution.running'
  END AS type);
END;
