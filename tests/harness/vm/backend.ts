/** The interface that each VM implements, and their common initial state. vm.ts builds on it. */
import { type PublicKey, SystemProgram, type VersionedTransaction } from '@solana/web3.js';
import { programAccounts, readProgram } from './deployment.ts';
import { namedKeypair } from './keys.ts';
import type { RawCall, RawFailure } from './outcome.ts';

export interface RawAccount {
  lamports: bigint;
  owner: PublicKey;
  data: Uint8Array;
  executable?: boolean;
}

/** Outcome of a transaction as a VM reports it. */
export interface RawOutcome {
  failure: RawFailure | null;
  logs: string[];
  /** In the order in which they ran. Empty in bankrun, which does not report them. */
  calls: RawCall[];
  computeUnits: number;
}

/** One VM with its chain. */
export interface Backend {
  /** Signatures already used. The runtime accepts each once. */
  readonly sent: Set<string>;
  /** Addresses that a transaction named or a test wrote since the chain was created. */
  readonly touched: Map<string, PublicKey>;
  /** The programs of every chain. */
  readonly programs: ReturnType<typeof deployment>;
  blockhash(): Promise<string>;
  nextBlockhash(): Promise<void>;
  /** `bytes` is the serialized transaction. */
  run(transaction: VersionedTransaction, bytes: Uint8Array): Promise<RawOutcome>;
  /** Runs the transaction without changing the chain. */
  simulate(transaction: VersionedTransaction, bytes: Uint8Array): Promise<RawOutcome>;
  getAccount(address: PublicKey): Promise<RawAccount | null>;
  setAccount(address: PublicKey, account: RawAccount): void;
  setTime(unixSeconds: bigint): Promise<void>;
  /** Sets the rent per byte from now on. Accounts keep their lamports. */
  setRent(lamportsPerByte: bigint): void;
}

/** Solana's original rent, lamports per byte. */
export const DEFAULT_RENT = 6_960n;

export const NO_ACCOUNT: RawAccount = { lamports: 0n, owner: SystemProgram.programId, data: new Uint8Array() };

/** The accounts of these programs, upgradeable by the harness. */
export function deployment(programs: readonly [PublicKey, string][]) {
  const authority = namedKeypair('upgrade authority').publicKey;
  return programs.flatMap(([programId, path]) => programAccounts(programId, readProgram(path), authority));
}

const addresses = new WeakMap<PublicKey, string>();

/** An address as text, cached because base58 is slow. */
export function addressOf(key: PublicKey): string {
  const kept = addresses.get(key) ?? key.toBase58();
  addresses.set(key, kept);
  return kept;
}
