/** Events of the marketplace itself: its config, its treasury, and creators' verification. */
import { base58, base58List, flag, optionalBase58 } from '../columns.ts';
import { changeRow, writeRow } from '../write.ts';
import type { Handlers } from './handler.ts';

export const config = {
  ConfigInitialized(unit, data, { slot }) {
    writeRow(unit, 'configs', {
      config: base58(data.config),
      admin: base58(data.admin),
      relay_authorities: base58List(data.relayAuthorities),
      usdc_mint: base58(data.usdcMint),
      treasury: base58(data.treasury),
      fee_bps: BigInt(data.settings.feeBps),
      pending_admin: null,
      opens_paused: flag(data.settings.opensPaused),
      slot,
    });
  },

  ConfigUpdated(unit, data, { slot }) {
    const { feeBps, opensPaused } = data.settings;
    const change = { fee_bps: BigInt(feeBps), opens_paused: flag(opensPaused) };
    changeRow(unit, 'configs', base58(data.config), { ...change, slot });
  },

  AdminProposed(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), { pending_admin: optionalBase58(data.pendingAdmin), slot });
  },

  AdminChanged(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), { admin: base58(data.admin), pending_admin: null, slot });
  },

  RelayAuthoritiesChanged(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), { relay_authorities: base58List(data.relayAuthorities), slot });
  },

  /** Pending changes are read from the chain's accounts. The index only stores their events. */
  ChangeProposed() {},
  ChangeCancelled() {},

  ChangeApplied(unit, data, { slot }) {
    changeRow(unit, 'configs', base58(data.config), {
      fee_bps: BigInt(data.settings.feeBps),
      opens_paused: flag(data.settings.opensPaused),
      relay_authorities: base58List(data.relayAuthorities),
      pending_admin: optionalBase58(data.pendingAdmin),
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
