/** Events of grants, which let the relay spend for a key. What they have spent is said by the executions. */
import { base58, hex } from '../columns.ts';
import { changeGrant, writeGrant } from '../write.ts';
import type { Handlers } from './handler.ts';

export const grants = {
  async GrantCreated(db, data, { slot }) {
    await writeGrant(db, {
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

  async GrantRevoked(db, data, { slot }) {
    await changeGrant(db, base58(data.grant), { revoked: 1n, slot });
  },

  async GrantUpdated(db, data, { slot }) {
    await changeGrant(db, base58(data.grant), {
      per_execution_max: String(data.perExecutionMax),
      period_max: String(data.periodMax),
      total_max: String(data.totalMax),
      period_seconds: BigInt(data.periodSeconds),
      expires_at: data.expiresAt,
      max_gas_lamports: BigInt(data.maxGasLamports),
      slot,
    });
  },

  /** Balances of tanks are not kept here; the event itself is. */
  async GasWithdrawn() {},

  async GrantClosed(db, data, { slot }) {
    await changeGrant(db, base58(data.grant), { revoked: 1n, closed: 1n, slot });
  },
} satisfies Partial<Handlers>;
