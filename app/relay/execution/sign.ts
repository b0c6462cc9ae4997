/** The three transactions of an execution: the open, and the two ways in which its money leaves the escrow. */
import type { PublicKey } from '@solana/web3.js';
import {
  type AgentListing,
  type ExecutionRecord,
  findTokenAccount,
  openExecutionWithGrant,
  parseAddress,
  type RefundReason,
  refundExecution,
  settleExecution,
} from '../../sdk/program/program.ts';
import { parseResultHash, parseSignature, parseUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import { chainUnreadable } from '../errors.ts';
import type { JournalRow, ResultRow } from '../ledger/tables.ts';
import type { NewTransaction, SignedTransaction } from '../ledger/writing.ts';

/** How long after the check the escrow may still be funded, seconds of the chain's clock. */
export const OPEN_WINDOW_SECONDS = 60n;

type Signing = Pick<RelayChain, 'sign' | 'authority'>;

/**
 * Sign the transaction that funds this row's escrow. `openBefore` is unix seconds of the chain's clock. Throws ApiError
 * 503 where the node does not answer.
 */
export function signOpen(
  chain: Signing,
  row: JournalRow,
  usdcMint: PublicKey,
  openBefore: bigint,
): Promise<NewTransaction> {
  const executionId = parseUuid(row.execution_id);
  if (!executionId) throw new Error(`journal row ${row.execution_id} has no valid id`);
  const instruction = openExecutionWithGrant({
    relayAuthority: chain.authority,
    payer: chain.authority,
    rentSponsor: chain.authority,
    listing: parseAddress(row.listing),
    wallet: parseAddress(row.wallet),
    keyId: Buffer.from(row.key_id, 'hex'),
    usdcMint,
    nonce: Buffer.from(row.nonce, 'hex'),
    executionId,
    maxPrice: row.price,
    listingVersion: Number(row.listing_version),
    timeoutSeconds: Number(row.timeout_seconds),
    requestHash: Buffer.from(row.request_hash, 'hex'),
    openBefore,
    gasLamports: 0,
  });
  return chain.sign([instruction]).catch(chainUnreadable);
}

/**
 * Sign the settle of a verified result, which carries the creator's signature. `attempt` counts those that were found
 * dead before, as in `signRefund`.
 */
export function signSettle(
  chain: Signing,
  record: ExecutionRecord,
  listing: AgentListing,
  result: Pick<ResultRow, 'result_hash' | 'signature' | 'execution_time_ms'>,
  attempt = 0,
): Promise<NewTransaction> {
  const signature = parseSignature(result.signature);
  if (!signature) throw new Error('a stored signature is malformed');
  return chain.sign(
    [
      settleExecution({
        relayAuthority: chain.authority,
        executionId: record.executionId,
        listing: record.listing,
        payout: listing.payout,
        rentSponsor: record.rentSponsor,
        resultHash: parseResultHash(result.result_hash),
        signature,
        executionTimeMs: Number(result.execution_time_ms),
      }),
    ],
    attempt,
  );
}

/** Sign the refund of a record to its caller's associated token account. */
export function signRefund(
  chain: Signing,
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

function stored(bytes: Buffer | null, signature: string | null, height: bigint | null): SignedTransaction {
  if (!bytes || !signature || height === null) throw new Error('a journal row lacks its signed transaction');
  return { bytes, signature, lastValidHeight: height };
}

/** The transactions that a row was stored with. Each throws where the row has none. */
export const storedOpen = (row: JournalRow) =>
  stored(row.open_transaction, row.open_signature, row.open_last_valid_height);
export const storedSettle = (row: JournalRow) =>
  stored(row.settle_transaction, row.settle_signature, row.settle_last_valid_height);
export const storedRefund = (row: JournalRow) =>
  stored(row.refund_transaction, row.refund_signature, row.refund_last_valid_height);
