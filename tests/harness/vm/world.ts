/**
 * A marketplace in a VM with all parties: admin, relay, creator, otherCreator, caller and stranger, a listed agent with
 * its signing key, and an API key's grant with its approval. Tests act through it and check the exact changes of all
 * balances at once.
 */
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../../app/sdk/program/program.ts';
import { createNonce, deriveExecutionId } from '../../../app/sdk/receipt/receipt.ts';
import { coder, toBorsh } from './anchorCoder.ts';
import { Balances, difference, type Movement } from './balances.ts';
import { namedKeypair, signBytes } from './keys.ts';
import type { Outcome } from './outcome.ts';
import { TOKEN_BYTES } from './sizes.ts';
import { Vm, type VmKind } from './vm.ts';

export const USDC = 1_000_000n;
/** The demo agent's price. 1 % of it is not whole, so that rounding shows. */
export const PRICE = 1_234_567n;
export const FEE = 12_345n;
export const TIERS = [
  { maxPrice: 2n * USDC, deposit: 10n * USDC },
  { maxPrice: 5n * USDC, deposit: 20n * USDC },
  { maxPrice: 20n * USDC, deposit: 50n * USDC },
  { maxPrice: 100n * USDC, deposit: 200n * USDC },
];
export const TIMEOUT = 60;
export const GRACE = 600;
export const TERMS: program.ListingTerms = {
  price: PRICE,
  timeoutSeconds: TIMEOUT,
  minTimeoutSeconds: 5,
  tagMask: 0b1,
  metadataHash: new Uint8Array(32).fill(7),
  metadataUri: 'https://example.com/agent.json',
};
export const NO_KEY = new Uint8Array(16);
/** Agrees to a deposit or bond of any size. */
export const NO_LIMIT = 2n ** 64n - 1n;

/** Service fee of deposits in these tests, paid in addition to the price. */
export const SERVICE_FEE = 5_000n;

/** Gas of each open in lamports. */
export const GAS = 12_345;
/** The same as bigint, for balances. */
export const GAS_LAMPORTS = BigInt(GAS);
export const GAS_BALANCE = 1_000_000_000n;

/** One execution and its addresses. */
export interface Execution {
  nonce: Uint8Array;
  executionId: Uint8Array;
  record: PublicKey;
  escrow: PublicKey;
  caller: PublicKey;
  keyId: Uint8Array;
  listing: PublicKey;
  payout: PublicKey;
  rentSponsor: PublicKey;
  signingKey: Keypair;
  /** Gas in its record. */
  gasLamports: number;
}

export class World {
  readonly admin = namedKeypair('admin');
  readonly relay = namedKeypair('relay');
  readonly creator = namedKeypair('creator');
  readonly otherCreator = namedKeypair('other creator');
  readonly caller = namedKeypair('caller');
  readonly stranger = namedKeypair('stranger');
  readonly signingKey = namedKeypair('signing key');
  readonly usdcMint = namedKeypair('usdc mint').publicKey;
  readonly mintAuthority = namedKeypair('mint authority');
  readonly listingId = new Uint8Array(16).fill(1);
  readonly keyId = new Uint8Array(16).fill(9);
  readonly listing = program.findListing(this.creator.publicKey, this.listingId);
  readonly payout = this.wallet(this.creator);
  private readonly balances: Balances;
  /** Nonces that this world has drawn. */
  private drawn = 0;

  constructor(readonly vm: Vm) {
    this.balances = new Balances(vm);
    const { admin, relay, creator, otherCreator, caller, stranger } = this;
    for (const [name, { publicKey }] of Object.entries({ admin, relay, creator, otherCreator, caller, stranger })) {
      this.balances.watch(name, publicKey, this.wallet(publicKey));
    }
    this.watch('treasury', program.findTreasury());
    this.watch('vault', program.findCollateralVault(this.listing));
    this.watch('gasBalance', program.findSpender(caller.publicKey));
  }

