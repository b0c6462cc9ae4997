/** Relay processes, what the admin does, and archives. */

/** Relay processes, by the name that each takes at start. */
export interface RelaysTable {
  owner: string;
  alive_until_ms: bigint;
}

export interface LeadershipsTable {
  name: string;
  owner: string;
  until_ms: bigint;
}

/** The admin's actions; their migration documents the columns. */
export interface AdminActionsTable {
  action_id: string;
  begun_ms: bigint;
  ended_ms: bigint | null;
  wallet: string;
  action: string;
  subject: string;
  outcome: string | null;
}

/** Trees of archives and their stored nodes; their migration documents the columns. */
export interface ArchiveTreesTable {
  archive_index: bigint;
  tree: string;
  leaf_count: bigint;
  is_proven: bigint;
}

export interface ArchiveNodesTable {
  archive_index: bigint;
  level: bigint;
  position: bigint;
  hash: Buffer;
}

/** The sweeper's signed transactions with unknown outcomes. */
export interface SweeperTransactionsTable {
  signature: string;
  signed: Buffer;
  last_valid_height: bigint;
}
