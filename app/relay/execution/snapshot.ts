/** An execution as the chain has it at one moment: money moves on this, and never on an index row. */
import type { PublicKey } from '@solana/web3.js';
import {
  type AgentListing,
  decodeAccount,
  type ExecutionRecord,
  findExecution,
  findTokenAccount,
  parseAddress,
} from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { JournalRow } from '../ledger/tables.ts';

/** `record` is null where there is none. */
export interface Snapshot {
  record: ExecutionRecord | null;
  listing: AgentListing | null;
  /** Unix seconds of the chain's clock. */
  now: bigint;
  slot: number;
}

type Located = Pick<JournalRow, 'execution_id' | 'listing'>;

/** Throws where the node does not answer. */
export async function readSnapshot(chain: Pick<RelayChain, 'read'>, row: Located): Promise<Snapshot> {
  return toSnapshot(await chain.read(addressesOf(row)));
}

/**
 * The chain's word for good on bytes with this last valid height: what they have not done here they never will. Null
 * while they could still land. Throws where the node does not answer.
 */
export async function readSnapshotPast(
  chain: Pick<RelayChain, 'readPast'>,
  row: Located,
  lastValidHeight: bigint,
): Promise<Snapshot | null> {
  const read = await chain.readPast(addressesOf(row), lastValidHeight);
  return read && toSnapshot(read);
}

/** What a settled record paid to each side, base units. */
export function splitOf(record: ExecutionRecord): { creatorAmount: bigint; platformAmount: bigint } {
  const platformAmount = (record.price * BigInt(record.feeBps)) / 10_000n;
  return { creatorAmount: record.price - platformAmount, platformAmount };
}

/** Why a refund cannot arrive: `claimable` where the caller's account is missing, `blocked` where it is unusable. */
export async function refundObstacle(
  chain: Pick<RelayChain, 'read'>,
  record: ExecutionRecord,
  usdcMint: PublicKey,
): Promise<'claimable' | 'blocked'> {
  const { accounts } = await chain.read([findTokenAccount(record.caller, usdcMint)]);
  const account = accounts[0];
  return account && account.data.length > 0 ? 'blocked' : 'claimable';
}

function toSnapshot({ accounts: [record, listing], now, slot }: Awaited<ReturnType<RelayChain['read']>>): Snapshot {
  return {
    record: record ? decodeAccount('ExecutionRecord', record.data) : null,
    // Only a settle needs it.
    get listing() {
      return listing ? decodeAccount('AgentListing', listing.data) : null;
    },
    now,
    slot,
  };
}

function addressesOf(row: Located): PublicKey[] {
  const id = parseUuid(row.execution_id);
  if (!id) throw new Error(`${row.execution_id} is not an execution id`);
  return [findExecution(id), parseAddress(row.listing)];
}
