/**
 * TypeScript types of the index. The columns are generated from migrations/index, which documents them; here is what the
 * schema does not say.
 */
import type { Selectable } from 'kysely';
import type { IndexTables } from './generated.ts';

/** SQLite has no booleans: 0n or 1n. */
export type Flag = 0n | 1n;

export type ConfigRow = IndexTables['configs'];
export type CreatorRow = IndexTables['creators'];
export type ListingRow = IndexTables['listings'];
export type GrantRow = IndexTables['grants'];
export type ExecutionRow = IndexTables['executions'];
export type DepositRow = IndexTables['deposits'];
export type DisputeRow = IndexTables['disputes'];
export type ArchiveRow = IndexTables['archives'];
export type ArchiveLeafRow = IndexTables['archive_leaves'];
export type UnclaimedRefundRow = IndexTables['unclaimed_refunds'];
export type UnreadRow = IndexTables['unread_accounts'];
export type AgentStatisticsRow = IndexTables['agent_statistics'];
export type AgentRow = Selectable<IndexTables['agents']>;
export type EventRow = Omit<IndexTables['events'], 'applied_slot'>;
export type EventlessRow = IndexTables['eventless_transactions'];
export type GapRow = IndexTables['gaps'];

export type ListingStatusName = ListingRow['status'];
/** The record's status; that of a completed one with an open or upheld dispute shows the dispute. */
export type ExecutionStatusName = ExecutionRow['status'];
export type DisputeOutcomeName = DisputeRow['outcome'];

export type CallerTotalRow = IndexTables['caller_totals'] & { status: ExecutionStatusName };
export type AgentDayRow = IndexTables['agent_days'] & Pick<EndedExecutionRow, 'outcome'>;

/** A view of ended executions; `failed` is the creator's fault, `refunded` is not. */
export type EndedExecutionRow = Pick<
  ExecutionRow,
  | 'execution_id'
  | 'listing'
  | 'execution_time_ms'
  | 'creator_amount'
  | 'dispute_count'
  | 'settled_at'
  | 'opened_slot'
  | 'open_index'
> & { outcome: 'completed' | 'failed' | 'refunded' | 'disputed' | 'dispute_upheld' };

/** The index for Kysely. */
export interface IndexDatabase extends Omit<IndexTables, 'caller_totals' | 'agent_days'> {
  caller_totals: CallerTotalRow;
  agent_days: AgentDayRow;
  ended_executions: EndedExecutionRow;
}

/** The index as seen by a connection that attached it as `chain`: `chain.listings` and so on. */
export type AttachedIndex = { [Table in keyof IndexDatabase as `chain.${Table}`]: IndexDatabase[Table] };
