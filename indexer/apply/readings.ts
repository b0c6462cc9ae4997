/**
 * Accounts as read after a transaction, where its events are not enough (chain/accounts.ts reads them), with what its
 * instructions say: why a refund was made, and what is closed by now.
 */
import type {
  ArchiveRow,
  ConfigRow,
  CreatorRow,
  DepositRow,
  DisputeRow,
  ExecutionRow,
  GrantRow,
  ListingRow,
} from '../queries/tables.ts';

/** The rows of a transaction's accounts, each with the slot of its reading. */
export interface AccountRows {
  configs: ConfigRow[];
  creators: CreatorRow[];
  listings: ListingRow[];
  grants: GrantRow[];
  executions: ExecutionRow[];
  deposits: DepositRow[];
  disputes: DisputeRow[];
  archives: ArchiveRow[];
  /** Refunds in the transaction, to the caller or unclaimed: the reason counts only if the authority is the relay. */
  refunds: { record: string; authority: string; reason: bigint }[];
  /** Changes to accounts that no longer exist, in the transaction's order. */
  gone: GoneAccount[];
}

export const noRows = (): AccountRows => ({
  configs: [],
  creators: [],
  listings: [],
  grants: [],
  executions: [],
  deposits: [],
  disputes: [],
  archives: [],
  refunds: [],
  gone: [],
});

/** An account that an instruction made or changed, and that no longer exists. */
export interface GoneAccount {
  kind: ClosableKind;
  address: string;
  /** The instruction by its name in the IDL, with its accounts and arguments. */
  instruction: string;
  accounts: Record<string, string>;
  args: Record<string, unknown>;
  /** True if no other instruction of the transaction changed the same collateral. */
  isOnlyChange: boolean;
  /** Time of the transaction, unix seconds. */
  time: bigint;
}

export type ClosableKind = 'grant' | 'record' | 'deposit' | 'dispute';

/** The claim in the arguments of an instruction that opens a dispute. */
export function claimOf(args: Record<string, unknown>): { evidenceHash: Uint8Array; evidenceUri: string } {
  return (args.claim ?? args) as ReturnType<typeof claimOf>;
}
