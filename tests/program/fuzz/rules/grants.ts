/** The program's rules for the spending grants of API keys. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, type Ledger, type StateOf, text } from '../ledger.ts';
import { config, relaysOf } from './config.ts';

export type Grant = StateOf<'KeyGrant'>;

const YEAR = 31_536_000n;
/** Maximum gas of any execution, lamports. */
export const MAX_GAS = 100_000;
export const NO_KEY = '00'.repeat(16);

function demandLimits(limits: program.GrantLimits, now: bigint): void {
  const { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt, maxGasLamports } = limits;
  demand(perExecutionMax > 0n && periodMax > 0n && totalMax > 0n && periodSeconds > 0, 'GrantLimitZero');
  demand(expiresAt > now && expiresAt <= now + YEAR, 'GrantExpiryOutOfBounds');
  demand(maxGasLamports <= MAX_GAS, 'GrantGasOutOfBounds');
}

export function createGrant(ledger: Ledger, input: program.CreateGrantInput): void {
  const { now } = ledger;
  const address = text(program.findGrant(input.wallet, input.keyId));
  const keyId = Buffer.from(input.keyId).toString('hex');
  ledger.demandNew(address);
  demand(keyId !== NO_KEY, 'InvalidKeyId');
  demandLimits(input.limits, now);
  ledger.create('KeyGrant', address, text(input.payer), {
    ...{ version: 1, revoked: false, bump: 0, spenderBump: 0, sourceBump: 0, wallet: text(input.wallet), keyId },
    ...{ rentSponsor: text(input.payer), ...input.limits, createdAt: now, periodStart: now, periodSpent: 0n },
    ...{ totalSpent: 0n, executionCount: 0n, lastOpenedAt: 0n, reserved: '00'.repeat(16) },
  });
}

export function revokeGrant(ledger: Ledger, input: program.RevokeGrantInput): void {
  const relays = relaysOf(config(ledger));
  const address = text(program.findGrant(input.wallet, input.keyId));
  const grant = ledger.state('KeyGrant', address);
  const authority = text(input.authority);
  demand(authority === grant.wallet || relays.includes(authority), 'NotGrantAuthority');
  demand(!grant.revoked, 'GrantRevoked');
  ledger.change('KeyGrant', address, { revoked: true });
}

/** The signer may be another wallet than the one in the grant's address. */
export function updateGrant(ledger: Ledger, input: program.UpdateGrantInput, signer: string): void {
  const address = text(program.findGrant(input.wallet, input.keyId));
  const grant = ledger.state('KeyGrant', address);
  demand(grant.wallet === signer, 'NotGrantWallet');
  demandLimits(input.limits, ledger.now);
  demand(!grant.revoked, 'GrantRevoked');
  const rolled = input.limits.periodSeconds === grant.periodSeconds ? {} : restarted(grant, ledger.now);
  ledger.change('KeyGrant', address, { ...input.limits, ...rolled });
}

export function closeGrant(ledger: Ledger, input: program.CloseGrantInput, signer: string): void {
  const address = text(program.findGrant(input.wallet, input.keyId));
  const grant = ledger.state('KeyGrant', address);
  demand(grant.wallet === signer, 'NotGrantWallet');
  demand(grant.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(ledger.now > grant.lastOpenedAt, 'GrantInUse');
  ledger.close(address, grant.rentSponsor);
}

export function withdrawGas(ledger: Ledger, input: { wallet: PublicKey; lamports: bigint }): void {
  const gasBalance = text(program.findSpender(input.wallet));
  const held = ledger.get(gasBalance).lamports;
  const lamports = input.lamports === program.ALL_GAS ? held : input.lamports;
  demand(lamports > 0n && lamports <= held, 'InvalidAmount');
  ledger.moveLamports(gasBalance, text(input.wallet), lamports);
  ledger.tell({ lamports, remaining: ledger.get(gasBalance).lamports });
  demandSoundGasBalance(ledger, gasBalance);
}

/** A gas balance must be empty or rent-exempt after it paid. */
export function demandSoundGasBalance(ledger: Ledger, gasBalance: Address): void {
  const { lamports } = ledger.get(gasBalance);
  demand(lamports === 0n || lamports >= ledger.rent(0), 'GasBalanceBelowRent');
}

/** A new period length starts a period at once. The spend of the present period counts in it. */
function restarted({ periodStart, periodSeconds, periodSpent }: Grant, now: bigint): Partial<Grant> {
  const over = now - periodStart >= BigInt(periodSeconds);
  return { periodStart: now, periodSpent: over ? 0n : periodSpent };
}

/** The grant after an open at this price. */
export function spend(grant: Grant, price: bigint, now: bigint): Grant {
  demand(!grant.revoked, 'GrantRevoked');
  demand(now < grant.expiresAt, 'GrantExpired');
  demand(price <= grant.perExecutionMax, 'GrantPerExecutionExceeded');
  const seconds = BigInt(grant.periodSeconds);
  const periods = (now - grant.periodStart) / seconds;
  const periodStart = grant.periodStart + periods * seconds;
  const periodSpent = (periods > 0n ? 0n : grant.periodSpent) + price;
  demand(periodSpent <= grant.periodMax, 'GrantPeriodExceeded');
  const totalSpent = grant.totalSpent + price;
  demand(totalSpent <= grant.totalMax, 'GrantTotalExceeded');
  const executionCount = grant.executionCount + 1n;
  return { ...grant, periodStart, periodSpent, totalSpent, executionCount, lastOpenedAt: now };
}

/** The grant after a refund; null if it does not change. */
export function restore(grant: Grant, price: bigint, openedAt: bigint): Grant | null {
  if (grant.revoked || grant.createdAt > openedAt) return null;
  const totalSpent = grant.totalSpent - price;
  const periodSpent = openedAt >= grant.periodStart ? grant.periodSpent - price : grant.periodSpent;
  // A period's spend never exceeds the total. Spend carried over from another period length may include this price.
  if (periodSpent > totalSpent) return { ...grant, totalSpent, periodSpent: totalSpent };
  return { ...grant, totalSpent, periodSpent };
}
