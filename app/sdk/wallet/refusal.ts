/** Errors for the caller's mistakes and other obstacles, with messages that say what to do. */

/**
 * The code tells a program why an action was refused, so that it can add advice or react. A refusal by the on-chain
 * program has the name of its error instead, such as `PriceAboveMax`.
 *
 * - `funds_missing`: the wallet has too little SOL or USDC; `wallet` and `rpcUrl` say whose and where.
 * - `delegate_taken`: the wallet's USDC account has another delegate; `replaceDelegate` replaces it.
 * - `service_unreachable`: nothing answers at the marketplace's address.
 * - `node_unknown`: the marketplace should name a Solana node and did not; `rpcUrl` can name one.
 * - `not_signed`: the signer refused, or returned an invalid signature. Nothing was sent.
 * - `expired`: two transactions in a row expired before they landed. Nothing has changed.
 * - `outcome_unknown`: a transaction was sent, and its outcome is unknown.
 */
export type RefusalCode =
  | 'funds_missing'
  | 'delegate_taken'
  | 'service_unreachable'
  | 'node_unknown'
  | 'not_signed'
  | 'expired'
  | 'outcome_unknown'
  | (string & {});

export interface RefusalOptions extends ErrorOptions {
  code?: RefusalCode;
  /** Base58. */
  wallet?: string;
  rpcUrl?: string;
}

/** An error whose message explains the problem to a person. Other errors are faults of this library or its caller. */
export class Refusal extends Error {
  override name = 'Refusal';
  /** Null if the message is sufficient. */
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

/** A transaction was sent and its outcome is unknown: it may have been executed. */
export class UnknownOutcome extends Refusal {
  override name = 'UnknownOutcome';

  constructor(
    /** Signature of the transaction, base58. */
    readonly signature: string,
    options?: ErrorOptions,
  ) {
    super(
      `The outcome is unknown: the transaction ${signature} was sent, but the node does not report its outcome. ` +
        'It may have succeeded. Look up the signature before you try again.',
      { ...options, code: 'outcome_unknown' },
    );
  }
}

/** web3.js puts the reason of a failed request into the text of its own error; this extracts it. */
export function refusalIn(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  const reason = /No Solana node answers at \S+\.$/.exec(error instanceof Error ? error.message : '');
  return reason && new Refusal(reason[0], { cause: error });
}
