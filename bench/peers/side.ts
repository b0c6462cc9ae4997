/** The two sides of the comparison; each runs on a node of its own that starts the same way. */

/** The one network id of x402's that a local node can go by; the node's own address is given beside it. */
export const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

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

/** Gains and losses of everybody in one case. */
export interface Loss {
  name: string;
  /** The status that the client got. */
  client: string;
  /** How often the work was done. */
  ran: number;
  /** Units of USDC. */
  payer: number;
  creator: number;
  /** Network fees, of whoever pays them. */
  lamports: number;
}

/** Runs a case and compares what everybody has before and after it. */
export async function lossOf(
  name: string,
  look: () => Promise<Omit<Loss, 'name' | 'client'>>,
  run: () => Promise<string>,
): Promise<Loss> {
  const before = await look();
  const client = await run();
  const after = await look();
  return {
    name,
    client,
    ran: after.ran - before.ran,
    payer: after.payer - before.payer,
    creator: after.creator - before.creator,
    lamports: after.lamports - before.lamports,
  };
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
