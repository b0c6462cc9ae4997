// What one wallet may cost the fee payer. Rent comes back and paid use pays; what is lost are the network fees of
// executions that end without pay, so only those are bounded, and how many escrows a wallet may have open at once.

import { ApiError } from '../errors.ts';
import type { Journal } from '../journal.ts';

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

/** Throws ApiError 503 where the wallet has reached a limit. Failures of the marketplace itself do not count. */
export async function requireHarmless(
  journal: Pick<Journal, 'burdenOf'>,
  limits: WalletLimits,
  wallet: string,
  nowMs: number,
): Promise<void> {
  if (limits.lostLamportsPerDay === 0 && limits.openExecutions === 0) return;
  const { open, lost } = await journal.burdenOf(wallet, nowMs - DAY_MS);
  if (limits.openExecutions > 0 && open >= limits.openExecutions) {
    const message = `The wallet has ${open} executions open, and may have ${limits.openExecutions} at once`;
    throw new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_OPEN_SECONDS });
  }
  if (limits.lostLamportsPerDay > 0 && lost >= BigInt(limits.lostLamportsPerDay)) {
    const message = `The wallet's failed executions have cost the marketplace ${lost} lamports in network fees within a day`;
    throw new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_LOST_SECONDS });
  }
}
