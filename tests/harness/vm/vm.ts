/**
 * The only file that imports a VM. One interface over two of them, chosen by the environment variable VM: `litesvm`
 * (Agave 4.3, which verifies Ed25519 instructions; the default) and `bankrun` (solana-bankrun 0.4, Solana 1.18, which
 * does not). Both start with the marketplace and the test caller under the upgradeable loader, with ProgramData accounts
 * written here, so that the upgrade authority is known. PROGRAM_SO names another marketplace binary to test.
 */
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { type Address, address, lamports as asLamports, getTransactionDecoder } from '@solana/kit';
import { AccountLayout, AccountState, MintLayout, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  Keypair,
  type Message,
  PACKET_DATA_SIZE,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js';
import { FailedTransactionMetadata, Clock as LiteClock, LiteSVM } from 'litesvm';
import {
  Clock as BankClock,
  type BanksTransactionResultWithMeta,
  type ProgramTestContext,
  start,
} from 'solana-bankrun';
import { findTokenAccount } from '../../../app/sdk/program/program.ts';
import { LOADER, PROGRAMS, programAccounts, readProgram } from './deployment.ts';
import {
  keepCoverage,
  nameFailure,
  type Outcome,
  type RawFailure,
  readDebugError,
  readDisplayError,
  readOurEvents,
  remember,
} from './outcome.ts';

export type VmKind = 'litesvm' | 'bankrun';

/** The VM that this run uses, unless a test needs a certain one. */
export const VM_KIND: VmKind = chooseVm(process.env.VM);

export interface RawAccount {
  lamports: bigint;
  owner: PublicKey;
  data: Uint8Array;
  executable?: boolean;
}

export interface TokenAccountInput {
  mint: PublicKey;
  owner: PublicKey;
  amount?: bigint;
  frozen?: boolean;
  delegate?: PublicKey;
  delegatedAmount?: bigint;
  lamports?: bigint;
}

/** The clock at which every VM starts, unix seconds. */
export const START = 1_800_000_000n;
/** Bankrun activates direct account mapping, which mainnet does not have and which removes the gaps between frames. */
const DIRECT_MAPPING = new PublicKey('EenyoWx9UMXYKpR8mW5Jmfmy2fRjzUtM7NduYMY8bx33');

const NO_ACCOUNT: RawAccount = { lamports: 0n, owner: SystemProgram.programId, data: new Uint8Array() };
/** Native programs, sysvars and the token programs, which come with the VM. */
const BUILT_IN = /^(1{20,}|Sysvar|ComputeBudget1|Ed25519SigVerify1|BPFLoader|Token|AToken)/;

/** A transaction ready to run, and its instructions in their order. */
interface Signed {
  transaction: VersionedTransaction;
  instructions: TransactionInstruction[];
}

/** What a VM says of a transaction. */
interface RawOutcome {
  failure: RawFailure | null;
  logs: string[];
  computeUnits: number;
}

/** What a VM must do for us; the rest is built on top. */
interface Backend {
  /** Signatures that were used; the runtime takes each once. */
  readonly sent: Set<string>;
  blockhash(): Promise<string>;
  nextBlockhash(): Promise<void>;
  run(transaction: VersionedTransaction): Promise<RawOutcome>;
  /** The same without effect. */
  simulate(transaction: VersionedTransaction): Promise<RawOutcome>;
  getAccount(address: PublicKey): Promise<RawAccount | null>;
  setAccount(address: PublicKey, account: RawAccount): void;
  setTime(unixSeconds: bigint): Promise<void>;
}

/** A keypair that is the same in every run, so that bumps, and with them compute units, are too. */
export function namedKeypair(name: string): Keypair {
  return Keypair.fromSeed(createHash('sha256').update(`agent-marketplace test ${name}`).digest());
}

export class Vm {
  /** Pays network fees, so that nobody else's lamports move by them. */
  readonly feePayer = namedKeypair('fee payer');
  readonly upgradeAuthority = namedKeypair('upgrade authority');
  /** Unix seconds of the Clock sysvar. */
  now = START;

  private constructor(
    readonly kind: VmKind,
    private readonly backend: Backend,
  ) {}

  /** A fresh chain with the two programs and a rich fee payer, at START. */
  static async create(kind: VmKind = VM_KIND): Promise<Vm> {
    const backend = kind === 'litesvm' ? new LiteBackend() : await BankBackend.create();
    const vm = new Vm(kind, backend);
    await vm.airdrop(vm.feePayer.publicKey, 1_000_000_000_000n);
    await vm.setClock(START);
    return vm;
  }

  /** Sign and run one transaction. The fee payer is the VM's own unless one is given. Never throws on its failure. */
  async send(
    instructions: TransactionInstruction[],
    signers: Keypair[],
    options: { payer?: Keypair } = {},
  ): Promise<Outcome> {
    const payer = options.payer ?? this.feePayer;
    const signed = await this.sign(instructions, payer, signers);
    const bytes = signed.transaction.serialize().length;
    const { failure, logs, computeUnits } = await this.backend.run(signed.transaction);
    const error = failure && nameFailure(failure, signed.instructions, logs);
    return remember({ ok: !error, error, events: readOurEvents(logs), logs, computeUnits, bytes });
  }

  /** Size in bytes of a signed transaction that is not sent. */
  async measure(instructions: TransactionInstruction[], signers: Keypair[]): Promise<number> {
    const { transaction } = await this.sign(instructions, this.feePayer, signers);
    return transaction.serialize().length;
  }

  private async sign(instructions: TransactionInstruction[], payer: Keypair, signers: Keypair[]): Promise<Signed> {
    const unique = [...new Map([payer, ...signers].map((signer) => [signer.publicKey.toBase58(), signer])).values()];
    for (let copy = 0; ; copy += 1) {
      const all = [...instructions];
      if (copy > 0 && this.kind === 'bankrun') {
        // Bankrun has no new blockhash on demand, so a repeated transaction is told apart by a payment to oneself.
        const { publicKey } = payer;
        all.push(SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: copy }));
      }
      const recentBlockhash = await this.backend.blockhash();
      const unsigned = new Transaction({ feePayer: payer.publicKey, recentBlockhash }).add(...all);
      const transaction = signAll(unsigned.compileMessage(), unique);
      const signature = Buffer.from(transaction.signatures[0]!).toString('hex');
      if (!this.backend.sent.has(signature)) {
        this.backend.sent.add(signature);
        return { transaction, instructions: all };
      }
      await this.backend.nextBlockhash();
    }
  }

  /** A blockhash that transactions are taken with now. */
  blockhash(): Promise<string> {
    return this.backend.blockhash();
  }

  /** Run a transaction as a node gets it, signed by others. Never throws on its failure. */
  process(bytes: Uint8Array): Promise<RawOutcome> {
    return this.backend.run(VersionedTransaction.deserialize(bytes));
  }

  /** The same without effect. */
  simulate(bytes: Uint8Array): Promise<RawOutcome> {
    return this.backend.simulate(VersionedTransaction.deserialize(bytes));
  }

  getAccount(account: PublicKey): Promise<RawAccount | null> {
    return this.backend.getAccount(account);
  }

  /** Write an account as it is, whatever the runtime would allow. */
  setAccount(account: PublicKey, value: RawAccount): void {
    this.backend.setAccount(account, value);
  }

  /** Remove an account. */
  closeAccount(account: PublicKey): void {
    this.setAccount(account, NO_ACCOUNT);
  }

  /** Add lamports to an address. */
  async airdrop(account: PublicKey, lamports: bigint): Promise<void> {
    const present = await this.getAccount(account);
    this.setAccount(account, { ...NO_ACCOUNT, ...present, lamports: (present?.lamports ?? 0n) + lamports });
  }

  async lamports(account: PublicKey): Promise<bigint> {
    return (await this.getAccount(account))?.lamports ?? 0n;
  }

  /** Lamports that keep `bytes` of data alive, as the VM's rent has it. */
  rent(bytes: number): bigint {
    return (128n + BigInt(bytes)) * 6_960n;
  }

  async setClock(unixSeconds: bigint): Promise<void> {
    this.now = unixSeconds;
    await this.backend.setTime(unixSeconds);
  }

  /** Make an account the mint of a classic token; `authority` mints and freezes. */
  setMint(mint: PublicKey, authority: PublicKey, decimals = 6, owner = TOKEN_PROGRAM_ID): void {
    const data = Buffer.alloc(MintLayout.span);
    const fields = { mintAuthorityOption: 1, mintAuthority: authority, supply: 10n ** 18n, decimals } as const;
    MintLayout.encode({ ...fields, isInitialized: true, freezeAuthorityOption: 1, freezeAuthority: authority }, data);
    this.setAccount(mint, { lamports: this.rent(data.length), owner, data });
  }

  /** Make any address a token account. */
  setTokenAccount(account: PublicKey, input: TokenAccountInput): void {
    const data = Buffer.alloc(AccountLayout.span);
    AccountLayout.encode(
      {
        mint: input.mint,
        owner: input.owner,
        amount: input.amount ?? 0n,
        delegateOption: input.delegate ? 1 : 0,
        delegate: input.delegate ?? PublicKey.default,
        state: input.frozen ? AccountState.Frozen : AccountState.Initialized,
        isNativeOption: 0,
        isNative: 0n,
        delegatedAmount: input.delegatedAmount ?? 0n,
        closeAuthorityOption: 0,
        closeAuthority: PublicKey.default,
      },
      data,
    );
    this.setAccount(account, { lamports: input.lamports ?? this.rent(data.length), owner: TOKEN_PROGRAM_ID, data });
  }

  /** Make a wallet's associated token account. */
  setWallet(owner: PublicKey, mint: PublicKey, amount: bigint): PublicKey {
    const account = findTokenAccount(owner, mint);
    this.setTokenAccount(account, { mint, owner, amount });
    return account;
  }

  /** A token account's units; null where there is none. */
  async tokens(account: PublicKey): Promise<bigint | null> {
    const value = await this.getAccount(account);
    if (!value?.owner.equals(TOKEN_PROGRAM_ID) || value.data.length !== AccountLayout.span) return null;
    return AccountLayout.decode(value.data).amount;
  }
}

