/** Settings of the keys that sign and pay, and of how much they may spend. */
import { Keypair } from '@solana/web3.js';
import { z } from 'zod';
import { loadSigningKey } from '../../sdk/creator/signingKey.ts';
import { constants } from '../../sdk/program/program.ts';
import { formatUsdc, isUsdc, parseUsdc } from '../../sdk/wire/usdc.ts';
import { serviceFeeAt } from '../calls/x402/serviceFee.ts';
import type { RevocationBudget } from '../ledger/revocations.ts';
import type { RunwayLimits } from '../operation/runway.ts';
import type { SweepSettings } from '../sweeper/sweeper.ts';
import { amount, whole } from './numbers.ts';

/** Base units. Without priority fees and at 100 USDC a SOL, 1.5 times the cost of an x402 call are 4,155. */
export const USUAL_SERVICE_FEE = { least: 5_000n, solPrice: 100_000_000n };
const SERVICE_FEE_RULE = `must be at most ${formatUsdc(constants.maxServiceFee)}, with up to 6 decimals`;

/** Time between two readings of the relay's SOL. A sensible balance does not run out within it. */
const RUNWAY_POLL_SECONDS = 30;

/** Network fees for revoking keys on-chain in 24 hours: those of twenty keys of a wallet, and of a thousand in total. */
const REVOKE_LAMPORTS_PER_DAY = { wallet: 100_000n, total: 5_000_000n } satisfies RevocationBudget;

/** Two hundred payments of x402 clients. */
const X402_MIN_LAMPORTS = 2_000_000;

export const fundsSettings = {
  RELAY_KEYPAIR: z.string().min(1).describe('keypair file of the relay authority, a JSON array of 64 bytes'),
  MIN_RUNWAY_HOURS: z.coerce
    .number()
    .min(0)
    .default(1)
    .describe(
      'new executions are refused if the SOL of the relay authority lasts for less than this at the present rate; 0: never',
    ),
  MIN_FEE_PAYER_LAMPORTS: whole(0)
    .default(50_000_000)
    .describe(
      'minimum balance of the relay authority, lamports; below it new executions are refused, because the rest must pay to settle and refund open ones',
    ),
  LENT_LAMPORTS: amount(2n ** 52n)
    .optional()
    .describe(
      'refundable deposits that you lend to calls at the same time, lamports; calls with keys and x402 clients get at most three quarters each (default, and never more: the balance of the relay authority less twice MIN_FEE_PAYER_LAMPORTS)',
    ),
  SPONSOR: z
    .enum(['none', 'all'])
    .default('none')
    .describe(
      'none: a call’s network fees come from its wallet’s gas balance. all: you pay all fees and deposits that a gas balance does not pay, within LENT_LAMPORTS; only for a local network, or if you want to give',
    ),
  ARCHIVE: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'on: ended records are archived and their refundable deposits returned; the relay authority pays for the trees, 0.56 SOL at 5,080 lamports a byte for a million records. off: no archiving',
    ),
  ARCHIVE_WAIT_SECONDS: whole(0)
    .default(600)
    .describe('maximum time that a record waits to be archived with others, because up to 48 share a fee'),
  X402_FEE_PAYER_KEYPAIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'keypair file of the fee payer of x402 payments, the same for all relays on a ledger and never a relay authority; without it x402 payments are refused',
    ),
  X402_SERVICE_FEE_USDC: z.coerce
    .number()
    .refine((value) => isUsdc(value) && parseUsdc(value) <= constants.maxServiceFee, SERVICE_FEE_RULE)
    .default(Number(formatUsdc(USUAL_SERVICE_FEE.least)))
    .describe(
      'lowest fee that an x402 client pays in addition to the price, USDC; it is raised to 1.5 times the network fees of such a call',
    ),
  X402_SOL_PRICE_USDC: z.coerce
    .number()
    .refine((value) => isUsdc(value) && value > 0, 'must be above 0, with up to 6 decimals')
    .default(Number(formatUsdc(USUAL_SERVICE_FEE.solPrice)))
    .describe('price of a SOL that the fee of x402 clients is computed with, USDC; better too high than too low'),
};

export function readFunds(env: z.output<z.ZodObject<typeof fundsSettings>>) {
  return {
    authority: readKeypair(env.RELAY_KEYPAIR),
    runway: {
      minHours: env.MIN_RUNWAY_HOURS,
      minLamports: env.MIN_FEE_PAYER_LAMPORTS,
      pollSeconds: RUNWAY_POLL_SECONDS,
    } satisfies RunwayLimits,
    /** Rent that may be lent at once, lamports; null for all that the balance allows. */
    lentLamports: env.LENT_LAMPORTS ?? null,
    /** The operator pays all that the gas balances do not. */
    sponsorsAll: env.SPONSOR === 'all',
    revocations: REVOKE_LAMPORTS_PER_DAY,
    archive: { isOn: env.ARCHIVE === 'on', waitSeconds: env.ARCHIVE_WAIT_SECONDS } satisfies SweepSettings,
    /** Null: payments of x402 clients are not accepted. The service fee follows from base units. */
    x402: env.X402_FEE_PAYER_KEYPAIR
      ? {
          feePayer: readKeypair(env.X402_FEE_PAYER_KEYPAIR),
          serviceFee: readServiceFee(env),
          minLamports: X402_MIN_LAMPORTS,
        }
      : null,
  };
}

/** Throws if the fee would be too high for the program even without priority fees: there would never be a quote. */
function readServiceFee(env: Record<'X402_SERVICE_FEE_USDC' | 'X402_SOL_PRICE_USDC', number>) {
  const fee = { least: parseUsdc(env.X402_SERVICE_FEE_USDC), solPrice: parseUsdc(env.X402_SOL_PRICE_USDC) };
  if (serviceFeeAt(fee, { open: 0n, settle: 0n }) !== null) return fee;
  const most = formatUsdc(constants.maxServiceFee);
  throw new Error(
    `X402_SOL_PRICE_USDC is too high: 1.5 times the network fees of a call would be more than ${most} USDC, the highest service fee`,
  );
}

/** A keypair file in solana-keygen's format. Throws with the path and the expected format, and shows no key. */
export function readKeypair(path: string): Keypair {
  try {
    // Comparing its halves again would take a tenth of a second.
    return Keypair.fromSecretKey(loadSigningKey(path), { skipValidation: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === undefined ? message : `${path} is not a keypair file (a JSON array of 64 bytes): ${message}`,
    );
  }
}
