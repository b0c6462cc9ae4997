/** Documents of agents, and what shows how agents do. */

/** Metadata documents; their migration documents the columns. */
export interface DocumentsTable {
  id: bigint;
  metadata_hash: string;
  received_ms: bigint;
  description: string;
  words: string;
  is_sandbox: bigint;
  document: string;
}

/** The posters of documents that wait for their listing. */
export interface PendingMetadataTable {
  metadata_hash: string;
  received_ms: bigint;
  /** The wallet whose session posted it; empty if none did. */
  wallet: string;
  /** The network of the poster. */
  network: string;
  /** 1 if unknown wallets cannot displace it. */
  is_known: bigint;
}

/** Passed tests that agents' pages show; their migration documents the columns. */
export interface AgentExamplesTable {
  metadata_hash: string;
  wallet: string;
  example: string;
  tested_ms: bigint;
}