class LiteBackend implements Backend {
  readonly sent = new Set<string>();
  private readonly svm = new LiteSVM();

  constructor() {
    for (const [programId, path] of PROGRAMS) {
      this.svm.addProgramWithLoader(address(programId.toBase58()), readProgram(path), address(LOADER));
    }
    // The loader's own ProgramData has no upgrade authority.
    for (const { address, account } of deployment()) if (!account.executable) this.setAccount(address, account);
  }

  async blockhash(): Promise<string> {
    return this.svm.latestBlockhash();
  }

  async nextBlockhash(): Promise<void> {
    this.svm.expireBlockhash();
  }

  async run(transaction: VersionedTransaction) {
    return this.toOutcome(this.svm.sendTransaction(getTransactionDecoder().decode(transaction.serialize())));
  }

  async simulate(transaction: VersionedTransaction) {
    return this.toOutcome(this.svm.simulateTransaction(getTransactionDecoder().decode(transaction.serialize())));
  }

  private toOutcome(result: ReturnType<LiteSVM['sendTransaction']> | ReturnType<LiteSVM['simulateTransaction']>) {
    const failed = result instanceof FailedTransactionMetadata;
    const meta = 'meta' in result ? result.meta() : result;
    return {
      failure: failed ? readDebugError(result.toString()) : null,
      logs: meta.logs(),
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
}

/**
 * One bankrun for the whole process, emptied for each new chain: it crashes the process now and then when many are made
 * and dropped, and emptying takes a fraction of the time. Only the latest chain of it is alive.
 */
class BankBackend implements Backend {
  private static shared: BankBackend | null = null;
  readonly sent = new Set<string>();
  /** Every address that a transaction named or a test wrote since the chain was made. */
  private readonly touched = new Map<string, PublicKey>();

  private constructor(private readonly context: ProgramTestContext) {}

  static async create(): Promise<BankBackend> {
    if (BankBackend.shared) {
      BankBackend.shared.empty();
      return BankBackend.shared;
    }
    // The VM would print every log line; outcomes carry them.
    process.env.RUST_LOG ??= 'off';
    const accounts = deployment().map(({ address, account }) => ({ address, info: toAccountInfo(account) }));
    BankBackend.shared = new BankBackend(await start([], accounts, undefined, undefined, [DIRECT_MAPPING]));
    return BankBackend.shared;
  }

  /** Back to the first state: what is not of the runtime or a program goes, and programs are as they were. */
  private empty(): void {
    const programs = new Map(deployment().map(({ address, account }) => [address.toBase58(), account]));
    for (const [text, address] of this.touched) {
      if (BUILT_IN.test(text)) continue;
      this.context.setAccount(address, toAccountInfo(programs.get(text) ?? NO_ACCOUNT));
    }
    this.touched.clear();
  }

  async blockhash(): Promise<string> {
    // Blockhashes grow old by the wall clock here, so that the first one does not last a test.
    const latest = await this.context.banksClient.getLatestBlockhash();
    return latest?.[0] ?? this.context.lastBlockhash;
  }

  async nextBlockhash(): Promise<void> {}

  async run(transaction: VersionedTransaction) {
    for (const key of transaction.message.staticAccountKeys) this.touched.set(addressOf(key), key);
    return this.toOutcome(await this.context.banksClient.tryProcessTransaction(transaction));
  }

  async simulate(transaction: VersionedTransaction) {
    return this.toOutcome(await this.context.banksClient.simulateTransaction(transaction));
  }

  private toOutcome({ result, meta }: BanksTransactionResultWithMeta) {
    return {
      failure: result === null ? null : readDisplayError(result),
      logs: meta?.logMessages ?? [],
      computeUnits: Number(meta?.computeUnitsConsumed ?? 0n),
    };
  }

  async getAccount(account: PublicKey): Promise<RawAccount | null> {
    const found = await this.context.banksClient.getAccount(account);
    return found && { ...found, lamports: BigInt(found.lamports), owner: new PublicKey(found.owner) };
  }

  setAccount(account: PublicKey, value: RawAccount): void {
    this.touched.set(addressOf(account), account);
    this.context.setAccount(account, toAccountInfo(value));
  }

  async setTime(unixSeconds: bigint): Promise<void> {
    const { slot, epochStartTimestamp, epoch, leaderScheduleEpoch } = await this.context.banksClient.getClock();
    this.context.setClock(new BankClock(slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixSeconds));
  }
}

/** Both programs, upgradeable by the harness. */
function deployment() {
  const authority = namedKeypair('upgrade authority').publicKey;
  return PROGRAMS.flatMap(([programId, path]) => programAccounts(programId, readProgram(path), authority));
}

const privateKeys = new WeakMap<Keypair, KeyObject>();
/** What precedes an Ed25519 seed in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** web3.js signs a hundred times slower than OpenSSL, and that was most of a test run. */
function privateKeyOf(keypair: Keypair): KeyObject {
  const kept = privateKeys.get(keypair);
  if (kept) return kept;
  const der = Buffer.concat([PKCS8, keypair.secretKey.subarray(0, 32)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  privateKeys.set(keypair, key);
  return key;
}

/** Throws when a signature is missing or it is too long for a packet; whether the signatures are good the VM finds out. */
function signAll(message: Message, signers: Keypair[]): VersionedTransaction {
  const bytes = message.serialize();
  const transaction = new VersionedTransaction(message);
  for (const signer of signers) transaction.addSignature(signer.publicKey, sign(null, bytes, privateKeyOf(signer)));
  const missing = transaction.signatures.findIndex((signature) => signature.every((byte) => byte === 0));
  if (missing >= 0) throw new Error(`the signature of ${message.accountKeys[missing]!.toBase58()} is missing`);
  const { length } = transaction.serialize();
  if (length > PACKET_DATA_SIZE)
    throw new RangeError(`the transaction has ${length} bytes, more than ${PACKET_DATA_SIZE}`);
  return transaction;
}

const addresses = new WeakMap<PublicKey, Address>();

/** An address as text; base58 takes long enough to be worth keeping. */
export function addressOf(key: PublicKey): Address {
  const kept = addresses.get(key) ?? address(key.toBase58());
  addresses.set(key, kept);
  return kept;
}

/** The few programs that own accounts, by their text. */
const owners = new Map<string, PublicKey>();

function keyOf(text: string): PublicKey {
  const kept = owners.get(text) ?? new PublicKey(text);
  owners.set(text, kept);
  return kept;
}

function toAccountInfo(account: RawAccount) {
  const { lamports, owner, data, executable } = account;
  return { lamports: Number(lamports), owner, data, executable: executable ?? false, rentEpoch: 0 };
}

function chooseVm(name: string | undefined): VmKind {
  if (name === undefined || name === 'litesvm' || name === 'bankrun') return name ?? 'litesvm';
  throw new RangeError(`VM must be litesvm or bankrun, not ${name}`);
}

keepCoverage(VM_KIND);
