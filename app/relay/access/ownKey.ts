/** GET /v1/key: the remaining limits of the request's own key, from the chain's accounts at this moment. */
import { findSpender, parseAddress } from '../../sdk/program/program.ts';
import { greatest, least } from '../../sdk/wire/amounts.ts';
import type { KeyScope } from '../../sdk/wire/keyScopes.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { OwnKey } from '../../sdk/wire/wire.ts';
import type { KeyMoney } from '../chain/accounts.ts';
import { ApiError, chainUnreadable, INVALID_KEY } from '../errors.ts';
import { isNewPeriod, periodEnd, periodLeft } from '../execution/begin/payer.ts';
import type { Principal } from '../execution/contract.ts';
import type { AuthDeps } from './auth.ts';
import { earlier } from './keys.ts';

export interface OwnKeyDeps extends AuthDeps {
  config: AuthDeps['config'] & {
    /** The operator pays all that the gas balances do not. */
    sponsorsAll: boolean;
  };
  accounts: AuthDeps['accounts'] & {
    /** The grant with its wallet's money. Rejects if the node does not answer. */
    readKeyMoney(wallet: string, keyId: string): Promise<KeyMoney>;
  };
}

const atLeast0 = (amount: bigint) => greatest(amount, 0n);
const toNumber = (lamports: bigint) => Number(least(lamports, BigInt(Number.MAX_SAFE_INTEGER)));

/** Throws ApiError 401 if the key ended meanwhile, 503 if the node does not answer. */
export async function readOwnKey(deps: OwnKeyDeps, { wallet, keyId, keyHash }: Principal): Promise<OwnKey> {
  const [row, money] = await Promise.all([
    deps.findKey(keyHash),
    deps.accounts.readKeyMoney(wallet, keyId).catch(chainUnreadable),
  ]);
  const { grant, now, balance, allowance } = money;
  if (!row || !grant || grant.revoked || grant.expiresAt <= now) {
    throw new ApiError('unauthorized', INVALID_KEY);
  }
  const inPeriod = atLeast0(periodLeft(grant, now));
  const inTotal = atLeast0(grant.totalMax - grant.totalSpent);
  return {
    key_id: keyId,
    name: row.name,
    wallet,
    environment: deps.config.environment,
    expires_at: earlier(grant.expiresAt * 1_000n, row.expires_ms),
    scopes: row.scopes.split(' ') as KeyScope[],
    allowed_ips: row.allowed_ips?.split(',') ?? null,
    allowed_agents: row.allowed_agents?.split(',') ?? null,
    execution_count: Number(grant.executionCount),
    payable_usdc: toUsdc(least(grant.perExecutionMax, inPeriod, inTotal, balance, allowance)),
    per_execution_max_usdc: toUsdc(grant.perExecutionMax),
    period_max_usdc: toUsdc(grant.periodMax),
    period_spent_usdc: toUsdc(isNewPeriod(grant, now) ? 0n : grant.periodSpent),
    period_remaining_usdc: toUsdc(inPeriod),
    period_seconds: grant.periodSeconds,
    renews_at: toTime(periodEnd(grant, now)),
    total_max_usdc: toUsdc(grant.totalMax),
    total_spent_usdc: toUsdc(grant.totalSpent),
    total_remaining_usdc: toUsdc(inTotal),
    balance_usdc: toUsdc(balance),
    allowance_usdc: toUsdc(allowance),
    allowance_covers_total: allowance >= inTotal,
    gas: { ...gasOf(wallet, money, grant), is_sponsored: deps.config.sponsorsAll },
  };
}

/** The gas balance, and if it can pay for a call. */
function gasOf(
  wallet: string,
  { gasBalance, leastGasBalance, fees, escrowRent }: KeyMoney,
  grant: NonNullable<KeyMoney['grant']>,
): Omit<OwnKey['gas'], 'is_sponsored'> {
  const left = gasBalance - fees - escrowRent;
  return {
    gas_balance_address: findSpender(parseAddress(wallet)).toBase58(),
    lamports: toNumber(gasBalance),
    next_call_lamports: toNumber(fees),
    max_gas_lamports: grant.maxGasLamports,
    // A gas balance must end empty or rent-exempt.
    pays_next_call: (left === 0n || left >= leastGasBalance) && fees <= BigInt(grant.maxGasLamports),
  };
}
