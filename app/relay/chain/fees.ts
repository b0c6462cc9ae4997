/**
 * What is paid to be taken first: a compute-unit limit as small as the transaction needs, and a price that others pay just
 * now, above a floor, below a cap, and never more than was collected for it. The price is read in the background, and the
 * units of each kind of transaction are measured once by simulation, so that no call waits for either. The limit is set
 * whatever the price: leaders prefer who asks for little. Where nobody pays and there is no floor, neither does the relay.
 *
 * While transactions do not land the price of all later ones rises. One that opens is never signed again for more: no more
 * was collected for it, and its bytes die when its time is over as well.
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

const REFRESH_MS = 10_000;
/** The most that one transaction may ask for. */
const MAX_UNITS = 1_400_000;
/** Where a simulation says nothing; several times what any of ours takes. */
const UNMEASURED_UNITS = 400_000;
const SPARE_UNITS = 20_000;
/**
 * An open finds two addresses by trial, 1,500 units for each bump that gives none. Measured at an execution that needs no
 * such trial, another has units for 29 of them; one of 100 million needs more.
 */
const SPARE_UNITS_TO_OPEN = 40_000;
const MEASURE_AGAIN_AFTER = 200;
/** How often the price of all is doubled at most while transactions are late, and how soon it is doubled or halved again. */
const MAX_PRESSURE = 6;
const PRESSURE_MS = 5_000;
/** What the price is raised from, micro-lamports per unit, where the market asks for nothing. */
const MIN_RAISED_PRICE = 1_000n;
const MICROLAMPORTS = 1_000_000n;
const DISCRIMINATOR_BYTES = 8;

/** What a call's two transactions pay beyond their signatures as the price stands, lamports. */
export interface PriorityQuote {
  open: bigint;
  settle: bigint;
}

export interface Fees {
  /**
   * What to put in front of these instructions. `attempt` counts the times that bytes for the same end were found dead
   * before: each doubles the price, up to the cap and to `mostLamports`.
   */
  instructionsFor(
    instructions: TransactionInstruction[],
    attempt: number,
    mostLamports: bigint,
  ): Promise<TransactionInstruction[]>;
  /** What `instructionsFor` asks for at the first attempt where nothing but the cap bounds it. */
  quote(): PriorityQuote;
  /** Reads the present price; throws where it cannot. */
  refresh(): Promise<void>;
  /** Is told how soon transactions land. */
  pace: { late(): void; inTime(): void };
  /** Refreshes regularly from now on, until `end`. */
  start(): void;
  end(): void;
}

const most = (one: bigint, other: bigint) => (one > other ? one : other);
const least = (one: bigint, other: bigint) => (one < other ? one : other);

function kindOf(programId: PublicKey, data: Uint8Array): string {
  return `${programId.toBase58()}:${Buffer.from(data.subarray(0, DISCRIMINATOR_BYTES)).toString('hex')}`;
}

function kindOfOurs(name: string): string {
  const instruction = idl.instructions.find((candidate) => candidate.name === name);
  return kindOf(PROGRAM_ID, Uint8Array.from(instruction!.discriminator));
}

const OPEN = kindOfOurs('open_execution_with_grant');
const SETTLE = kindOfOurs('settle_execution');
/** What is measured once for many: each of these takes about the same every time. */
const UNIFORM = new Set([OPEN, SETTLE, kindOfOurs('refund_execution')]);

/** What others pay just now, micro-lamports per compute unit. */
export type PriceSource = () => Promise<bigint>;

/** The price that three of four recent slots would have taken for a transaction that writes these accounts. */
export function recentPrice(connection: Connection, writable: PublicKey[]): PriceSource {
  return async () => {
    const recent = await connection.getRecentPrioritizationFees({ lockedWritableAccounts: writable });
    const prices = recent.map((slot) => slot.prioritizationFee).sort((a, b) => a - b);
    return BigInt(prices[Math.floor(prices.length * 0.75)] ?? 0);
  };
}

