/** The accounts of an execution at one moment, and whether there is time left to serve and settle it. */
import type { PublicKey } from '@solana/web3.js';
import {
  type AgentListing,
  decodeOwn,
  type ExecutionRecord,
  findExecution,
  parseAddress,
} from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { JournalRow } from '../ledger/tables.ts';

/** `record` is null if there is none. */
export interface Snapshot {
  record: ExecutionRecord | null;
  listing: AgentListing | null;
  /** Unix seconds of the chain's clock. */
  now: bigint;
  slot: number;
}

type Located = Pick<JournalRow, 'execution_id' | 'listing'>;

/** Throws if the node does not answer, or two nodes disagree. */
export async function readSnapshot(chain: Pick<RelayChain, 'readAgreed'>, row: Located): Promise<Snapshot> {
  return toSnapshot(await chain.readAgreed(addressesOf(row)));
}

/**
 * Reads the final state past this last valid height: bytes that have not landed by then never will. Null while they
 * could still land. Throws if the node does not answer.
 */
export async function readSnapshotPast(
  chain: Pick<RelayChain, 'readPast'>,
  row: Located,
  lastValidHeight: bigint,
): Promise<Snapshot | null> {
  const read = await chain.readPast(addressesOf(row), lastValidHeight);
  return read && toSnapshot(read);
}

function toSnapshot({ accounts: [record, listing], now, slot }: Awaited<ReturnType<RelayChain['read']>>): Snapshot {
  return {
    record: decodeOwn('ExecutionRecord', record),
    // Only a settle needs it.
    get listing() {
      return decodeOwn('AgentListing', listing);
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

/** Relays stop settling this long before refund_at, seconds. */
export const SETTLE_MARGIN_SECONDS = 60n;

/** True if an agent that begins now could still be paid after its whole timeout. */
export function hasTimeToServe(row: JournalRow, { now }: Snapshot): boolean {
  return now + row.timeout_seconds < (row.refund_at ?? 0n) - SETTLE_MARGIN_SECONDS;
}
