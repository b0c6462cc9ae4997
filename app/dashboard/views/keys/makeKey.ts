/** Makes a key: its grant on the chain, then its registration. */
import type { KeyResult } from '../../../sdk/wallet/apiKeys.ts';
import { SIGNATURE_FEE } from '../../../sdk/wallet/usualAmounts.ts';
import type { KeyScope } from '../../../sdk/wire/keyScopes.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { formatLamports } from '../../parts/amount.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import type { Signing } from '../../parts/sign.tsx';
import { explain } from '../../service.ts';
import type { LimitReadings } from './fields.tsx';
import type { WalletMoney } from './money.ts';

/** A key to show to its owner now: it cannot be shown again. */
export interface MadeKey {
  apiKey: string;
  name: string;
  scopes: KeyScope[];
  /** An error that occurred after the key was granted on-chain; null if there was none. */
  problem: string | null;
  /** The data to register it with; null if the marketplace already knows it. */
  unregistered: { allowedIps: string[] | null; allowedAgents: string[] | null } | null;
  /** The time until which the replaced key works; null if no key was replaced. */
  replacedUntil: string | null;
}

interface KeyWishes {
  name: string;
  scopes: KeyScope[];
  readings: LimitReadings;
  periodSeconds: number;
  lamports: bigint;
  allowance: bigint;
  allowedIps: string[] | null;
  allowedAgents: string[] | null;
  mayReplace: boolean;
}

/** Everything that leaves the wallet when a key is made, which is no USDC: `gas` is what the gas balance gets, lamports. */
export function keyCost({ grantDeposit }: Pick<WalletMoney, 'grantDeposit'>, gas = 0n) {
  const lamports = grantDeposit + gas + SIGNATURE_FEE;
  const pays = {
    sum: `about ${formatLamports(lamports)}`,
    kept: `${formatSol(grantDeposit)} of it is a deposit that you can take back after the key’s end`,
  };
  const rows: (readonly [string, string])[] =
    gas > 0n ? [['Gas balance', `${formatLamports(gas)} for network fees of calls, which you can withdraw`]] : [];
  return { lamports, pays, rows };
}

export async function makeKey(
  { marketplace, wallet, onProgress, createKey, readClock }: Signing,
  { name, scopes, readings, periodSeconds, lamports, allowance, allowedIps, allowedAgents, mayReplace }: KeyWishes,
): Promise<MadeKey> {
  const now = await readClock(marketplace.connection);
  const limits = {
    perExecutionMax: readings.perExecution.value!,
    periodMax: readings.perPeriod.value!,
    totalMax: readings.total.value!,
    periodSeconds,
    expiresAt: now + BigInt(readings.days.value! * DAY_SECONDS),
    maxGasLamports: readings.maxGas.value!,
  };
  const restrictions = {
    scopes,
    ...(allowedIps && { allowed_ips: allowedIps }),
    ...(allowedAgents && { allowed_agents: allowedAgents }),
  };
  return keepGranted({ name, scopes, allowedIps, allowedAgents }, (onGranted) =>
    createKey(
      marketplace,
      {
        wallet,
        name,
        limits,
        restrictions,
        allowance,
        onProgress,
        ...(lamports > 0n && { gas: lamports }),
        ...(mayReplace && { replaceDelegate: true }),
      },
      onGranted,
    ),
  );
}

/** Returns the key even if a step after its grant fails: it can already spend, so its owner must see it. */
export async function keepGranted(
  { name, scopes, allowedIps, allowedAgents }: Pick<KeyWishes, 'name' | 'scopes' | 'allowedIps' | 'allowedAgents'>,
  make: (onGranted: (apiKey: string) => void) => Promise<KeyResult & { replaced_until?: string }>,
): Promise<MadeKey> {
  const granted: string[] = [];
  const made = { name, scopes };
  try {
    const result = await make((apiKey) => granted.push(apiKey));
    const replacedUntil = result.replaced_until ?? null;
    return { ...made, apiKey: result.api_key, problem: null, unregistered: null, replacedUntil };
  } catch (error) {
    const [apiKey] = granted;
    if (!apiKey) throw error;
    return {
      ...made,
      apiKey,
      problem: explain(error),
      unregistered: { allowedIps, allowedAgents },
      replacedUntil: null,
    };
  }
}
