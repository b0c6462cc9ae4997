/**
 * Computes priority fees: a compute-unit limit as small as possible, and a price. The price follows the current market,
 * between a floor and a cap, and never exceeds the amount collected for it.
 *
 * The price is read in the background, and the units of opens and settles are measured once by simulation. No paid call
 * therefore waits for either.
 *
 * The limit is always set, because leaders prefer small requests. If others pay no priority fee and there is no floor,
 * the relay pays none either.
 *
 * While transactions do not land, the price of all later ones rises. An open is never signed again for a higher price:
 * no more was collected, and its bytes expire anyway.
 */

import {
  ComputeBudgetProgram,
  type Connection,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Logger } from 'pino';
import { idl, PROGRAM_ID } from '../../sdk/program/program.ts';
import { greatest, least } from '../../sdk/wire/amounts.ts';
import { runEvery } from '../waiting.ts';
import { LAMPORTS_PER_SIGNATURE } from './networkFee.ts';
import { type Budget, MOST_UNITS } from './versionOne.ts';

const REFRESH_MS = 10_000;
/** Used if a simulation returns no number; several times what any of our transactions uses. */
const UNMEASURED_UNITS = 400_000;
const SPARE_UNITS = 20_000;
/**
 * An open finds two addresses by trial; each failed bump costs 1,500 units. After a measurement without failed bumps,
 * this reserve pays for 29 of them. One execution in 100 million needs more.
 */
const SPARE_UNITS_TO_OPEN = 40_000;
const MEASURE_AGAIN_AFTER = 200;
/**
 * Maximum doublings of the price while transactions are late, and the least time between two changes. All of them fit
 * into the 30 s for which a transaction is valid.
 */
const MAX_PRESSURE = 6;
const PRESSURE_MS = 2_500;
/** Base of a raised price if the market asks for nothing, micro-lamports per unit. */
const MIN_RAISED_PRICE = 1_000n;
const MICROLAMPORTS = 1_000_000n;
const DISCRIMINATOR_BYTES = 8;

/** Cost of a call's two transactions beyond their signatures at the current price, lamports. */
export interface PriorityQuote {
  open: bigint;
  settle: bigint;
}

/**
 * A call's share of the transaction that archives its record, lamports. Up to 48 records share a fee of 5,000; this pays
 * if eight do.
 */
export const ARCHIVE_SHARE = 700n;

/**
 * A call's network fees at these prices, lamports: `fee` of the open, `gas` of the end with its share of the archive.
 */
export const costOf = ({ open, settle }: PriorityQuote) => ({
  fee: LAMPORTS_PER_SIGNATURE + open,
  gas: LAMPORTS_PER_SIGNATURE + settle + ARCHIVE_SHARE,
});

/** Gas that the end of a call needs with this share of a transaction, lamports. */
export const gasOfShare = (share: bigint): bigint => share + ARCHIVE_SHARE;

export type Fees = ReturnType<typeof createFees>;

function kindOf(programId: PublicKey, data: Uint8Array): string {
  return `${programId.toBase58()}:${Buffer.from(data.subarray(0, DISCRIMINATOR_BYTES)).toString('hex')}`;
}

function kindOfOurs(name: string): string {
  const instruction = idl.instructions.find((candidate) => candidate.name === name);
  return kindOf(PROGRAM_ID, Uint8Array.from(instruction!.discriminator));
}

const OPEN = kindOfOurs('open_execution_with_grant');
const SETTLE = kindOfOurs('settle_execution');
/**
 * Kinds that are measured once for many transactions, because their units hardly vary. Those of a refund do: its caller
 * may have closed the grant, and the program then searches two addresses, which a caller can choose to take long.
 */
const UNIFORM = new Set([OPEN, SETTLE]);

/** The price that others pay now, micro-lamports per compute unit. */
export type PriceSource = () => Promise<bigint>;

/** The price that sufficed in three of four recent slots for a transaction that writes these accounts. */
export function recentPrice(connection: Connection, writable: PublicKey[]): PriceSource {
  return async () => {
    const recent = await connection.getRecentPrioritizationFees({ lockedWritableAccounts: writable });
    const prices = recent.map((slot) => slot.prioritizationFee).sort((a, b) => a - b);
    return BigInt(prices[Math.floor(prices.length * 0.75)] ?? 0);
  };
}

interface FeesOptions {
  connection: Connection;
  payer: PublicKey;
  source: PriceSource;
  /** Minimum price, micro-lamports per unit, whatever the source says. */
  minPrice: bigint;
  /** Maximum per transaction beyond its signatures, lamports. 0: no price is ever set. */
  maxLamports: bigint;
  /** Milliseconds. */
  now?: () => number;
  log: Logger;
}

