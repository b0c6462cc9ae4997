/** Rebuilds the account that an execution's row shows. Its leaf in an archive follows from that account. */
import { PublicKey } from '@solana/web3.js';
import { constants } from '../../app/sdk/program/constants.ts';
import {
  type ExecutionRecord,
  findExecutionBumps,
  findSpenderBump,
  type RecordStatus,
} from '../../app/sdk/program/program.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import type { ExecutionRow, ExecutionStatusName } from './tables.ts';

const NO_KEY = '00'.repeat(16);

/** The status of the record itself, which a dispute does not change. */
export function recordStatus(status: ExecutionStatusName): RecordStatus {
  return status === 'open' || status === 'refunded' ? status : 'completed';
}

/** Splits a price as the program does: the fee is rounded down, and is 0 bps if waived. */
export function splitPrice(price: bigint, feeBps: bigint): Pick<ExecutionRow, 'creator_amount' | 'platform_amount'> {
  const platformAmount = (price * feeBps) / BigInt(constants.bpsDenominator);
  return { creator_amount: price - platformAmount, platform_amount: platformAmount };
}

/** The record as its account is, or as it was when it was archived. */
export function recordOf(row: ExecutionRow): ExecutionRecord {
  const executionId = parseUuid(row.execution_id);
  if (!executionId) throw new Error(`the index has an execution with the invalid id ${row.execution_id}`);
  const caller = new PublicKey(row.caller);
  return {
    version: 1,
    status: recordStatus(row.status),
    ...findExecutionBumps(executionId),
    spenderBump: row.spender_lends_escrow === 1n ? findSpenderBump(caller) : 0,
    executionId,
    listing: new PublicKey(row.listing),
    caller,
    signingKey: new PublicKey(row.signing_key),
    keyId: Buffer.from(row.key_id ?? NO_KEY, 'hex'),
    rentSponsor: new PublicKey(row.rent_sponsor),
    price: row.price,
    requestHash: Buffer.from(row.request_hash, 'hex'),
    resultHash: Buffer.from(row.result_hash ?? '', 'hex'),
    openedAt: row.opened_at,
    deadline: row.deadline,
    refundAt: row.refund_at,
    settledAt: row.settled_at ?? 0n,
    disputeWindowSeconds: Number(row.dispute_window_seconds),
    listingVersion: Number(row.listing_version),
    executionTimeMs: Number(row.execution_time_ms ?? 0n),
    gasLamports: Number(row.gas_lamports),
    feeBps: Number(row.fee_bps),
  };
}
