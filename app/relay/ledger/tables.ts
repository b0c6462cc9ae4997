/** The ledger's tables, as the files of migrations/ledger make them. tables/ has the columns by subject. */
import type { AttachedIndex } from '../../../indexer/queries/tables.ts';
import type {
  ApiKeysTable,
  AuthorizationCodesTable,
  CallKeysTable,
  RevocationsTable,
  SecretsTable,
  SessionsTable,
  UsedChallengesTable,
} from './tables/access.ts';
import type { AgentExamplesTable, DocumentsTable, PendingMetadataTable } from './tables/agents.ts';
import type { AnswersTable, FailedAnswersTable, ResultsTable } from './tables/answers.ts';
import type { DisputeReasonsTable, DisputeRepliesTable, EvidenceTable } from './tables/disputes.ts';
import type {
  EventFeedTable,
  EventsTable,
  WarningsTable,
  WebhookDeliveriesTable,
  WebhookEndpointsTable,
} from './tables/events.ts';
import type { ExecutionColumns, ExecutionsTable } from './tables/executions.ts';
import type {
  AdminActionsTable,
  ArchiveNodesTable,
  ArchiveTreesTable,
  LeadershipsTable,
  RelaysTable,
  SweeperTransactionsTable,
} from './tables/operation.ts';
import type { SignedTransactionsTable, TransactionRow, TransactionsTable } from './tables/transactions.ts';

export * from './tables/access.ts';
export * from './tables/agents.ts';
export * from './tables/answers.ts';
export * from './tables/disputes.ts';
export * from './tables/events.ts';
export * from './tables/executions.ts';
export * from './tables/operation.ts';
export * from './tables/transactions.ts';

export interface LedgerTables {
  events: EventsTable;
  event_feed: EventFeedTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  warnings: WarningsTable;
  sessions: SessionsTable;
  used_challenges: UsedChallengesTable;
  authorization_codes: AuthorizationCodesTable;
  secrets: SecretsTable;
  leaderships: LeadershipsTable;
  call_keys: CallKeysTable;
  sweeper_transactions: SweeperTransactionsTable;
  lenders: { address: string };
  lost_calls: { id: bigint; noticed_at: bigint };
  lent_sums: { kind: 'keys' | 'x402'; lamports: bigint };
  debts: { wallet: string; lamports: bigint; lost_ms: bigint };
  archive_trees: ArchiveTreesTable;
  archive_nodes: ArchiveNodesTable;
  executions: ExecutionsTable;
  transactions: TransactionsTable;
  signed_transactions: SignedTransactionsTable;
  cluster: { id: bigint; restart_slot: bigint };
  evidence: EvidenceTable;
  dispute_reasons: DisputeReasonsTable;
  dispute_replies: DisputeRepliesTable;
  admin_actions: AdminActionsTable;
  relays: RelaysTable;
  results: ResultsTable;
  api_keys: ApiKeysTable;
  answers: AnswersTable;
  failed_answers: FailedAnswersTable;
  revocations: RevocationsTable;
  documents: DocumentsTable;
  agent_examples: AgentExamplesTable;
  pending_metadata: PendingMetadataTable;
}

/** The relay's tables, and under `chain.` those of the index (attached read-only by use). */
export type LedgerDatabase = LedgerTables & AttachedIndex;

/** An execution with all transactions that were signed for it, in the order of kind and attempt. */
export type JournalRow = ExecutionColumns & { transactions: TransactionRow[] };