  /** Creates the mint, and gives everybody lamports and USDC. The program has no accounts yet. */
  async populate(): Promise<void> {
    this.vm.setMint(this.usdcMint, this.mintAuthority.publicKey);
    const { admin, relay, creator, otherCreator, caller, stranger } = this;
    for (const persona of [admin, relay, creator, otherCreator, caller, stranger]) {
      await this.vm.airdrop(persona.publicKey, 100_000_000_000n);
    }
    for (const persona of [creator, otherCreator, caller, stranger]) {
      this.vm.setWallet(persona.publicKey, this.usdcMint, 1_000n * USDC);
    }
  }

  /** A party's associated USDC account. */
  wallet(party: Keypair | PublicKey): PublicKey {
    return program.findTokenAccount(party instanceof PublicKey ? party : party.publicKey, this.usdcMint);
  }

  /** Tracks the lamports and USDC of an account under a name. */
  watch(name: string, account: PublicKey): void {
    this.balances.watch(name, account, account);
  }

  /** Tracks the accounts of an execution as `record` and `escrow`. */
  track(execution: Execution): Execution {
    this.watch('record', execution.record);
    this.watch('escrow', execution.escrow);
    return execution;
  }

  /** Movements at the end of the tracked execution: its escrow is emptied and closed, and its record gives the gas. */
  emptied(): Record<'record' | 'escrow', Movement> {
    return {
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE, lamports: -this.vm.rent(TOKEN_BYTES) },
    };
  }

  /** All movements at its end. `to` gets the escrow's rent and the gas; the relay that lent the rent, if omitted. */
  endingOf(
    kind: 'settle' | 'refund',
    to: Record<string, Movement> = { relay: { lamports: this.vm.rent(TOKEN_BYTES) + GAS_LAMPORTS } },
  ): Record<string, Movement> {
    const paid = { creator: { usdc: PRICE - FEE }, treasury: { usdc: FEE } };
    return { ...(kind === 'settle' ? paid : { caller: { usdc: PRICE } }), ...to, ...this.emptied() };
  }

  configInput(change: Partial<program.InitializeConfigInput> = {}): program.InitializeConfigInput {
    return {
      authority: this.vm.upgradeAuthority.publicKey,
      payer: this.admin.publicKey,
      usdcMint: this.usdcMint,
      admin: this.admin.publicKey,
      relayAuthorities: [this.relay.publicKey],
      feeBps: 100,
      minPrice: 10_000n,
      disputeBondLamports: 10_000_000n,
      disputeWindowSeconds: 259_200,
      refundGraceSeconds: GRACE,
      maxTimeoutSeconds: 3_600,
      recordSeconds: 3_600,
      exposureMultiple: 0,
      guardian: PublicKey.default,
      adminDelaySeconds: 0,
      tiers: TIERS,
      ...change,
    };
  }

  /** `signingKey` proves its possession. A `signingKey` in `change` replaces only the address, not the proof. */
  listInput(change: Partial<program.ListAgentInput> = {}, signingKey = this.signingKey): program.ListAgentInput {
    const creator = change.creator ?? this.creator.publicKey;
    const listing = program.findListing(creator, change.listingId ?? this.listingId);
    return {
      creator,
      payer: creator,
      listingId: this.listingId,
      signingKey: signingKey.publicKey,
      possession: possessionOf(signingKey, listing),
      source: this.wallet(creator),
      payout: this.wallet(creator),
      usdcMint: this.usdcMint,
      maxDeposit: NO_LIMIT,
      terms: TERMS,
      ...change,
    };
  }

  listInstruction(change: Partial<program.ListAgentInput> = {}, signingKey = this.signingKey): TransactionInstruction {
    return program.listAgent(this.listInput(change, signingKey));
  }

  grantInput(limits: Partial<program.GrantLimits> = {}, keyId = this.keyId): program.CreateGrantInput {
    return {
      wallet: this.caller.publicKey,
      payer: this.caller.publicKey,
      keyId,
      limits: {
        perExecutionMax: 5n * USDC,
        periodMax: 20n * USDC,
        totalMax: 100n * USDC,
        periodSeconds: 86_400,
        expiresAt: this.vm.now + 30n * 86_400n,
        maxGasLamports: GAS,
        ...limits,
      },
    };
  }

  /** The caller's approval of its Spender address. */
  approveInstruction(amount = 500n * USDC): TransactionInstruction {
    return program.approveSpender({ wallet: this.caller.publicKey, usdcMint: this.usdcMint, amount });
  }

  /** Deposits lamports into the caller's gas balance. */
  depositInstruction(lamports = GAS_BALANCE): TransactionInstruction {
    const wallet = this.caller.publicKey;
    return program.depositGas({ from: wallet, wallet, lamports });
  }

  openTerms(caller = this.caller.publicKey, change: Partial<program.OpenTerms> = {}): program.OpenTerms {
    const nonce = change.nonce ?? this.nonce();
    return {
      nonce,
      executionId: deriveExecutionId(caller.toBytes(), nonce),
      maxPrice: PRICE,
      listingVersion: 1,
      timeoutSeconds: TIMEOUT,
      requestHash: new Uint8Array(32).fill(5),
      openBefore: this.vm.now + 60n,
      gasLamports: GAS,
      ...change,
    };
  }

  /** A nonce of its own, the same in every run: bumps, and so compute units, depend on it. */
  private nonce(): Uint8Array {
    const tail = new Uint8Array(12);
    new DataView(tail.buffer).setUint32(0, ++this.drawn);
    return createNonce(this.halfHour(), tail);
  }

  /** The half-hour of the VM's clock. */
  halfHour(): number {
    return Number(this.vm.now / 1_800n);
  }

  openInput(change: Partial<program.OpenExecutionInput> = {}): program.OpenExecutionInput {
    const caller = change.caller ?? this.caller.publicKey;
    const source = this.wallet(caller);
    const { listing, usdcMint } = this;
    const payer = change.payer ?? caller;
    const accounts = { caller, payer, rentSponsor: payer, listing, source, usdcMint };
    return { ...accounts, ...this.openTerms(caller, change), ...change };
  }

  openGrantInput(change: Partial<program.OpenExecutionWithGrantInput> = {}): program.OpenExecutionWithGrantInput {
    const wallet = change.wallet ?? this.caller.publicKey;
    const relayAuthority = this.relay.publicKey;
    const { listing, usdcMint, keyId } = this;
    const payer = change.payer ?? relayAuthority;
    const accounts = { relayAuthority, payer, rentSponsor: payer, listing, wallet, keyId, usdcMint };
    const gas = { feeLamports: 0, spenderLendsEscrow: false };
    return { ...accounts, ...gas, ...this.openTerms(wallet, change), ...change };
  }

  /** Opens by the caller's wallet, which also lends the rent and pays the gas. */
  async open(change: Partial<program.OpenExecutionInput> = {}): Promise<Execution> {
    const input = this.openInput(change);
    await this.must([program.openExecution(input)], [this.caller]);
    return this.execution(input.nonce, input.caller, NO_KEY, input.rentSponsor, input.gasLamports);
  }

  /** Opens by the relay with the caller's grant. The relay lends the rent, the caller's gas balance pays the gas. */
  async openWithGrant(change: Partial<program.OpenExecutionWithGrantInput> = {}): Promise<Execution> {
    const input = this.openGrantInput(change);
    await this.must([program.openExecutionWithGrant(input)], [this.relay]);
    return this.execution(input.nonce, input.wallet, input.keyId, input.rentSponsor, input.gasLamports);
  }

  execution(
    nonce: Uint8Array,
    caller: PublicKey,
    keyId: Uint8Array,
    rentSponsor: PublicKey,
    gasLamports = GAS,
  ): Execution {
    const executionId = deriveExecutionId(caller.toBytes(), nonce);
    const record = program.findExecution(executionId);
    const escrow = program.findEscrow(record);
    const { listing, payout, signingKey } = this;
    return { nonce, executionId, record, escrow, caller, keyId, listing, payout, rentSponsor, signingKey, gasLamports };
  }

  settleInput(execution: Execution, change: Partial<program.SettleExecutionInput> = {}): program.SettleExecutionInput {
    const { executionId, caller, listing, payout, rentSponsor, gasLamports } = execution;
    const relayAuthority = this.relay.publicKey;
    const resultHash = change.resultHash ?? RESULT_HASH;
    return {
      relayAuthority,
      executionId,
      caller,
      listing,
      payout,
      rentSponsor,
      resultHash,
      signature: signBytes(resultMessage(resultHash), execution.signingKey),
      gasLamports,
      ...MEASURED,
      ...change,
    };
  }

  settleInstruction(execution: Execution, change: Partial<program.SettleExecutionInput> = {}): TransactionInstruction {
    return program.settleExecution(this.settleInput(execution, change));
  }

  refundInstruction(execution: Execution, change: Partial<program.RefundExecutionInput> = {}): TransactionInstruction {
    const { executionId, listing, caller, keyId, rentSponsor, gasLamports } = execution;
    const input = { authority: this.relay.publicKey, executionId, listing, caller, keyId, rentSponsor, gasLamports };
    const destination = this.wallet(caller);
    return program.refundExecution({ ...input, destination, reason: 'creatorFailed', ...change });
  }

  /** A quote that names the caller as its payer, for the terms of an open. */
  quote(open = this.openTerms(), change: Partial<program.DepositQuote> = {}): program.DepositQuote {
    const { listing, usdcMint } = this;
    const payer = this.caller.publicKey;
    return { terms: { listing, ...open }, payer, price: PRICE, serviceFee: SERVICE_FEE, usdcMint, ...change };
  }

  /** The input for the relay to prepare a deposit for the caller and lend its rent. */
  prepareInput(
    quote: program.DepositQuote,
    change: Partial<program.PrepareDepositInput> = {},
  ): program.PrepareDepositInput {
    const authority = change.authority ?? this.relay.publicKey;
    return {
      authority,
      rentPayer: authority,
      rentSponsor: authority,
      caller: this.caller.publicKey,
      ...quote,
      ...change,
    };
  }

  /** Adds relay authorities in a marketplace without a delay. Signs: the admin. */
  addRelaysInstructions(...addedRelayAuthorities: PublicKey[]): TransactionInstruction[] {
    const { publicKey: admin } = this.admin;
    const change = { changeId: 1_000n, addedRelayAuthorities };
    const apply = program.applyChange({ changeId: change.changeId, rentSponsor: admin });
    return [program.proposeChange({ admin, payer: admin, ...change }), apply];
  }

  /** A transfer of USDC from a party's associated account, as any wallet makes it. */
  pay(to: PublicKey, amount: bigint, from = this.caller): TransactionInstruction {
    const source = this.wallet(from);
    return createTransferCheckedInstruction(source, this.usdcMint, to, from.publicKey, amount, 6);
  }

  /** The input to open a deposit whose quote named the caller. */
  openDepositInput(
    open: program.OpenTerms,
    deposit: PublicKey,
    change: Partial<program.OpenExecutionFromDepositInput> = {},
  ): program.OpenExecutionFromDepositInput {
    const relay = this.relay.publicKey;
    const { listing, usdcMint } = this;
    const accounts = { relayAuthority: relay, payer: relay, rentSponsor: relay, depositRentSponsor: relay };
    return { ...open, ...accounts, listing, usdcMint, deposit, quotedPayer: this.caller.publicKey, ...change };
  }

  refundDepositInstruction(deposit: PublicKey, change: Partial<program.RefundDepositInput> = {}) {
    const relay = this.relay.publicKey;
    const destination = this.wallet(this.caller);
    const input = { authority: relay, rentSponsor: relay, usdcMint: this.usdcMint, deposit, destination };
    return program.refundDeposit({ ...input, ...change });
  }

  /** Reads and decodes an account. */
  async read<Name extends keyof program.Accounts>(name: Name, address: PublicKey): Promise<program.Accounts[Name]> {
    const account = await this.vm.getAccount(address);
    if (!account) throw new Error(`there is no ${name} at ${address.toBase58()}`);
    expect(account.owner.toBase58()).to.equal(program.PROGRAM_ID.toBase58());
    return program.decodeAccount(name, account.data);
  }

  /** Overwrites fields of an account of the program, as no instruction could. */
  async overwrite<Name extends keyof program.Accounts>(
    name: Name,
    address: PublicKey,
    change: Partial<program.Accounts[Name]>,
  ): Promise<void> {
    const account = await this.vm.getAccount(address);
    if (!account) throw new Error(`there is no ${name} at ${address.toBase58()}`);
    const value = { ...program.decodeAccount(name, account.data), ...change };
    const bytes = await coder.accounts.encode(name, toBorsh(withVariants(value)));
    const data = new Uint8Array(account.data.length);
    data.set(bytes);
    this.vm.setAccount(address, { ...account, data });
  }

  /** Sends a transaction that must succeed. */
  async must(instructions: TransactionInstruction[], signers: Keypair[]): Promise<Outcome> {
    const outcome = await this.vm.send(instructions, signers);
    if (!outcome.ok) throw new Error(`refused with ${outcome.error?.name}\n${outcome.logs.join('\n')}`);
    return outcome;
  }

  /** Sends a transaction that must succeed, and checks that it moves exactly this among all tracked accounts. */
  async moves(
    instructions: TransactionInstruction[],
    signers: Keypair[],
    expected: Record<string, Movement>,
  ): Promise<Outcome> {
    const before = await this.balances.read();
    const outcome = await this.must(instructions, signers);
    expect(difference(before, await this.balances.read())).to.deep.equal(expected);
    return outcome;
  }

  /** Sends a transaction that must fail, with `error` if given, and must change no named or tracked account. */
  async rejects(instructions: TransactionInstruction[], signers: Keypair[], error?: string): Promise<Outcome> {
    const touched = instructions.flatMap((instruction) => instruction.keys.map((key) => key.pubkey));
    const before = await this.balances.photograph(touched);
    const outcome = await this.vm.send(instructions, signers);
    expect(outcome.ok, 'it succeeded').to.equal(false);
    if (error !== undefined) expect(outcome.error?.name, outcome.logs.join('\n')).to.equal(error);
    expect(await this.balances.photograph(touched)).to.deep.equal(before);
    return outcome;
  }
}

