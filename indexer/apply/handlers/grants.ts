/** Events of grants, which let the relay spend for a key. Events of executions report how much was spent. */
import { base58, hex } from '../columns.ts';
import { changeRow, writeRow } from '../write.ts';
import type { Handlers } from './handler.ts';

export const grants = {
  GrantCreated(unit, data, { slot }) {
    writeRow(unit, 'grants', {
      grant_address: base58(data.grant),
      wallet: base58(data.wallet),
      key_id: hex(data.keyId),
      per_execution_max: String(data.perExecutionMax),
      period_max: String(data.periodMax),
      total_max: String(data.totalMax),
      period_seconds: BigInt(data.periodSeconds),
      expires_at: data.expiresAt,
      created_at: data.createdAt,
      revoked: 0n,
      closed: 0n,
      execution_count: 0n,
      total_spent: '0',
      max_gas_lamports: BigInt(data.maxGasLamports),
      slot,
    });
  },

  GrantRevoked(unit, data, { slot }) {
    changeRow(unit, 'grants', base58(data.grant), { revoked: 1n, slot });
  },

  GrantUpdated(unit, data, { slot }) {
    changeRow(unit, 'grants', base58(data.grant), {
      per_execution_max: String(data.perExecutionMax),
      period_max: String(data.periodMax),
      total_max: String(data.totalMax),
      period_seconds: BigInt(data.periodSeconds),
      expires_at: data.expiresAt,
      max_gas_lamports: BigInt(data.maxGasLamports),
      slot,
    });
  },

  /** The index keeps no gas balances. The event itself is stored. */
  GasWithdrawn() {},

  GrantClosed(unit, data, { slot }) {
    changeRow(unit, 'grants', base58(data.grant), { revoked: 1n, closed: 1n, slot });
  },
} satisfies Partial<Handlers>;
