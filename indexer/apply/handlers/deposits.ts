/** Events of deposits that opened no execution; `ExecutionOpened` ends the others. */
import { base58, flag } from '../columns.ts';
import { PREPARED } from '../rows.ts';
import { endDeposit, writeRow, writeUnclaimed } from '../write.ts';
import type { Handlers } from './handler.ts';

export const deposits = {
  /** An address can be prepared again after its refund. */
  DepositPrepared(unit, data, { slot }) {
    writeRow(unit, 'deposits', {
      deposit: base58(data.deposit),
      caller: base58(data.caller),
      rent_sponsor: base58(data.rentSponsor),
      price: String(data.price),
      service_fee: data.serviceFee,
      prepared_at: data.preparedAt,
      expires_at: data.expiresAt,
      ...PREPARED,
      slot,
    });
  },

  DepositRefunded(unit, data, at) {
    const ended = { status: 'refunded', ended_at: data.refundedAt, closed: flag(data.closed) } as const;
    endDeposit(unit, base58(data.deposit), at, ended);
    writeUnclaimed(unit, { name: 'DepositRefunded', data }, at);
  },
} satisfies Partial<Handlers>;
