/** What the program promises about settings, authorities, the treasury and badges, in plain terms. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, type Ledger, type StateOf, text } from '../ledger.ts';
import { frozenOrGone } from './token.ts';

export const CONFIG = text(program.findConfig());
export const TREASURY = text(program.findTreasury());
export const NOBODY = '11111111111111111111111111111111';
export const ZERO_HASH = '00'.repeat(32);

export type Config = StateOf<'Config'>;

/** The settings in force; every instruction but the first needs them. */
export function config(ledger: Ledger): Config {
  return ledger.state('Config', CONFIG);
}

/** Deposit that a price requires; null above the last tier. */
export function tierDeposit(settings: Config, price: bigint): bigint | null {
  const tier = settings.tiers.slice(0, settings.tierCount).find(({ maxPrice }) => price <= maxPrice);
  return tier ? tier.deposit : null;
}

const between = (low: number | bigint, value: number | bigint, high: number | bigint) => low <= value && value <= high;

function demandBounds(settings: Config): void {
  demand(settings.feeBps <= 100, 'FeeOutOfBounds');
  demand(between(10_000n, settings.minPrice, 1_000_000n), 'MinPriceOutOfBounds');
  demand(between(259_200, settings.disputeWindowSeconds, 2_592_000), 'DisputeWindowOutOfBounds');
  demand(between(300, settings.refundGraceSeconds, 3_600), 'RefundGraceOutOfBounds');
  demand(between(60, settings.maxTimeoutSeconds, 86_400), 'MaxTimeoutOutOfBounds');
  demand(settings.disputeBondLamports <= 1_000_000_000n, 'BondOutOfBounds');
  demand(settings.exposureMultiple <= 1_000, 'ExposureMultipleOutOfBounds');
  const tiers = settings.tiers.slice(0, settings.tierCount);
  const bounded = tiers.every(({ maxPrice, deposit }) => maxPrice <= 10_000_000_000n && deposit <= 100_000_000_000n);
  const rising = tiers.every(({ maxPrice, deposit }, index) => {
    const below = tiers[index - 1];
    return maxPrice >= settings.minPrice && (!below || (below.maxPrice < maxPrice && below.deposit < deposit));
  });
  demand(tiers.length > 0 && bounded && rising, 'InvalidTiers');
}

const span = (settings: Config) =>
  settings.maxTimeoutSeconds + settings.refundGraceSeconds + settings.disputeWindowSeconds;

function padded(tiers: program.CollateralTier[]): program.CollateralTier[] {
  demand(tiers.length <= 4, 'InvalidTiers');
  return [...tiers, ...Array.from({ length: 4 - tiers.length }, () => ({ maxPrice: 0n, deposit: 0n }))];
}

/** The relay authorities in force. */
export const relaysOf = (settings: Config): Address[] =>
  settings.relayAuthorities.slice(0, settings.relayAuthorityCount);

const MOST_RELAYS = 8;

/** Replace the relay authorities: 1 to 8 of them, none twice, none the zero key. */
function withRelays(keys: PublicKey[]): Pick<Config, 'relayAuthorities' | 'relayAuthorityCount'> {
  const relays = keys.map(text);
  const distinct = new Set(relays).size === relays.length && !relays.includes(NOBODY);
  demand(distinct && relays.length >= 1 && relays.length <= MOST_RELAYS, 'InvalidRelayAuthorities');
  const unused = Array.from({ length: MOST_RELAYS - relays.length }, () => NOBODY);
  return { relayAuthorities: [...relays, ...unused], relayAuthorityCount: relays.length };
}

export function initializeConfig(
  ledger: Ledger,
  input: program.InitializeConfigInput,
  upgradeAuthority: Address,
): void {
  demand(text(input.authority) === upgradeAuthority, 'NotUpgradeAuthority');
  const admin = text(input.admin);
  demand(admin !== NOBODY, 'InvalidAuthority');
  const { feeBps, minPrice, disputeBondLamports, disputeWindowSeconds } = input;
  const { refundGraceSeconds, maxTimeoutSeconds, exposureMultiple } = input;
  const made = {
    ...{ version: 1, bump: 0, treasuryBump: 0, opensPaused: false, pendingAdmin: NOBODY, longestSpanSeconds: 0 },
    ...{ feeBps, minPrice, disputeBondLamports, disputeWindowSeconds, refundGraceSeconds, maxTimeoutSeconds },
    ...{ admin, usdcMint: text(input.usdcMint), exposureMultiple, reserved: '00'.repeat(64) },
    ...withRelays(input.relayAuthorities),
    ...{ tierCount: input.tiers.length, tiers: padded(input.tiers) },
  };
  demandBounds(made);
  ledger.create('Config', CONFIG, text(input.payer), { ...made, longestSpanSeconds: span(made) });
  ledger.createToken(TREASURY, text(input.payer), TREASURY);
}

function demandAdmin(ledger: Ledger, admin: Address): Config {
  const settings = config(ledger);
  demand(settings.admin === admin, 'NotAdmin');
  return settings;
}

export function updateConfig(ledger: Ledger, input: program.UpdateConfigInput): void {
  const before = demandAdmin(ledger, text(input.admin));
  const { admin: _, tiers, ...changes } = input;
  const after = { ...before, ...changes };
  if (tiers) {
    after.tiers = padded(tiers);
    after.tierCount = tiers.length;
  }
  demandBounds(after);
  after.longestSpanSeconds = Math.max(before.longestSpanSeconds, span(after));
  ledger.change('Config', CONFIG, after);
}

export function proposeAdmin(ledger: Ledger, input: program.ProposeAdminInput): void {
  demandAdmin(ledger, text(input.admin));
  ledger.change('Config', CONFIG, { pendingAdmin: text(input.pendingAdmin) });
}

export function acceptAdmin(ledger: Ledger, input: { pendingAdmin: program.ProposeAdminInput['pendingAdmin'] }): void {
  const admin = text(input.pendingAdmin);
  demand(config(ledger).pendingAdmin === admin, 'NotPendingAdmin');
  ledger.change('Config', CONFIG, { admin, pendingAdmin: NOBODY });
}

export function setRelayAuthorities(ledger: Ledger, input: program.SetRelayAuthoritiesInput): void {
  demandAdmin(ledger, text(input.admin));
  ledger.change('Config', CONFIG, withRelays(input.relayAuthorities));
}

export function withdrawTreasury(ledger: Ledger, input: program.WithdrawTreasuryInput): void {
  demandAdmin(ledger, text(input.admin));
  const destination = text(input.destination);
  demand(input.amount > 0n && input.amount <= ledger.token(TREASURY).amount, 'InvalidAmount');
  demand(destination !== TREASURY && !frozenOrGone(ledger, destination), 'DestinationUnusable');
  ledger.transfer(TREASURY, destination, input.amount, TREASURY);
}

export function setCreatorVerified(ledger: Ledger, input: program.SetCreatorVerifiedInput): void {
  demandAdmin(ledger, text(input.admin));
  const profile = text(program.findCreator(input.creator));
  const { verified } = input;
  const verifiedAt = verified ? ledger.now : 0n;
  const value = { version: 1, bump: 0, verified, creator: text(input.creator), verifiedAt };
  if (ledger.find('CreatorProfile', profile)) ledger.change('CreatorProfile', profile, value);
  else ledger.create('CreatorProfile', profile, text(input.payer), value);
}
