/** Events of executions, and their effects on the grant. */
import { PublicKey } from '@solana/web3.js';
import { base58, hex, optionalBase58, optionalHex } from '../columns.ts';
import { executionRow } from '../rows.ts';
import { changeRow, endExecution, requireKnown, writeExecution, writeUnclaimed } from '../write.ts';
import { grantAddress } from './grantAddress.ts';
import type { Handlers } from './handler.ts';

/** What the record of an execution has at first. */
const UNENDED = { status: 'open', resultHash: new Uint8Array(32), settledAt: 0n, executionTimeMs: 0 } as const;

export const executions = {
  ExecutionOpened(unit, data, { signature, slot }) {
    const keyId = optionalHex(data.keyId);
    requireKnown(unit, 'listings', base58(data.listing));
    const record = { ...data, ...UNENDED, spenderBump: Number(data.spenderLendsEscrow) };
    writeExecution(unit, {
      ...executionRow(data.record, record, slot),
      open_signature: signature,
      opened_slot: slot,
      deposit: optionalBase58(data.deposit),
    });
    if (!data.deposit.equals(PublicKey.default)) {
      // The fee that was taken: none if the treasury was frozen.
      const ended = { status: 'opened', ended_at: data.openedAt, closed: 1n, service_fee: data.serviceFee } as const;
      changeRow(unit, 'deposits', base58(data.deposit), { ...ended, end_signature: signature, slot });
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