export function createFees(options: FeesOptions) {
  const { minPrice, maxLamports, log, now = () => performance.now() } = options;
  let market = 0n;
  // Doublings of the price, and the time of the last change.
  let pressure = 0;
  let pressedAt = Number.NEGATIVE_INFINITY;
  let stop: (() => Promise<void>) | undefined;
  const units = createUnits(options);

  /** Reads the current price; throws if it cannot. */
  async function refresh(): Promise<void> {
    market = await options.source();
  }

  /** The price of the next transaction at its first attempt, micro-lamports per unit. */
  function price(): bigint {
    const usual = greatest(market, minPrice);
    return pressure === 0 ? usual : greatest(usual, MIN_RAISED_PRICE) << BigInt(pressure);
  }

  function press(change: 1 | -1): void {
    const next = Math.min(MAX_PRESSURE, Math.max(0, pressure + change));
    if (next === pressure || now() - pressedAt < PRESSURE_MS) return;
    pressure = next;
    pressedAt = now();
    if (change > 0) log.warn({ price: String(price()) }, 'transactions do not land in time; doubling the priority fee');
  }

  /** Rounded up like the runtime does. */
  const lamportsFor = (limit: number): bigint => (price() * BigInt(limit) + MICROLAMPORTS - 1n) / MICROLAMPORTS;
  const quoteOf = (kind: string): bigint => least(lamportsFor(units.knownLimit(kind)), maxLamports);

  return {
    /**
     * The instructions to put in front of these. `attempt` counts earlier transactions for the same purpose that are
     * dead. Each doubles the price, up to the cap and to `mostLamports`.
     */
    async instructionsFor(
      instructions: TransactionInstruction[],
      attempt: number,
      mostLamports: bigint,
    ): Promise<TransactionInstruction[]> {
      // Earlier bytes may also be dead because their unit limit was too low.
      const limit = Math.min(MOST_UNITS, (await units.limitFor(instructions)) * (attempt + 1));
      const setLimit = ComputeBudgetProgram.setComputeUnitLimit({ units: limit });
      const cap = least(mostLamports, maxLamports);
      const wanted = attempt === 0 ? price() : greatest(price(), MIN_RAISED_PRICE) << BigInt(attempt);
      const microLamports = cap <= 0n ? 0n : least(wanted, (cap * MICROLAMPORTS) / BigInt(limit));
      return microLamports === 0n
        ? [setLimit]
        : [setLimit, ComputeBudgetProgram.setComputeUnitPrice({ microLamports })];
    },
    /**
     * The budget of a transaction of version 1 with `count` instructions that use so many units, at the first attempt.
     * `mostLamports` is the maximum priority fee of the whole; the cap counts for each instruction.
     */
    budgetOf(used: number, count: number, mostLamports: bigint): Budget {
      const limit = Math.min(MOST_UNITS, withSpare(used, count * SPARE_UNITS));
      const cap = least(mostLamports, maxLamports * BigInt(count));
      return { units: limit, priority: greatest(0n, least(lamportsFor(limit), cap)) };
    },
    /** The cost by `instructionsFor` at the first attempt, if only the cap limits it. */
    quote: (): PriorityQuote => ({ open: quoteOf(OPEN), settle: quoteOf(SETTLE) }),
    refresh,
    /** Called when transactions land late or in time. */
    pace: { late: () => press(1), inTime: () => press(-1) },
    /** Refreshes regularly from now on, until `end`. */
    start(): void {
      stop = runEvery(REFRESH_MS, refresh, (error) => log.warn({ error }, 'cannot read the priority fee'), 0);
    },
    end: () => void stop?.(),
  };
}

/** Compute units of transactions, measured by the node's simulation. */
function createUnits({ connection, payer, log }: Pick<FeesOptions, 'connection' | 'payer' | 'log'>) {
  /** By uniform kind: the highest use, and the number of uses since the measurement. */
  const units = new Map<string, { most: number; uses: number }>();

  /** Undefined if it cannot be measured. */
  async function measure(instructions: TransactionInstruction[]): Promise<number | undefined> {
    const message = new TransactionMessage({
      payerKey: payer,
      // Any value works: the node replaces it with a recent blockhash.
      recentBlockhash: payer.toBase58(),
      instructions: [ComputeBudgetProgram.setComputeUnitLimit({ units: MOST_UNITS }), ...instructions],
    }).compileToLegacyMessage();
    // The open of a deposit follows a payment that is not final yet.
    const config = { sigVerify: false, replaceRecentBlockhash: true, commitment: 'processed' } as const;
    try {
      const { value } = await connection.simulateTransaction(new VersionedTransaction(message), config);
      return value.err ? undefined : value.unitsConsumed || undefined;
    } catch (error) {
      log.warn({ error }, 'cannot measure compute units');
      return undefined;
    }
  }

  async function measureKind(kind: string, instructions: TransactionInstruction[]): Promise<void> {
    const used = await measure(instructions);
    if (used !== undefined) units.set(kind, { most: Math.max(units.get(kind)?.most ?? 0, used), uses: 0 });
  }

  async function limitFor(instructions: TransactionInstruction[]): Promise<number> {
    const kind = instructions.map(({ programId, data }) => kindOf(programId, data)).join();
    // Several of one kind may be measured at a time, so the value is not shared.
    if (!UNIFORM.has(kind)) return limitOf(kind, (await measure(instructions)) ?? MOST_UNITS);
    const known = units.get(kind);
    if (!known) await measureKind(kind, instructions);
    else if (++known.uses === MEASURE_AGAIN_AFTER) void measureKind(kind, instructions);
    return knownLimit(kind);
  }

  /** The limit of a uniform kind. */
  function knownLimit(kind: string): number {
    const measured = units.get(kind)?.most;
    return measured === undefined ? UNMEASURED_UNITS : limitOf(kind, measured);
  }

  return { limitFor, knownLimit };
}

function limitOf(kind: string, measured: number): number {
  return Math.min(MOST_UNITS, withSpare(measured, kind === OPEN ? SPARE_UNITS_TO_OPEN : SPARE_UNITS));
}

const withSpare = (measured: number, spare: number): number => Math.ceil(measured * 1.2) + spare;
