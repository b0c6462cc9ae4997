/** Derives an account's address from the seeds in the IDL alone, as a client does. */
import anchor from '@coral-xyz/anchor';
import { PublicKey } from '@solana/web3.js';
import idlJson from '../../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { coder } from '../../harness/vm/anchorCoder.ts';
import { accountNames, type Scene, type Target } from './targets.ts';

interface Seed {
  kind: 'const' | 'arg' | 'account';
  value?: number[];
  /** An argument or an account, or one of its fields. */
  path?: string;
  /** The account's type, if the path names a field. */
  account?: string;
}

/** The address derived from the other accounts and the arguments of my instruction; null without seeds. */
export function derivedAddress(scene: Scene, target: Target): PublicKey | null {
  const { accounts } = idlJson.instructions.find(({ name }) => name === target.instruction)!;
  const { pda } = accounts[target.index] as { pda?: { seeds: Seed[]; program?: Seed } };
  if (!pda) return null;
  const value = (seed: Seed) => bytesOf(scene, target, seed);
  const owner = pda.program ? new PublicKey(value(pda.program)) : new PublicKey(idlJson.address);
  return PublicKey.findProgramAddressSync(pda.seeds.map(value), owner)[0];
}

function bytesOf(
  { mine, baseline }: Scene,
  target: Target,
  { value, path = '', account: type, kind }: Seed,
): Uint8Array {
  if (value) return Uint8Array.from(value);
  const { data, keys } = mine.at(-1)!;
  const [first, ...fields] = path.split('.');
  if (kind === 'arg') {
    const found = fieldOf(coder.instruction.decode(data)!.data, [first!, ...fields]);
    return encoded(found, fields.at(-1) === 'leaf_index' ? 4 : 2);
  }
  const { pubkey } = keys[accountNames(target).indexOf(first!)]!;
  if (!type) return pubkey.toBytes();
  return encoded(fieldOf(coder.accounts.decode(type, Buffer.from(baseline.get(pubkey)!.data)), fields));
}

function fieldOf(value: unknown, path: string[]): unknown {
  return path.reduce((found, field) => (found as Record<string, unknown>)[field], value);
}

/** Encodes a key, bytes, or a numeric seed: an archive's index (u16), a leaf's (u32) and a change's id (u64). */
function encoded(value: unknown, width = 2): Uint8Array {
  if (value instanceof PublicKey) return value.toBytes();
  if (typeof value === 'number') return Uint8Array.from({ length: width }, (_, at) => (value >> (8 * at)) & 0xff);
  if (anchor.BN.isBN(value)) return (value as anchor.BN).toArrayLike(Buffer, 'le', 8);
  return Uint8Array.from(value as number[]);
}