export function createFees(options: {
  connection: Connection;
  payer: PublicKey;
  source: PriceSource;
  /** Least price, micro-lamports per unit, whatever the source says. */
  minPrice: bigint;
  /** Most that one transaction may pay beyond its signatures, lamports; 0: no price is ever set. */
  maxLamports: bigint;
  /** Milliseconds. */
  now?: () => number;
  log: Logger;
}): Fees {
  const { connection, payer, minPrice, maxLamports, log, now = () => performance.now() } = options;
  let market = 0n;
  // How often the price of all is doubled, and when that was last changed.
  let pressure = 0;
  let pressedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** By kind of transaction: the most that one has taken, and how often it was used since it was measured. */
  const units = new Map<string, { most: number; uses: number }>();

  async function refresh(): Promise<void> {
    market = await options.source();
  }

  /** What the next transaction pays at its first attempt, micro-lamports per unit. */
  function price(): bigint {
    const usual = most(market, minPrice);
    return pressure === 0 ? usual : most(usual, MIN_RAISED_PRICE) << BigInt(pressure);
  }

  function press(change: 1 | -1): void {
    const next = Math.min(MAX_PRESSURE, Math.max(0, pressure + change));
    if (next === pressure || now() - pressedAt < PRESSURE_MS) return;
    pressure = next;
    pressedAt = now();
    if (change > 0)
      log.warn({ price: String(price()) }, 'transactions do not land in time; the price of priority is doubled');
  }

  async function measure(kind: string, instructions: TransactionInstruction[]): Promise<void> {
    const message = new TransactionMessage({
      payerKey: payer,
      // Any will do: the node puts a recent one in its place.
      recentBlockhash: payer.toBase58(),
      instructions: [ComputeBudgetProgram.setComputeUnitLimit({ units: MAX_UNITS }), ...instructions],
    }).compileToLegacyMessage();
    const config = { sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' } as const;
    const { value } = await connection.simulateTransaction(new VersionedTransaction(message), config);
    if (value.err || !value.unitsConsumed) return;
    const before = UNIFORM.has(kind) ? (units.get(kind)?.most ?? 0) : 0;
    units.set(kind, { most: Math.max(before, value.unitsConsumed), uses: 0 });
  }

  async function limitFor(instructions: TransactionInstruction[]): Promise<number> {
    const kind = instructions.map(({ programId, data }) => kindOf(programId, data)).join();
    const warn = (error: unknown) => log.warn({ error: String(error) }, 'compute units could not be measured');
    // A node that cannot be asked leaves nothing of another transaction behind.
    if (!UNIFORM.has(kind)) units.delete(kind);
    const known = units.get(kind);
    if (!known) await measure(kind, instructions).catch(warn);
    else if (++known.uses === MEASURE_AGAIN_AFTER) measure(kind, instructions).catch(warn);
    return knownLimit(kind);
  }

  function knownLimit(kind: string): number {
    const measured = units.get(kind)?.most;
    if (measured === undefined) return UNIFORM.has(kind) ? UNMEASURED_UNITS : MAX_UNITS;
    const spare = kind === OPEN ? SPARE_UNITS_TO_OPEN : SPARE_UNITS;
    return Math.min(MAX_UNITS, Math.ceil(measured * 1.2) + spare);
  }

  /** Lamports, rounded up as the runtime does it. */
  function quoteOf(kind: string): bigint {
    const lamports = (price() * BigInt(knownLimit(kind)) + MICROLAMPORTS - 1n) / MICROLAMPORTS;
    return least(lamports, maxLamports);
  }

  return {
    async instructionsFor(instructions, attempt, mostLamports) {
      // Bytes may also be dead because the units did not suffice.
      const limit = Math.min(MAX_UNITS, (await limitFor(instructions)) * (attempt + 1));
      const setLimit = ComputeBudgetProgram.setComputeUnitLimit({ units: limit });
      const cap = least(mostLamports, maxLamports);
      const wanted = attempt === 0 ? price() : most(price(), MIN_RAISED_PRICE) << BigInt(attempt);
      const microLamports = cap <= 0n ? 0n : least(wanted, (cap * MICROLAMPORTS) / BigInt(limit));
      return microLamports === 0n
        ? [setLimit]
        : [setLimit, ComputeBudgetProgram.setComputeUnitPrice({ microLamports })];
    },
    quote: () => ({ open: quoteOf(OPEN), settle: quoteOf(SETTLE) }),
    refresh,
    pace: { late: () => press(1), inTime: () => press(-1) },
    start() {
      const look = () => {
        refresh().catch((error) => log.warn({ error: String(error) }, 'the price of priority could not be read'));
      };
      look();
      timer = setInterval(look, REFRESH_MS);
      timer.unref();
    },
    end: () => clearInterval(timer),
  };
}
