/** What either side of the comparison can do, each on a node of its own that starts the same way. */

/** Price of a call on both sides, USDC and its units. */
export const PRICE_USDC = '0.01';
export const PRICE = 10_000n;

export const CASES = {
  fails: 'the work fails',
  failsUpfront: 'the work fails, and was paid before',
  diesBefore: 'the middleman dies after the work, before it sends the payment',
  diesAfter: 'the middleman dies after it sent the payment; the client asks once more',
  twice: 'the same request twice at once',
  movesAway: 'the work takes 1.5 s; the payer moves its money away meanwhile',
} as const;

/** Who won or lost what by one case. */
export interface Loss {
  name: string;
  /** What the client was told. */
  client: string;
  /** How often the work was done. */
  ran: number;
  /** Units of USDC. */
  payer: number;
  creator: number;
  /** Network fees, of whoever pays them. */
  lamports: number;
}

export interface Side {
  /** One paid call. Throws unless it was served. */
  call(): Promise<void>;
  /** Balance of whoever pays the network fees. */
  feePayerLamports(): Promise<number>;
  /** Network fees so far, lamports. */
  fees(): Promise<number>;
  stop(): Promise<void>;
}
