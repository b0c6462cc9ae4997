/** The common interface of the compared sides. Each runs on its own node, which starts in the same way. */

/** The x402 network id that stands for the local node. The node's address is configured separately. */
export const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

/** Price of a call on all sides, in USDC and in base units. */
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

/** Gains and losses of all parties in one case. */
export interface Loss {
  name: string;
  /** HTTP status, or several, that the client got. */
  client: string;
  /** Number of times the work was done. */
  ran: number;
  /** Base units of USDC. */
  payer: number;
  creator: number;
  /** Network fees, whichever party pays them. */
  lamports: number;
}

/** Runs a case and returns the differences of all balances. */
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
  /** Balance of the account that pays the network fees. */
  feePayerLamports(): Promise<number>;
  /** Network fees so far, lamports. */
  fees(): Promise<number>;
  stop(): Promise<void>;
}
