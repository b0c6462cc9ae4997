// The two ways money leaves an escrow, as signed transactions, and the record account that says which was taken.

import type { PublicKey } from '@solana/web3.js';
import {
  type AgentListing,
  decodeAccount,
  type ExecutionRecord,
  ed25519Instruction,
  findExecution,
  findTokenAccount,
  parseAddress,
  type RefundReason,
  refundExecution,
  settleExecution,
} from '../../sdk/program/program.ts';
import { parseResultHash, parseSignature, parseUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { ExecutionRow, ResultRow } from '../ledger/tables.ts';
import type { NewTransaction } from '../ledger/writing.ts';

/** An execution as the chain has it at one moment; `record` is null where there is none. */
export interface Snapshot {
  record: ExecutionRecord | null;
  listing: AgentListing | null;
  /** Unix seconds of the chain's clock. */
  now: bigint;
}

function idBytes(executionId: string): Uint8Array {
  const bytes = parseUuid(executionId);
  if (!bytes) throw new Error(`${executionId} is not an execution id`);
  return bytes;
}

type Located = Pick<ExecutionRow, 'execution_id' | 'listing'>;

const addressesOf = (row: Located) => [findExecution(idBytes(row.execution_id)), parseAddress(row.listing)];

function toSnapshot({ accounts: [record, listing], now }: Awaited<ReturnType<RelayChain['read']>>): Snapshot {
  return {
    record: record ? decodeAccount('ExecutionRecord', record.data) : null,
    // Only a settle needs it.
    get listing() {
      return listing ? decodeAccount('AgentListing', listing.data) : null;
    },
    now,
  };
}

/** The chain's word on an execution. Money moves on this and never on an index row. */
export async function readSnapshot(chain: RelayChain, row: Located): Promise<Snapshot> {
  return toSnapshot(await chain.read(addressesOf(row)));
}

/** Its word for good on bytes with this last valid height: what they have not done here they never will. */
export async function readSnapshotPast(
  chain: RelayChain,
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

/**
 * Sign the settle of a verified result: the creator's signature, and directly after it the release. `attempt` counts
 * those that were found dead before, as in `signRefund`.
 */
export function signSettle(
  chain: RelayChain,
  record: ExecutionRecord,
  listing: AgentListing,
  result: Pick<ResultRow, 'result_hash' | 'signature' | 'execution_time_ms'>,
  attempt = 0,
): Promise<NewTransaction> {
  const signature = parseSignature(result.signature);
  if (!signature) throw new Error('a stored signature is malformed');
  return chain.sign(
    [
      ed25519Instruction({
        publicKey: record.signingKey.toBytes(),
        message: Buffer.from(result.result_hash),
        signature,
      }),
      settleExecution({
        relayAuthority: chain.authority,
        executionId: record.executionId,
        listing: record.listing,
        payout: listing.payout,
        rentSponsor: record.rentSponsor,
        resultHash: parseResultHash(result.result_hash),
        executionTimeMs: Number(result.execution_time_ms),
      }),
    ],
    attempt,
  );
}

/** Sign the refund of a record to its caller's associated token account. */
export function signRefund(
  chain: RelayChain,
  record: ExecutionRecord,
  usdcMint: PublicKey,
  reason: RefundReason,
  attempt = 0,
): Promise<NewTransaction> {
  return chain.sign(
    [
      refundExecution({
        authority: chain.authority,
        executionId: record.executionId,
        caller: record.caller,
        keyId: record.keyId,
        destination: findTokenAccount(record.caller, usdcMint),
        rentSponsor: record.rentSponsor,
        reason,
      }),
    ],
    attempt,
  );
}

/** Why a refund cannot arrive: `claimable` where the caller's account is missing, `blocked` where it is unusable. */
export async function refundObstacle(
  chain: RelayChain,
  record: ExecutionRecord,
  usdcMint: PublicKey,
): Promise<'claimable' | 'blocked'> {
  const { accounts } = await chain.read([findTokenAccount(record.caller, usdcMint)]);
  const account = accounts[0];
  return account && account.data.length > 0 ? 'blocked' : 'claimable';
}
