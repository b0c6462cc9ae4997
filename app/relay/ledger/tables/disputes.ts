/** The contents behind the hashes of disputes; their migration documents the columns. */

export interface EvidenceTable {
  execution_id: string;
  evidence_hash: string;
  wallet: string;
  media_type: string;
  content: Buffer;
  received_ms: bigint;
}

export interface DisputeReasonsTable {
  execution_id: string;
  reason_hash: string;
  reason: string;
  received_ms: bigint;
}

export interface DisputeRepliesTable {
  execution_id: string;
  reply: string;
  received_ms: bigint;
}
