/** The common interface of the compared sides. Each runs on its own node, which starts in the same way. */

/** The x402 network id that stands for the local node. The node's address is configured separately. */
export const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

/** Price of a call on all sides, in USDC and in base units. */
export const PRICE_USDC = '0.01';
export const PRICE = 10_000n;

export interface Side {
  /** One paid call. Throws unless it was served. */
  call(): Promise<void>;
  /** Network fees, and processor time of the processes between payer and creator, so far. */
  spent(): Promise<{ lamports: number; processorMs: number }>;
  /** Lamports that a served call keeps locked until its record is archived. */
  rent: number;
  stop(): Promise<void>;
}

/** Milliseconds of a `process.cpuUsage()`. */
export const processorMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;