/** Creates a world with the marketplace, the demo agent and the caller's grant. */
export async function world(options: { kind?: VmKind; config?: Partial<program.InitializeConfigInput> } = {}) {
  const made = await emptyWorld(options.kind);
  const { vm, admin, caller, creator } = made;
  await made.must([program.initializeConfig(made.configInput(options.config))], [vm.upgradeAuthority, admin]);
  await made.must([made.listInstruction()], [creator]);
  await made.must([program.createGrant(made.grantInput()), made.approveInstruction()], [caller]);
  await made.must([made.depositInstruction()], [caller]);
  return made;
}

/** A new world before each test, always as the same object. */
export function useWorld(options: Parameters<typeof world>[0] = {}): World {
  const w: World = Object.create(World.prototype);
  beforeEach(async () => {
    Object.assign(w, await world(options));
  });
  return w;
}

/** Creates a world with funded parties, before initialize_config. */
export async function emptyWorld(kind?: VmKind): Promise<World> {
  const made = new World(await Vm.create(kind));
  await made.populate();
  return made;
}

export const RESULT_HASH = new Uint8Array(32).fill(0xab);
const MEASURED = { executionTimeMs: 1_250 };

/** The message that a creator signs. */
export function resultMessage(resultHash: Uint8Array): Uint8Array {
  return Buffer.from(`sha256:${Buffer.from(resultHash).toString('hex')}`);
}

/** A signing key's proof of possession for a listing. */
export function possessionOf(signingKey: Keypair, listing: PublicKey): Uint8Array {
  return signBytes(program.registerMessage(listing), signingKey);
}

/** Converts enums to Anchor's encoding. Only the fields `status` and `outcome` are enums. */
function withVariants(value: object): object {
  const variants = Object.entries(value).map(([key, field]) => {
    const isEnum = (key === 'status' || key === 'outcome') && typeof field === 'string';
    return [key, isEnum ? { [field.charAt(0).toUpperCase() + field.slice(1)]: {} } : field];
  });
  return Object.fromEntries(variants);
}
