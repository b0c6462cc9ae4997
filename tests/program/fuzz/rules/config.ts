/** The program's rules for settings, pauses and the treasury. Who is admin, guardian or relay never changes here. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, type Ledger, type StateOf, text } from '../ledger.ts';
import { frozenOrGone } from './token.ts';

export const CONFIG = text(program.findConfig());
export const TREASURY = text(program.findTreasury());
export const UNCLAIMED = text(program.findUnclaimed());
export const NOBODY = '11111111111111111111111111111111';
export const ZERO_HASH = '00'.repeat(32);

export type Config = StateOf<'Config'>;

/** The present settings. Every instruction except the first needs them. */
export function config(ledger: Ledger): Config {
  return ledger.state('Config', CONFIG);
}

/** Collateral required for a price; null above the last tier. */
export function tierDeposit(settings: Config, price: bigint): bigint | null {
  const tier = settings.tiers.slice(0, settings.tierCount).find(({ maxPrice }) => price <= maxPrice);
  return tier ? tier.deposit : null;
}

const span = (settings: Config) =>
  settings.maxTimeoutSeconds + settings.refundGraceSeconds + settings.disputeWindowSeconds;

function padded(tiers: program.CollateralTier[]): program.CollateralTier[] {
  return [...tiers, ...Array.from({ length: 4 - tiers.length }, () => ({ maxPrice: 0n, deposit: 0n }))];
}

/** The present relay authorities. */
export const relaysOf = (settings: Config): Address[] =>
  settings.relayAuthorities.slice(0, settings.relayAuthorityCount);

const MOST_RELAYS = 8;

function withRelays(keys: PublicKey[]): Pick<Config, 'relayAuthorities' | 'relayAuthorityCount'> {
  const relays = keys.map(text);
  const unused = Array.from({ length: MOST_RELAYS - relays.length }, () => NOBODY);
  return { relayAuthorities: [...relays, ...unused], relayAuthorityCount: relays.length };
}

export function initializeConfig(
  ledger: Ledger,
  input: program.InitializeConfigInput,
  upgradeAuthority: Address,
): void {
  ledger.demandNew(CONFIG);
  demand(text(input.authority) === upgradeAuthority, 'NotUpgradeAuthority');
  const admin = text(input.admin);
  const { feeBps, minPrice, disputeBondLamports, disputeWindowSeconds } = input;
  const { refundGraceSeconds, maxTimeoutSeconds, recordSeconds, exposureMultiple, adminDelaySeconds } = input;
  const made = {
    ...{ version: 1, adminPaused: false, guardianPaused: false, longestSpanSeconds: 0 },
    ...{ changesValidFrom: 0n, adminSince: 0n },
    ...{ feeBps, minPrice, disputeBondLamports, disputeWindowSeconds, refundGraceSeconds, maxTimeoutSeconds },
    ...{ recordSeconds, guardian: text(input.guardian), adminDelaySeconds },
    ...{ admin, usdcMint: text(input.usdcMint), exposureMultiple, reserved: '00'.repeat(64) },
    ...withRelays(input.relayAuthorities),
    ...{ tierCount: input.tiers.length, tiers: padded(input.tiers) },
  };
  ledger.create('Config', CONFIG, text(input.payer), { ...made, longestSpanSeconds: span(made) });
  for (const account of [TREASURY, UNCLAIMED]) ledger.createToken(account, text(input.payer), account);
}

function demandAdmin(ledger: Ledger, admin: Address): Config {
  const settings = config(ledger);
  demand(settings.admin === admin, 'NotAdmin');
  return settings;
}

/** Without a delay, every change applies at once. The steps keep settings within their bounds. */
export function updateConfig(ledger: Ledger, input: program.UpdateConfigInput): void {
  const { admin, tiers, liftGuardianPause, ...changes } = input;
  const before = demandAdmin(ledger, text(admin));
  const after: Config = { ...before, ...changes };
  after.guardianPaused &&= !liftGuardianPause;
  if (tiers) {
    after.tiers = padded(tiers);
    after.tierCount = tiers.length;
  }
  ledger.change('Config', CONFIG, { ...after, longestSpanSeconds: Math.max(before.longestSpanSeconds, span(after)) });
}

function demandGuardian(ledger: Ledger, authority: PublicKey): Config {
  const settings = config(ledger);
  demand([settings.guardian, settings.admin].includes(text(authority)), 'NotGuardianOrAdmin');
  return settings;
}

export function setPause(ledger: Ledger, { authority, isPaused }: program.SetPauseInput): void {
  const { admin, guardian } = demandGuardian(ledger, authority);
  if (admin === text(authority)) ledger.change('Config', CONFIG, { adminPaused: isPaused });
  if (guardian !== text(authority)) return;
  ledger.change('Config', CONFIG, { guardianPaused: isPaused, ...(isPaused && { changesValidFrom: ledger.now }) });
}

export function withdrawTreasury(ledger: Ledger, input: program.WithdrawTreasuryInput): void {
  demand(!demandAdmin(ledger, text(input.admin)).guardianPaused, 'TreasuryPaused');
  const destination = text(input.destination);
  demand(input.amount > 0n && input.amount <= ledger.token(TREASURY).amount, 'InvalidAmount');
  demand(destination !== TREASURY && !frozenOrGone(ledger, destination), 'DestinationUnusable');
  ledger.transfer(TREASURY, destination, input.amount, TREASURY);
  ledger.tell({ amount: input.amount, remaining: ledger.token(TREASURY).amount });
}
