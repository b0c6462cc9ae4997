// What a person did wrong, or what stands in the way, in words that say what to do about it.

/** Ends a command with exit code 1 and its message alone; any other error is a fault of ours and shows its stack. */
export class Refusal extends Error {
  override name = 'Refusal';
}
