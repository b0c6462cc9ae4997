/** Events of the marketplace itself: its config, its treasury, and creators' verification. */
import { base58, base58List, flag } from '../columns.ts';
import { changeRow, writeRow } from '../write.ts';
import type { Handlers } from './handler.ts';

export const config = {
  ConfigInitialized(unit, data, { slot }) {
    writeRow(unit, 'configs', {
      config: base58(data.config),
      admin: base58(data.admin),
      relay_authorities: base58List(data.relayAuthorities),
      record_seconds: BigInt(data.settings.recordSeconds),
      slot,
    });
  },

  ConfigUpdated(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), { record_seconds: BigInt(data.settings.recordSeconds), slot });
  },

  AdminChanged(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), { admin: base58(data.admin), slot });
  },

  RelayAuthorityRemoved(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), { relay_authorities: base58List(data.relayAuthorities), slot });
  },

  /** Pending changes are read from the chain's accounts. The index only stores their events. */
  ChangeProposed() {},
  ChangeCancelled() {},
  ChangesCancelled() {},

  ChangeApplied(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), {
      record_seconds: BigInt(data.settings.recordSeconds),
      relay_authorities: base58List(data.relayAuthorities),
      slot,
    });
  },

  /** The index keeps no token balances. The event itself is stored. */
  TreasuryWithdrawn() {},

  CreatorVerificationChanged(unit, data, { slot }) {
    const wallet = base58(data.creator);
    writeRow(unit, 'creators', { wallet, verified: flag(data.verified), verified_at: data.verifiedAt, slot });
  },
} satisfies Partial<Handlers>;
