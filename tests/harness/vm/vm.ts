/**
 * One interface over two VMs, chosen by the environment variable VM: `litesvm` (litesvm.ts, the default) and `bankrun`
 * (bankrun.ts). Only these files import a VM. Both start with the marketplace and the test caller under the upgradeable
 * loader. Their ProgramData accounts are written here, so that the upgrade authority is known. PROGRAM_SO names another
 * marketplace binary to test.
 */
import { AccountLayout, MintLayout, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  type Keypair,
  type PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js';
import { findTokenAccount } from '../../../app/sdk/program/program.ts';
import { encodeTokenAccount, type TokenFields } from '../tokenAccount.ts';
import { addressOf, type Backend, DEFAULT_RENT, NO_ACCOUNT, type RawAccount, type RawOutcome } from './backend.ts';
import { BankBackend } from './bankrun.ts';
import { namedKeypair, signAll } from './keys.ts';
import { LiteBackend } from './litesvm.ts';
import { keepCoverage, nameFailure, type Outcome, readCalledEvents, readOurEvents, remember } from './outcome.ts';

export type VmKind = 'litesvm' | 'bankrun';

/** The VM of this run, unless a test needs a certain one. */
export const VM_KIND: VmKind = chooseVm(process.env.VM);

export interface TokenAccountInput extends TokenFields {
  lamports?: bigint;
}

/** The clock at which every VM starts, unix seconds. */
export const START = 1_800_000_000n;

/** Native programs, sysvars and token programs, which are part of the VM. */
const BUILT_IN = /^(1{20,}|Sysvar|ComputeBudget1|Ed25519SigVerify1|BPFLoader|Token|AToken)/;

/** A signed transaction and its instructions in order. */
interface Signed {
  transaction: VersionedTransaction;
  bytes: Uint8Array;
  instructions: TransactionInstruction[];
}

export class Vm {
  /** Pays network fees, so that they do not change the balances of the parties. */
  readonly feePayer = namedKeypair('fee payer');
  readonly upgradeAuthority = namedKeypair('upgrade authority');
  /** Unix seconds of the Clock sysvar. */
  now = START;
  private lamportsPerByte = DEFAULT_RENT;
  /**
   * One of each kind for the whole process, emptied for each new chain: loading the programs takes longer than most
   * tests, and discarded VMs keep memory. Only the latest chain is valid.
   */
  private static readonly backends = new Map<VmKind, Backend>();

  private constructor(
    readonly kind: VmKind,
    private readonly backend: Backend,
  ) {}

  /** Creates a new chain at START with the two programs and a funded fee payer. */
  static async create(kind: VmKind = VM_KIND): Promise<Vm> {
    const known = Vm.backends.get(kind);
    const backend = known ?? (kind === 'litesvm' ? new LiteBackend() : await BankBackend.create());
    Vm.backends.set(kind, backend);
    const vm = new Vm(kind, backend);
    if (known) vm.empty();
    await vm.airdrop(vm.feePayer.publicKey, 1_000_000_000_000n);
    await vm.setClock(START);
    return vm;
  }

  /** Removes all accounts except those of the runtime, and restores the programs and the rent. */
  private empty(): void {
    const { touched, programs } = this.backend;
    const deployed = new Map(programs.map(({ address, account }) => [addressOf(address), account]));
    for (const [text, address] of touched) {
      const account = deployed.get(text);
      if (!BUILT_IN.test(text) && !account?.executable) this.backend.setAccount(address, account ?? NO_ACCOUNT);
    }
    touched.clear();
    if (this.kind === 'litesvm') this.setRent(DEFAULT_RENT);
  }

  /** Signs and runs one transaction. By default the VM's own fee payer pays. Never throws if the transaction fails. */
  async send(
    instructions: TransactionInstruction[],
    signers: Keypair[],
    options: { payer?: Keypair } = {},
  ): Promise<Outcome> {
    const payer = options.payer ?? this.feePayer;
    const signed = await this.sign(instructions, payer, signers);
    for (const key of signed.transaction.message.staticAccountKeys) this.backend.touched.set(addressOf(key), key);
    const bytes = signed.bytes.length;
    const { failure, logs, calls, computeUnits } = await this.backend.run(signed.transaction, signed.bytes);
    const error = failure && nameFailure(failure, signed.instructions, logs);
    const events = [...readOurEvents(logs), ...readCalledEvents(calls)];
    return remember({ ok: !error, error, events, logs, calls, computeUnits, bytes }, signed.instructions);
  }

  /** Size in bytes of the signed transaction, without sending it. */
  async measure(instructions: TransactionInstruction[], signers: Keypair[]): Promise<number> {
    const { bytes } = await this.sign(instructions, this.feePayer, signers);
    return bytes.length;
  }

  private async sign(instructions: TransactionInstruction[], payer: Keypair, signers: Keypair[]): Promise<Signed> {
    const unique = [...new Map([payer, ...signers].map((signer) => [signer.publicKey.toBase58(), signer])).values()];
    for (let copy = 0; ; copy += 1) {
      const all = [...instructions];
      if (copy > 0 && this.kind === 'bankrun') {
        // Bankrun has no new blockhash on demand. A transfer to the payer itself makes a repeated transaction unique.
        const { publicKey } = payer;
        all.push(SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: copy }));
      }
      const recentBlockhash = await this.backend.blockhash();
      const unsigned = new Transaction({ feePayer: payer.publicKey, recentBlockhash }).add(...all);
      const transaction = signAll(unsigned.compileMessage(), unique);
      const signature = Buffer.from(transaction.signatures[0]!).toString('hex');
      if (!this.backend.sent.has(signature)) {
        this.backend.sent.add(signature);
        return { transaction, bytes: transaction.serialize(), instructions: all };
      }
      await this.backend.nextBlockhash();
    }
  }

  /** A blockhash that is valid now. */
  blockhash(): Promise<string> {
    return this.backend.blockhash();
  }

  /** Runs a signed transaction without changing the chain. Never throws if the transaction fails. */
  simulate(bytes: Uint8Array): Promise<RawOutcome> {
    return this.backend.simulate(VersionedTransaction.deserialize(bytes), bytes);
  }

  getAccount(account: PublicKey): Promise<RawAccount | null> {
    return this.backend.getAccount(account);
  }

  /** Writes an account directly, even if the runtime would not allow it. */
  setAccount(account: PublicKey, value: RawAccount): void {
    this.backend.touched.set(addressOf(account), account);
    this.backend.setAccount(account, value);
  }

  /** Removes an account. */
  closeAccount(account: PublicKey): void {
    this.setAccount(account, NO_ACCOUNT);
  }

  /** Adds lamports to an address. */
  async airdrop(account: PublicKey, lamports: bigint): Promise<void> {
    const present = await this.getAccount(account);
    this.setAccount(account, { ...NO_ACCOUNT, ...present, lamports: (present?.lamports ?? 0n) + lamports });
  }

  async lamports(account: PublicKey): Promise<bigint> {
    return (await this.getAccount(account))?.lamports ?? 0n;
  }

  /** Lamports that make an account with `bytes` of data rent-exempt, at the VM's present rent. */
  rent(bytes: number): bigint {
    return (128n + BigInt(bytes)) * this.lamportsPerByte;
  }

  /** Changes the rent per byte. Accounts keep their lamports. */
  setRent(lamportsPerByte: bigint): void {
    this.lamportsPerByte = lamportsPerByte;
    this.backend.setRent(lamportsPerByte);
  }

  async setClock(unixSeconds: bigint): Promise<void> {
    this.now = unixSeconds;
    await this.backend.setTime(unixSeconds);
  }

  /** Makes an account the mint of a classic token. `authority` can mint and freeze. */
  setMint(mint: PublicKey, authority: PublicKey, decimals = 6, owner = TOKEN_PROGRAM_ID): void {
    const data = Buffer.alloc(MintLayout.span);
    const fields = { mintAuthorityOption: 1, mintAuthority: authority, supply: 10n ** 18n, decimals } as const;
    MintLayout.encode({ ...fields, isInitialized: true, freezeAuthorityOption: 1, freezeAuthority: authority }, data);
    this.setAccount(mint, { lamports: this.rent(data.length), owner, data });
  }

  /** Makes any address a token account. */
  setTokenAccount(account: PublicKey, input: TokenAccountInput): void {
    const data = encodeTokenAccount(input);
    this.setAccount(account, { lamports: input.lamports ?? this.rent(data.length), owner: TOKEN_PROGRAM_ID, data });
  }

  /** Creates a wallet's associated token account. */
  setWallet(owner: PublicKey, mint: PublicKey, amount: bigint): PublicKey {
    const account = findTokenAccount(owner, mint);
    this.setTokenAccount(account, { mint, owner, amount });
    return account;
  }

  /** A token account's amount in base units; null if the account does not exist. */
  async tokens(account: PublicKey): Promise<bigint | null> {
    const value = await this.getAccount(account);
    if (!value?.owner.equals(TOKEN_PROGRAM_ID) || value.data.length !== AccountLayout.span) return null;
    return AccountLayout.decode(value.data).amount;
  }
}

function chooseVm(name: string | undefined): VmKind {
  if (name === undefined || name === 'litesvm' || name === 'bankrun') return name ?? 'litesvm';
  throw new RangeError(`VM must be litesvm or bankrun, not ${name}`);
}

keepCoverage(VM_KIND);
