/** solana-bankrun 0.4, which runs Solana 1.18 and does not verify Ed25519 instructions. */
import { PublicKey, type VersionedTransaction } from '@solana/web3.js';
import {
  Clock as BankClock,
  type BanksTransactionResultWithMeta,
  type ProgramTestContext,
  start,
} from 'solana-bankrun';
import { type Backend, deployment, type RawAccount } from './backend.ts';
import { bankrunBinary, PROGRAMS } from './deployment.ts';
import { readDisplayError } from './outcome.ts';

/**
 * The binaries for bankrun. It leaves no gaps between stack frames, because it activates direct account mapping
 * (EenyoWx9UMXYKpR8mW5Jmfmy2fRjzUtM7NduYMY8bx33). sbpf-linker relies on that.
 */
const bankrunPrograms = () => deployment(PROGRAMS.map(([id, path]) => [id, bankrunBinary(path)]));

export class BankBackend implements Backend {
  readonly sent = new Set<string>();
  readonly touched = new Map<string, PublicKey>();
  readonly programs = bankrunPrograms();

  private constructor(private readonly context: ProgramTestContext) {}

  static async create(): Promise<BankBackend> {
    // Stops the VM from printing log lines, which outcomes contain.
    process.env.RUST_LOG ??= 'off';
    const accounts = bankrunPrograms().map(({ address, account }) => ({ address, info: toAccountInfo(account) }));
    return new BankBackend(await start([], accounts));
  }

  async blockhash(): Promise<string> {
    // Blockhashes expire by the wall clock here, so the first one does not last for a whole test.
    const latest = await this.context.banksClient.getLatestBlockhash();
    return latest?.[0] ?? this.context.lastBlockhash;
  }

  async nextBlockhash(): Promise<void> {}

  async run(transaction: VersionedTransaction) {
    return this.toOutcome(await this.context.banksClient.tryProcessTransaction(transaction));
  }

  async simulate(transaction: VersionedTransaction) {
    return this.toOutcome(await this.context.banksClient.simulateTransaction(transaction));
  }

  private toOutcome({ result, meta }: BanksTransactionResultWithMeta) {
    return {
      failure: result === null ? null : readDisplayError(result),
      logs: meta?.logMessages ?? [],
      calls: [],
      computeUnits: Number(meta?.computeUnitsConsumed ?? 0n),
    };
  }

  async getAccount(account: PublicKey): Promise<RawAccount | null> {
    const found = await this.context.banksClient.getAccount(account);
    return found && { ...found, lamports: BigInt(found.lamports), owner: new PublicKey(found.owner) };
  }

  setAccount(account: PublicKey, value: RawAccount): void {
    this.context.setAccount(account, toAccountInfo(value));
  }

  async setTime(unixSeconds: bigint): Promise<void> {
    const { slot, epochStartTimestamp, epoch, leaderScheduleEpoch } = await this.context.banksClient.getClock();
    this.context.setClock(new BankClock(slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixSeconds));
  }

  setRent(): void {
    throw new Error('bankrun keeps the rent that it began with, whatever its sysvar says');
  }
}

function toAccountInfo(account: RawAccount) {
  const { lamports, owner, data, executable } = account;
  return { lamports: Number(lamports), owner, data, executable: executable ?? false, rentEpoch: 0 };
}
