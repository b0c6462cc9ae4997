/** The plan of a step: instructions for the chain, and the rule that predicts their outcome in the model. */
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { createNonce } from '../../../../app/sdk/receipt/receipt.ts';
import { relayed } from '../../../harness/vm/caller.ts';
import { PDA_CALLER, SPONSOR } from '../cast.ts';
import type { Draw } from '../draw.ts';
import type { Leaf } from '../leaves.ts';
import { type Ledger, text } from '../ledger.ts';

/** A transaction with one instruction of the program, or with two. */
export interface Plan {
  /** The names of its instructions in camelCase. */
  names: string[];
  instructions: TransactionInstruction[];
  /** Changes the ledger as the program must change the chain, or throws the program's error. */
  rule: (ledger: Ledger) => void;
  /** The events of a success: one of each instruction. */
  events: string[];
}

/** A change outside the program: time, the mint's freeze authority, or what people do with their accounts. */
export interface Happening {
  name: string;
  happen: (ledger: Ledger) => void;
}

/** What a sequence has used so far. */
export interface Scene {
  ledger: Ledger;
  /** Nonces of all attempted opens. */
  nonces: Uint8Array[];
  /** The leaves of the archive in their order. */
  leaves: readonly Leaf[];
}

/** Turns a step's numbers into an action; null if there is nothing of this kind to do. */
export type Planner = (scene: Scene, draw: Draw) => Plan | Happening | null;

/** The plan of an instruction by its builder. */
export function plan<Input, Rest extends unknown[]>(
  event: string,
  build: (input: Input) => TransactionInstruction,
  input: Input,
  rule: (ledger: Ledger, input: Input, ...rest: Rest) => void,
  ...rest: Rest
): Plan {
  return planOf(build.name, event, build(input), (ledger) => rule(ledger, input, ...rest));
}

export function planOf(
  name: string,
  event: string,
  instruction: TransactionInstruction,
  rule: (ledger: Ledger) => void,
): Plan {
  const byPda = instruction.keys.some(({ pubkey, isSigner }) => isSigner && pubkey.equals(PDA_CALLER));
  return { names: [name], instructions: [byPda ? relayed(instruction) : instruction], rule, events: [event] };
}

/** Payer of rent: the party itself if it can, else the sponsor. */
export function somePayer(ledger: Ledger, draw: Draw, party: PublicKey): PublicKey {
  const able = !party.equals(PDA_CALLER) && ledger.get(text(party)).lamports >= ENOUGH_LAMPORTS;
  return draw.of(able ? [party, SPONSOR] : [SPONSOR]);
}

/** More than any step requires of a payer. The largest bond is one SOL. */
const ENOUGH_LAMPORTS = 2_000_000_000n;

/** Waits for the first of these times that is ahead; null if none is. */
export function until(ledger: Ledger, moments: bigint[]): Happening | null {
  const [next] = moments.filter((moment) => moment > ledger.now).sort((left, right) => (left < right ? -1 : 1));
  if (next === undefined) return null;
  return {
    name: 'wait',
    happen: (target) => {
      target.now = next;
    },
  };
}

export const ZERO_KEY = PublicKey.default;
/** `length` bytes that encode a number. */
export function bytesOf(value: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32LE(value);
  return Uint8Array.from(bytes);
}

/** The next unused nonce of the present half-hour, or of one some half-hours ago. */
export function newNonce({ ledger, nonces }: Scene, ago = 0): Uint8Array {
  return createNonce(Number(ledger.now / 1_800n) - ago, bytesOf(nonces.length + 1, 12));
}

/** Decodes hex as used in the ledger. */
export const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
