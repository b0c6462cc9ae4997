/** Events of grants, which let the relay spend for a key. Events of executions report how much was spent. */
import { base58 } from '../columns.ts';
import { grantRow } from '../rows.ts';
import { changeRow, writeRow } from '../write.ts';
import type { Handlers } from './handler.ts';

export const grants = {
  GrantCreated(unit, data, { slot }) {
    writeRow(
      unit,
      'grants',
      grantRow(data.grant, { ...data, revoked: false, executionCount: 0n, totalSpent: 0n }, slot),
    );
  },

  GrantRevoked(unit, data, { slot }) {
    changeRow(unit, 'grants', base58(data.grant), { revoked: 1n, slot });
  },

  GrantUpdated(unit, data, { slot }) {
    changeRow(unit, 'grants', base58(data.grant), { expires_at: data.expiresAt, slot });
  },

  /** The index keeps no gas balances. The event itself is stored. */
  GasWithdrawn() {},

  GrantClosed(unit, data, { slot }) {
    changeRow(unit, 'grants', base58(data.grant), { revoked: 1n, closed: 1n, slot });
  },
} satisfies Partial<Handlers>;
