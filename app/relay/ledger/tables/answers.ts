/** Results and answers of executions. */
import type { Generated, Selectable } from 'kysely';

export interface ResultsTable {
  execution_id: string;
  /** UTF-8 as bytes, because not every database accepts U+0000 in text. Null if the result is elsewhere or gone. */
  result: Buffer | null;
  /** Bytes of the result, wherever it is stored. */
  size: bigint;
  /** 1 while the object storage has it. */
  object_stored: Generated<bigint>;
  result_hash: string;
  signature: string;
  execution_signature: string | null;
  tokens_used: bigint | null;
  steps: string | null;
  execution_time_ms: bigint;
  token: string;
  verified_ms: bigint;
}

/** Final answers of calls that may be repeated, exactly as given. */
export interface AnswersTable {
  execution_id: string;
  status: bigint;
  /** Without the JSON of its result, if that belongs at `result_at`. */
  body: Buffer;
  result_at: bigint | null;
  answered_ms: bigint;
}

/** Answers of creators in refunded calls; their migration documents the columns. */
export interface FailedAnswersTable {
  execution_id: string;
  http_status: bigint | null;
  body: Buffer | null;
  is_cut: bigint;
  duration_ms: bigint;
  answered_ms: bigint;
}

export type ResultRow = Selectable<ResultsTable>;
