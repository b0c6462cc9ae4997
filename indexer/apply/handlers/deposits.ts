/** Events of deposits that opened no execution; `ExecutionOpened` ends the others. */
import { base58, flag } from '../columns.ts';
import { depositRow } from '../rows.ts';
import { changeRow, writeRow, writeUnclaimed } from '../write.ts';
import type { Handlers } from './handler.ts';

export const deposits = {
  /** An address can be prepared again after its refund. */
  DepositPrepared(unit, data, { slot }) {
    writeRow(unit, 'deposits', depositRow(data.deposit, data, slot));
  },

  DepositRefunded(unit, data, at) {
    const ended = { status: 'refunded', ended_at: data.refundedAt, closed: flag(data.closed) } as const;
    changeRow(unit, 'deposits', base58(data.deposit), { ...ended, end_signature: at.signature, slot: at.slot });
    writeUnclaimed(unit, { name: 'DepositRefunded', data }, at);
  },
} satisfies Partial<Handlers>;
