/**
 * Features of Solana's runtime that the program needs, and a check for those that a cluster lacks. Devnet,
 * testnet and mainnet have all of them; a private validator may lack some.
 */
import { type Connection, PublicKey } from '@solana/web3.js';

interface Feature {
  /** Address of its account on every cluster. */
  key: string;
  name: string;
  /** Why the program needs it. */
  reason: string;
}

/** Features that the committed program needs. */
export const NEEDED_FEATURES: readonly Feature[] = [
  {
    key: '5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC',
    name: 'SBPF v3',
    reason: 'the program is compiled to this version of the bytecode',
  },
  {
    key: '7rcw5UtqgDTBBv2EcynNfYckgdAaH1MAsCjKgXMkN7Ri',
    name: 'the curve25519 syscalls',
    reason: 'the program verifies signatures with them',
  },
];

const OWNER = new PublicKey('Feature111111111111111111111111111111111111');

/** The inactive ones among these features, in order. An active feature has an account with its activation slot. */
export async function inactiveFeatures(connection: Connection, features: readonly Feature[]): Promise<Feature[]> {
  const keys = features.map(({ key }) => new PublicKey(key));
  const accounts = await connection.getMultipleAccountsInfo(keys);
  // The account holds an optional slot; its first byte is 1 if the slot is present.
  return features.filter((_, at) => !(accounts[at]?.owner.equals(OWNER) && accounts[at].data[0] === 1));
}

/** The message for an operator whose cluster lacks these features. */
export function describeInactive(features: readonly Feature[]): string {
  const lines = features.map(({ key, name, reason }) => `  ${name} (feature ${key}): ${reason}`);
  return [
    'This cluster has not activated features that the program needs:',
    ...lines,
    'Devnet, testnet and mainnet have them. A local validator must be Agave 4.3 or later, started without --deactivate-feature for them.',
  ].join('\n');
}

/** Throws if the cluster lacks a feature that the program needs. */
export async function requireFeatures(connection: Connection): Promise<void> {
  const inactive = await inactiveFeatures(connection, NEEDED_FEATURES);
  if (inactive.length > 0) throw new Error(describeInactive(inactive));
}
