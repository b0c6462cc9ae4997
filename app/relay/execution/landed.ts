/** Looks up which of the stored transactions of a row landed. */
import type { EngineDeps } from './deps.ts';

/** True if one of these transactions has landed and succeeded. */
export async function hasLanded(
  chain: Pick<EngineDeps['chain'], 'hasSucceeded'>,
  signatures: readonly string[],
): Promise<boolean> {
  const landed = await Promise.all(signatures.map((signature) => chain.hasSucceeded(signature)));
  return landed.includes(true);
}
