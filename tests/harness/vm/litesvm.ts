/**
 * LiteSVM, which runs Agave 4.3 and verifies Ed25519 instructions. Its inner class takes addresses as bytes. The outer
 * class takes text, and converting it took a third of a test run.
 */
import { PublicKey, type VersionedTransaction } from '@solana/web3.js';
import {
  FailedTransactionMetadata,
  Account as LiteAccount,
  Clock as LiteClock,
  Rent as LiteRent,
  LiteSvm,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js';
import { type Backend, deployment, type RawAccount } from './backend.ts';
import { LOADER, PROGRAMS, readProgram } from './deployment.ts';
import { readDebugError } from './outcome.ts';

export class LiteBackend implements Backend {
  readonly sent = new Set<string>();
  readonly touched = new Map<string, PublicKey>();
  readonly programs = deployment(PROGRAMS);
  private readonly svm = new LiteSvm();

  constructor() {
    for (const [programId, path] of PROGRAMS) {
      this.svm.addProgramWithLoader(programId.toBytes(), readProgram(path), LOADER.toBytes());
    }
    // LiteSVM's own ProgramData has no upgrade authority.
    for (const { address, account } of this.programs) if (!account.executable) this.setAccount(address, account);
  }

  async blockhash(): Promise<string> {
    return this.svm.latestBlockhash();
  }

  async nextBlockhash(): Promise<void> {
    this.svm.expireBlockhash();
  }

  async run({ message }: VersionedTransaction, bytes: Uint8Array) {
    const result =
      message.version === 'legacy' ? this.svm.sendLegacyTransaction(bytes) : this.svm.sendVersionedTransaction(bytes);
    return this.toOutcome(result, result instanceof FailedTransactionMetadata ? result.meta() : result, message);
  }

  async simulate({ message }: VersionedTransaction, bytes: Uint8Array) {
    const result =
      message.version === 'legacy'
        ? this.svm.simulateLegacyTransaction(bytes)
        : this.svm.simulateVersionedTransaction(bytes);
    return this.toOutcome(result, result.meta(), message);
  }

  private toOutcome(
    result: object,
    meta: TransactionMetadata,
    { staticAccountKeys: keys }: VersionedTransaction['message'],
  ) {
    return {
      failure: result instanceof FailedTransactionMetadata ? readDebugError(result.toString()) : null,
      logs: meta.logs(),
      calls: meta.innerInstructions().flatMap((calls) =>
        calls.map((call) => {
          const instruction = call.instruction();
          return { programId: keys[instruction.programIdIndex()]!, data: instruction.data() };
        }),
      ),
      computeUnits: Number(meta.computeUnitsConsumed()),
    };
  }

  async getAccount(account: PublicKey): Promise<RawAccount | null> {
    const found = this.svm.getAccount(account.toBytes());
    if (!found) return null;
    const owner = ownerOf(found.owner());
    return { lamports: found.lamports(), owner, data: new Uint8Array(found.data()), executable: found.executable() };
  }

  setAccount(account: PublicKey, { lamports, data, owner, executable = false }: RawAccount): void {
    this.svm.setAccount(account.toBytes(), new LiteAccount(lamports, data, owner.toBytes(), executable, 0n));
  }

  async setTime(unixSeconds: bigint): Promise<void> {
    const clock = this.svm.getClock();
    const { slot, epochStartTimestamp, epoch, leaderScheduleEpoch } = clock;
    this.svm.setClock(new LiteClock(slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixSeconds));
  }

  setRent(lamportsPerByte: bigint): void {
    // Since SIMD-0194 the sysvar holds lamports per byte, and its factor of years is one.
    this.svm.setRent(new LiteRent(lamportsPerByte, 1, 50));
  }
}

/** Caches the keys of programs that own accounts, so that their text is computed once. */
const owners = new Map<string, PublicKey>();

function ownerOf(bytes: Uint8Array): PublicKey {
  const name = Buffer.from(bytes).toString('latin1');
  const kept = owners.get(name) ?? new PublicKey(bytes);
  owners.set(name, kept);
  return kept;
}
