// What a person did wrong, or what stands in the way, in words that say what to do about it.

/** Ends a command with exit code 1 and its message alone; any other error is a fault of ours and shows its stack. */
export class Refusal extends Error {
  override name = 'Refusal';
}

/** A transaction was sent and nobody says what became of it. Ends a command with an exit code of its own. */
export class UnknownOutcome extends Refusal {
  override name = 'UnknownOutcome';

  constructor(
    readonly signature: string,
    options?: ErrorOptions,
  ) {
    super(
      `The outcome is unknown: the transaction ${signature} was sent, and the node has not said since what became of ` +
        'it. It may have been carried out. Look the signature up before you try again.',
      options,
    );
  }
}

/** web3.js puts the reason of a failed request into the text of an error of its own; this takes it out again. */
export function refusalIn(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  const reason = /No Solana node answers at \S+\.$/.exec(error instanceof Error ? error.message : '');
  return reason && new Refusal(reason[0], { cause: error });
}
