/** What a step has decided to do: instructions for the chain, and the rule by which the model knows their outcome. */
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { createNonce } from '../../../../app/sdk/receipt/receipt.ts';
import { relayed } from '../../../harness/vm/caller.ts';
import { PDA_CALLER, SPONSOR } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { type Ledger, text } from '../ledger.ts';

/** A transaction with one instruction of the program. */
export interface Plan {
  /** The instruction. */
  name: string;
  instructions: TransactionInstruction[];
  /** Changes the ledger as the program must change the chain, or refuses with the program's error. */
  rule: (ledger: Ledger) => void;
  /** The one event of a success. */
  event: string;
}

/** Something that happens without the program: time, the mint's freeze authority, what people do with their accounts. */
export interface Happening {
  name: string;
  happen: (ledger: Ledger) => void;
}

/** What a sequence has used so far. */
export interface Scene {
  ledger: Ledger;
  /** Nonces of opens that were tried. */
  nonces: Uint8Array[];
}

/** Turns a step's numbers into something to do now; null where there is nothing of the kind to do. */
export type Planner = (scene: Scene, draw: Draw) => Plan | Happening | null;

export function plan(
  name: string,
  event: string,
  instruction: TransactionInstruction,
  rule: (ledger: Ledger) => void,
): Plan {
  const byPda = instruction.keys.some(({ pubkey, isSigner }) => isSigner && pubkey.equals(PDA_CALLER));
  return { name, instructions: [byPda ? relayed(instruction) : instruction], rule, event };
}

/** Who pays rent: the party itself where it can, or the sponsor. */
export function somePayer(ledger: Ledger, draw: Draw, party: PublicKey): PublicKey {
  const able = !party.equals(PDA_CALLER) && ledger.get(text(party)).lamports >= ENOUGH_LAMPORTS;
  return draw.of(able ? [party, SPONSOR] : [SPONSOR]);
}

/** More than any step asks of a payer; the largest bond is one SOL. */
const ENOUGH_LAMPORTS = 2_000_000_000n;

/** Waits for the first of these moments; null where none is ahead. */
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
/** `length` bytes that spell a number. */
export function bytesOf(value: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32LE(value);
  return Uint8Array.from(bytes);
}

/** The nonce of an open now that would be the first to have it; of today, or of so many days before. */
export function newNonce({ ledger, nonces }: Scene, daysAgo = 0): Uint8Array {
  return createNonce(Number(ledger.now / 86_400n) - daysAgo, bytesOf(nonces.length + 1, 12));
}

/** Bytes of a hex text, as the ledger keeps them. */
export const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
