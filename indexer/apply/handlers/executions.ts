/** Events of executions, and their effects on the grant. */
import { PublicKey } from '@solana/web3.js';
import { formatUuid } from '../../../app/sdk/receipt/receipt.ts';
import { base58, flag, hex, optionalBase58, optionalHex } from '../columns.ts';
import { changeRow, endDeposit, endExecution, requireKnown, writeExecution, writeUnclaimed } from '../write.ts';
import { grantAddress } from './grantAddress.ts';
import type { Handlers } from './handler.ts';

export const executions = {
  ExecutionOpened(unit, data, { signature, slot }) {
    const keyId = optionalHex(data.keyId);
    requireKnown(unit, 'listings', base58(data.listing));
    writeExecution(unit, {
      execution_id: formatUuid(data.executionId),
      record: base58(data.record),
      listing: base58(data.listing),
      caller: base58(data.caller),
      signing_key: base58(data.signingKey),
      key_id: keyId,
      rent_sponsor: base58(data.rentSponsor),
      price: data.price,
      fee_bps: BigInt(data.feeBps),
      listing_version: BigInt(data.listingVersion),
      request_hash: hex(data.requestHash),
      result_hash: null,
      status: 'open',
      reason: null,
      creator_amount: 0n,
      platform_amount: 0n,
      execution_time_ms: null,
      opened_at: data.openedAt,
      deadline: data.deadline,
      refund_at: data.refundAt,
      settled_at: null,
      dispute_window_seconds: BigInt(data.disputeWindowSeconds),
      dispute_count: 0n,
      open_signature: signature,
      opened_slot: slot,
      open_index: null,
      listing_timeout_seconds: null,
      end_signature: null,
      closed: 0n,
      gas_lamports: BigInt(data.gasLamports),
      spender_lends_escrow: flag(data.spenderLendsEscrow),
      deposit: optionalBase58(data.deposit),
      slot,
    });
    if (!data.deposit.equals(PublicKey.default)) {
      endDeposit(
        unit,
        base58(data.deposit),
        { signature, slot },
        // The fee that was taken: none if the treasury was frozen.
        { status: 'opened', ended_at: data.openedAt, closed: 1n, service_fee: data.serviceFee },
      );
    }
    if (keyId === null) return;
    const spent = {
      execution_count: data.grantExecutionCount,
      total_spent: String(data.grantTotalSpent),
    };
    changeRow(unit, 'grants', grantAddress(base58(data.caller), keyId), { ...spent, slot });
  },

  ExecutionSettled(unit, data, at) {
    endExecution(unit, base58(data.record), at, null, {
      status: 'completed',
      result_hash: hex(data.resultHash),
      creator_amount: data.creatorAmount,
      platform_amount: data.platformAmount,
      fee_bps: BigInt(data.feeBps),
      execution_time_ms: BigInt(data.executionTimeMs),
      settled_at: data.settledAt,
    });
  },

  ExecutionRefunded(unit, data, at) {
    const record = base58(data.record);
    endExecution(unit, record, at, BigInt(data.reason), { status: 'refunded', settled_at: data.refundedAt });
    writeUnclaimed(unit, { name: 'ExecutionRefunded', data }, at);
    if (!data.grantRestored) return;
    const keyId = unit.rows.executions.get(record)?.key_id;
    // Without a row (its record is unread), the key is unknown. The grant's next event corrects the total.
    if (!keyId) return;
    const spent = { total_spent: String(data.grantTotalSpent), slot: at.slot };
    changeRow(unit, 'grants', grantAddress(base58(data.caller), keyId), spent);
  },

  ExecutionClosed(unit, data, { slot }) {
    changeRow(unit, 'executions', base58(data.record), { closed: 1n, slot });
  },
} satisfies Partial<Handlers>;
