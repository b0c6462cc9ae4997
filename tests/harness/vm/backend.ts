/** What a VM must do for us, and what both of them begin with; the rest is built on top (vm.ts). */
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

/** What a VM says of a transaction. */
export interface RawOutcome {
  failure: RawFailure | null;
  logs: string[];
  /** In the order in which they ran; bankrun does not tell them. */
  calls: RawCall[];
  computeUnits: number;
}

/** One VM with its chain. */
export interface Backend {
  /** Signatures that were used; the runtime takes each once. */
  readonly sent: Set<string>;
  blockhash(): Promise<string>;
  nextBlockhash(): Promise<void>;
  /** `bytes`: the transaction's own. */
  run(transaction: VersionedTransaction, bytes: Uint8Array): Promise<RawOutcome>;
  /** The same without effect. */
  simulate(transaction: VersionedTransaction, bytes: Uint8Array): Promise<RawOutcome>;
  getAccount(address: PublicKey): Promise<RawAccount | null>;
  setAccount(address: PublicKey, account: RawAccount): void;
  setTime(unixSeconds: bigint): Promise<void>;
  /** What a byte's life costs from now on; accounts keep what they hold. */
  setRent(lamportsPerByte: bigint): void;
}

/** Lamports a byte that Solana began with. */
export const DEFAULT_RENT = 6_960n;

export const NO_ACCOUNT: RawAccount = { lamports: 0n, owner: SystemProgram.programId, data: new Uint8Array() };

/** These programs, upgradeable by the harness. */
export function deployment(programs: readonly [PublicKey, string][]) {
  const authority = namedKeypair('upgrade authority').publicKey;
  return programs.flatMap(([programId, path]) => programAccounts(programId, readProgram(path), authority));
}

const addresses = new WeakMap<PublicKey, string>();

/** An address as text; base58 takes long enough to be worth keeping. */
export function addressOf(key: PublicKey): string {
  const kept = addresses.get(key) ?? key.toBase58();
  addresses.set(key, kept);
  return kept;
}
