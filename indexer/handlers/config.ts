/** Events of the marketplace itself: its config, its treasury, and whom the admin has verified. */
import { base58, flag, optionalBase58 } from '../columns.ts';
import { changeConfig, writeConfig, writeCreator } from '../write.ts';
import type { Handlers } from './handler.ts';

export const config = {
  async ConfigInitialized(db, data, { slot }) {
    await writeConfig(db, {
      config: base58(data.config),
      admin: base58(data.admin),
      relay_authority: base58(data.relayAuthority),
      usdc_mint: base58(data.usdcMint),
      treasury: base58(data.treasury),
      fee_bps: BigInt(data.feeBps),
      pending_admin: null,
      opens_paused: 0n,
      slot,
    });
  },

  async ConfigUpdated(db, data, { slot }) {
    const change = { fee_bps: BigInt(data.feeBps), opens_paused: flag(data.opensPaused) };
    await changeConfig(db, base58(data.config), { ...change, slot });
  },

  async AdminProposed(db, data, { slot }) {
    await changeConfig(db, base58(data.config), { pending_admin: optionalBase58(data.pendingAdmin), slot });
  },

  async AdminChanged(db, data, { slot }) {
    await changeConfig(db, base58(data.config), { admin: base58(data.admin), pending_admin: null, slot });
  },

  async RelayAuthorityChanged(db, data, { slot }) {
    await changeConfig(db, base58(data.config), { relay_authority: base58(data.relayAuthority), slot });
  },

  /** Balances of token accounts are not kept here; the event itself is. */
  async TreasuryWithdrawn() {},

  async CreatorVerificationChanged(db, data, { slot }) {
    const wallet = base58(data.creator);
    await writeCreator(db, { wallet, verified: flag(data.verified), verified_at: data.verifiedAt, slot });
  },
} satisfies Partial<Handlers>;
