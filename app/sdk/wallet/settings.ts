/** The marketplace's settings, fees and badges, as the admin changes them. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  findConfig,
  findTokenAccount,
  findTreasury,
  relayAuthoritiesOf,
  setCreatorVerified,
  type UpdateConfigInput,
  updateConfig,
  withdrawTreasury,
} from '../program/program.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { readTokens } from './connection.ts';
import { formatKey, formatTiers, formatTime } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { type Facts, sendTransaction } from './send.ts';
import { ask, openSession, type Service } from './service.ts';
import type { Signer } from './signer.ts';

/** The given settings change; the others stay. */
export type SettingsChange = Omit<UpdateConfigInput, 'admin'>;

/** Every setting, every authority and the treasury's balance. */
export async function showConfig({ connection, config }: MarketplaceChain) {
  const treasury = await readTokens(connection, findTreasury());
  return {
    config: findConfig().toBase58(),
    admin: config.admin.toBase58(),
    admin_since: formatTime(config.adminSince),
    guardian: formatKey(config.guardian),
    admin_delay_seconds: config.adminDelaySeconds,
    changes_valid_from: formatTime(config.changesValidFrom),
    relay_authorities: relayAuthoritiesOf(config).map(String),
    usdc_mint: config.usdcMint.toBase58(),
    treasury: findTreasury().toBase58(),
    treasury_usdc: formatUsdc(treasury ?? 0n),
    admin_paused: config.adminPaused,
    guardian_paused: config.guardianPaused,
    fee_bps: config.feeBps,
    min_price_usdc: formatUsdc(config.minPrice),
    dispute_bond_lamports: config.disputeBondLamports.toString(),
    dispute_window_seconds: config.disputeWindowSeconds,
    refund_grace_seconds: config.refundGraceSeconds,
    max_timeout_seconds: config.maxTimeoutSeconds,
    record_seconds: config.recordSeconds,
    longest_span_seconds: config.longestSpanSeconds,
    exposure_multiple: config.exposureMultiple,
    tiers: formatTiers(config.tiers.slice(0, config.tierCount)),
  };
}

/** Changes settings. Returns the transaction's signature, as every change here does. */
export function changeSettings(chain: MarketplaceChain, admin: Signer, settings: SettingsChange): Promise<string> {
  return sendAsAdmin(chain, admin, updateConfig({ admin: admin.publicKey, ...settings }));
}

/** Withdraws collected fees to any USDC account; default: the admin's associated one. `amount` in base units. */
export async function withdrawFees(
  chain: MarketplaceChain,
  admin: Signer,
  { amount, destination: named }: { amount: bigint; destination?: PublicKey },
) {
  const destination = named ?? findTokenAccount(admin.publicKey, chain.config.usdcMint);
  const held = await readTokens(chain.connection, findTreasury());
  const signature = await sendAsAdmin(chain, admin, withdrawTreasury({ admin: admin.publicKey, destination, amount }), {
    InvalidAmount: `The treasury holds ${formatUsdc(held ?? 0n)} USDC.`,
    DestinationUnusable: `The account is ${destination}.`,
    TreasuryPaused: `Only the guardian, ${formatKey(chain.config.guardian) ?? 'nobody'}, can lift this at once. A proposed change can lift it after the delay.`,
  });
  return { destination: destination.toBase58(), amount_usdc: formatUsdc(amount), signature };
}

/** Grants or removes a creator's badge. */
export function verifyCreator(
  chain: MarketplaceChain,
  admin: Signer,
  { creator, verified }: { creator: PublicKey; verified: boolean },
): Promise<string> {
  const { publicKey } = admin;
  return sendAsAdmin(chain, admin, setCreatorVerified({ admin: publicKey, payer: publicKey, creator, verified }));
}

/** Actions of the admin's sessions at this service, newest first. Only for the admin. */
export function listAdminActions(service: Service, admin: Signer, page: Page) {
  return ask(service, async () => (await openSession(service, admin)).call('operation.actions', page));
}

/** The transactions of the admin and the guardian, from the service's index, newest first. Only for the admin. */
export function listAdminEvents(service: Service, admin: Signer, page: Page) {
  return ask(service, async () => (await openSession(service, admin)).call('operation.events', page));
}

interface Page {
  /** 1 to 100. */
  limit: number;
  offset: number;
}

/** Sends an instruction that only the admin may sign. */
export function sendAsAdmin(
  { connection, config }: MarketplaceChain,
  admin: Signer,
  instruction: TransactionInstruction,
  facts: Facts = {},
): Promise<string> {
  const NotAdmin = `The admin is ${config.admin}; this wallet is ${admin.publicKey}.`;
  const ChangeMustWait = `Announce it with \`admin propose-change\`; it can be applied ${config.adminDelaySeconds} s later.`;
  return sendTransaction(connection, [instruction], admin, { NotAdmin, ChangeMustWait, ...facts });
}
