/** LiteSVM: Agave 4.3, which verifies Ed25519 instructions. */
import { address, lamports as asLamports, getTransactionDecoder } from '@solana/kit';
import type { PublicKey, VersionedTransaction } from '@solana/web3.js';
import { FailedTransactionMetadata, Clock as LiteClock, Rent as LiteRent, LiteSVM } from 'litesvm';
import { addressOf, type Backend, deployment, keyOf, type RawAccount } from './backend.ts';
import { LOADER, PROGRAMS, readProgram } from './deployment.ts';
import { readDebugError } from './outcome.ts';

export class LiteBackend implements Backend {
  readonly sent = new Set<string>();
  private readonly svm = new LiteSVM();

  constructor() {
    for (const [programId, path] of PROGRAMS) {
      this.svm.addProgramWithLoader(address(programId.toBase58()), readProgram(path), address(LOADER));
    }
    // The loader's own ProgramData has no upgrade authority.
    for (const { address, account } of deployment(PROGRAMS)) if (!account.executable) this.setAccount(address, account);
  }

  snapshot(): Uint8Array {
    return this.svm.toBytes();
  }

  async blockhash(): Promise<string> {
    return this.svm.latestBlockhash();
  }

  async nextBlockhash(): Promise<void> {
    this.svm.expireBlockhash();
  }

  async run(transaction: VersionedTransaction) {
    const result = this.svm.sendTransaction(getTransactionDecoder().decode(transaction.serialize()));
    return this.toOutcome(result, transaction.message.staticAccountKeys);
  }

  async simulate(transaction: VersionedTransaction) {
    const result = this.svm.simulateTransaction(getTransactionDecoder().decode(transaction.serialize()));
    return this.toOutcome(result, transaction.message.staticAccountKeys);
  }

  private toOutcome(
    result: ReturnType<LiteSVM['sendTransaction']> | ReturnType<LiteSVM['simulateTransaction']>,
    keys: PublicKey[],
  ) {
    const failed = result instanceof FailedTransactionMetadata;
    const meta = 'meta' in result ? result.meta() : result;
    return {
      failure: failed ? readDebugError(result.toString()) : null,
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
    const found = this.svm.getAccount(addressOf(account));
    if (!found.exists) return null;
    const { lamports, data, executable } = found;
    return { lamports, owner: keyOf(found.programAddress), data: new Uint8Array(data), executable };
  }

  setAccount(account: PublicKey, value: RawAccount): void {
    this.svm.setAccount({
      address: addressOf(account),
      programAddress: addressOf(value.owner),
      lamports: asLamports(value.lamports),
      data: value.data,
      executable: value.executable ?? false,
      space: BigInt(value.data.length),
    });
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
