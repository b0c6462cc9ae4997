/**
 * Accounts as read after a transaction, where its events are not enough (chain/accounts.ts reads them), with what its
 * instructions say: why a refund was made, and what is closed by now.
 */
import type { IndexTables } from '../queries/generated.ts';

/** The tables with one row for each account. */
const TABLES = ['configs', 'creators', 'listings', 'grants', 'executions', 'deposits', 'disputes', 'archives'] as const;
type Tables = { [Table in (typeof TABLES)[number]]: IndexTables[Table][] };

/** The rows of a transaction's accounts, each with the slot of its reading. */
export interface AccountRows extends Tables {
  /** Refunds in the transaction, to the caller or unclaimed: the reason counts only if the authority is the relay. */
  refunds: { record: string; authority: string; reason: bigint }[];
  /** Changes to accounts that no longer exist, in the transaction's order. */
  gone: GoneAccount[];
}

export const noRows = (): AccountRows => ({
  ...(Object.fromEntries(TABLES.map((table): [string, unknown[]] => [table, []])) as Tables),
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
