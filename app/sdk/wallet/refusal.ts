/** What the person did wrong, or what stands in the way, in words that say what to do about it. */

/**
 * By what a program tells refusals apart: to add what only it can know, or to react. A refusal of the program on-chain
 * has the name of its error instead, such as `PriceAboveMax`.
 *
 * - `funds_missing`: the wallet has too little SOL or USDC; `wallet` and `rpcUrl` say whose and where.
 * - `delegate_taken`: the wallet's USDC account has another delegate; `replaceDelegate` takes its place.
 * - `service_unreachable`: nothing answers at the marketplace's address.
 * - `node_unknown`: the marketplace was to name a Solana node and did not; `rpcUrl` can name one.
 * - `not_signed`: the signer refused, or answered with something that is no signature. Nothing was sent.
 * - `outcome_unknown`: a transaction was sent and nobody says what became of it.
 */
export type RefusalCode =
  | 'funds_missing'
  | 'delegate_taken'
  | 'service_unreachable'
  | 'node_unknown'
  | 'not_signed'
  | 'outcome_unknown'
  | (string & {});

export interface RefusalOptions extends ErrorOptions {
  code?: RefusalCode;
  /** Base58. */
  wallet?: string;
  rpcUrl?: string;
}

/** An error that its message explains to a person; any other error is a fault of this library or of its caller. */
export class Refusal extends Error {
  override name = 'Refusal';
  /** Null where the message says all there is to say. */
  readonly code: RefusalCode | null;
  readonly wallet: string | null;
  readonly rpcUrl: string | null;

  constructor(message: string, { code, wallet, rpcUrl, ...options }: RefusalOptions = {}) {
    super(message, options);
    this.code = code ?? null;
    this.wallet = wallet ?? null;
    this.rpcUrl = rpcUrl ?? null;
  }
}

/** A transaction was sent and nobody says what became of it: it may have been carried out. */
export class UnknownOutcome extends Refusal {
  override name = 'UnknownOutcome';

  constructor(
    /** Of the transaction, base58. */
    readonly signature: string,
    options?: ErrorOptions,
  ) {
    super(
      `The outcome is unknown: the transaction ${signature} was sent, and the node has not said since what became of ` +
        'it. It may have been carried out. Look the signature up before you try again.',
      { ...options, code: 'outcome_unknown' },
    );
  }
}

/** web3.js puts the reason of a failed request into the text of an error of its own; this takes it out again. */
export function refusalIn(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  const reason = /No Solana node answers at \S+\.$/.exec(error instanceof Error ? error.message : '');
  return reason && new Refusal(reason[0], { cause: error });
}
