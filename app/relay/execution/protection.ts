/**
 * What one wallet may cost the fee payer. Rent comes back and paid use pays; what is lost are the network fees of
 * executions that end without pay, so only those are bounded, and how many escrows a wallet may have open at once.
 */
import { ApiError } from '../errors.ts';
import type { Journal } from '../ledger/journal.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** When a wallet that lost too much may ask again: what it lost leaves the day little by little. */
const RETRY_LOST_SECONDS = 900;
const RETRY_OPEN_SECONDS = 10;

/** 0 switches a limit off. */
export interface WalletLimits {
  /** Network fees of a wallet's failed executions in 24 hours. */
  lostLamportsPerDay: number;
  openExecutions: number;
}

/**
 * Throws ApiError 503 where the wallet's failed executions have cost as much as they may. Failures of the marketplace
 * itself do not count.
 */
export async function requireWithinWalletLimits(
  journal: Pick<Journal, 'lostFeesOf'>,
  limits: WalletLimits,
  wallet: string,
  nowMs: number,
): Promise<void> {
  if (limits.lostLamportsPerDay === 0) return;
  const lost = await journal.lostFeesOf(wallet, nowMs - DAY_MS);
  if (lost < BigInt(limits.lostLamportsPerDay)) return;
  const message = `The wallet's failed executions have cost the marketplace ${lost} lamports in network fees within a day`;
  throw new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_LOST_SECONDS });
}

/** The refusal of a wallet that has as many executions open as it may have: the statement that takes them counts. */
export function tooManyOpen(limit: number): ApiError {
  const message = `The wallet has ${limit} executions open, as many as it may have at once`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_OPEN_SECONDS });
}
