/** Connects the VM to the ledger's types: converts accounts to entries and back, and runs the transactions of plans. */
import { isDeepStrictEqual } from 'node:util';
import { AccountLayout, AccountState, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { SystemProgram } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import type { RawAccount } from '../../harness/vm/backend.ts';
import type { Outcome, SeenEvent } from '../../harness/vm/outcome.ts';
import { plain } from '../../harness/vm/plain.ts';
import { Vm } from '../../harness/vm/vm.ts';
import { compareReported, stateIn } from '../reported.ts';
import { FEE_PAYER, keypairOf, MINT, MINT_AUTHORITY, TREE } from './cast.ts';
import { writeNewTree } from './leaves.ts';
import { type Address, type Entry, key, type Ledger, type StateOf, text } from './ledger.ts';

const NAMES = new Map<string, keyof program.Accounts>(
  program.idl.accounts!.map(({ name, discriminator }) => [
    Buffer.from(discriminator).toString('hex'),
    name as keyof program.Accounts,
  ]),
);
const OURS = text(program.PROGRAM_ID);
const TOKENS = text(TOKEN_PROGRAM_ID);

/**
 * Drops bumps. The addresses, derived independently of the program, prove them. A record's `spenderBump` stays: it says
 * who lent the escrow's rent.
 */
function withoutBumps(name: string, value: object): object {
  const isDropped = (field: string) => /bump$/i.test(field) && `${name}.${field}` !== 'ExecutionRecord.spenderBump';
  const zeroed = Object.entries(value).map(([field, item]) => [field, isDropped(field) ? 0 : item]);
  return Object.fromEntries(zeroed);
}

function toEntry(account: RawAccount | null): Entry {
  if (!account) return { lamports: 0n };
  const { lamports } = account;
  const data = Buffer.from(account.data);
  const owner = text(account.owner);
  if (owner === OURS && data.length === 0) return { lamports, state: { name: 'RefundClaim', bytes: 0, value: {} } };
  if (owner === OURS) {
    const name = NAMES.get(data.subarray(0, 8).toString('hex'));
    if (!name) throw new Error(`the program owns an account with the discriminator ${data.subarray(0, 8)}`);
    const value = withoutBumps(name, plain(program.decodeAccount(name, data)) as object);
    return { lamports, state: { name, bytes: data.length, value } };
  }
  if (owner === TOKENS && data.length === AccountLayout.span) {
    const raw = AccountLayout.decode(data);
    const token = {
      owner: text(raw.owner),
      amount: raw.amount,
      frozen: raw.state === AccountState.Frozen,
      delegate: raw.delegateOption ? text(raw.delegate) : null,
      delegatedAmount: raw.delegatedAmount,
    };
    return { lamports, token };
  }
  return { lamports };
}

export class Chain {
  /** The last entry read at each address, with its raw account. */
  private readonly seen = new Map<Address, { raw: RawAccount | null; entry: Entry }>();

  /** The last state of every record, including closed ones. */
  readonly records = new Map<Address, StateOf<'ExecutionRecord'>>();
  /** The last state of every dispute, including closed ones. */
  readonly disputes = new Map<Address, StateOf<'Dispute'>>();
  /** Forfeits of each listing that went to the treasury, base units. */
  readonly swept = new Map<Address, bigint>();
  /** Addresses of all records ever opened. */
  readonly opened = new Set<Address>();

  private constructor(readonly vm: Vm) {}

  /** Creates a chain at this rent with only the programs and the mint. The previous chain becomes invalid. */
  static async create(lamportsPerByte: bigint): Promise<Chain> {
    const vm = await Vm.create();
    vm.setMint(MINT, MINT_AUTHORITY.publicKey);
    vm.setRent(lamportsPerByte);
    writeNewTree(vm, TREE);
    return new Chain(vm);
  }

  /** Signs with all named accounts that have a keypair, and sends. Null if the transaction is too large. */
  async send(instructions: TransactionInstruction[]): Promise<Outcome | null> {
    const signers = new Map<string, Keypair>();
    for (const { pubkey, isSigner } of instructions.flatMap((instruction) => instruction.keys)) {
      const pair = isSigner ? keypairOf(text(pubkey)) : undefined;
      if (pair) signers.set(text(pubkey), pair);
    }
    try {
      return await this.vm.send(instructions, [...signers.values()]);
    } catch (error) {
      // The harness throws for a transaction that no node would accept.
      if (/more than|too large/.test((error as Error).message)) return null;
      throw error;
    }
  }

  /** Reads an account. Decodes it only if its bytes have changed. */
  async read(address: Address): Promise<Entry> {
    const raw = await this.vm.getAccount(key(address));
    const known = this.seen.get(address);
    if (known && sameAccount(known.raw, raw)) return known.entry;
    const entry = toEntry(raw);
    this.seen.set(address, { raw, entry });
    const { state } = entry;
    if (state?.name === 'ExecutionRecord') this.records.set(address, state.value as StateOf<'ExecutionRecord'>);
    if (state?.name === 'Dispute') this.disputes.set(address, state.value as StateOf<'Dispute'>);
    return entry;
  }

  /** An execution was refunded. Its record may have been closed in the same transaction, and not read since. */
  refunded(address: Address, settledAt: bigint): void {
    this.records.set(address, { ...this.records.get(address)!, status: 'refunded', settledAt });
  }

  /** Adds the forfeits that an event sent to the treasury. Without it, the accounts of a step with one instruction do. */
  sweptBy({ name, data }: SeenEvent): void {
    const amount = { ForfeitsSwept: data.amount, CollateralReturned: data.toTreasury }[name] as bigint | undefined;
    if (!amount) return;
    const listing = text(data.listing as PublicKey);
    this.swept.set(listing, (this.swept.get(listing) ?? 0n) + amount);
  }

  /** The last bytes read at an address. */
  bytesAt(address: Address): Uint8Array {
    return this.seen.get(address)?.raw?.data ?? new Uint8Array();
  }

  /** The event of a step reports the state of this account, if the step changed it. `before` are its bytes before. */
  compareReported({ name, data }: SeenEvent, address: Address, before: Uint8Array): void {
    const raw = this.seen.get(address)?.raw ?? null;
    const is = stateIn(raw);
    if (!raw || !is || Buffer.from(raw.data).equals(before)) return;
    compareReported(data, name, before.length > 0 ? stateIn({ ...raw, data: before }) : null, is);
  }

  /** The last entry read at an address. */
  last(address: Address): Entry {
    return this.seen.get(address)?.entry ?? { lamports: 0n };
  }

  /** The last entries of all addresses ever read. */
  *entries(): IterableIterator<[Address, Entry]> {
    for (const [address, { entry }] of this.seen) yield [address, entry];
  }

  /** Writes the ledger's entry to the chain. For accounts of the program, it can set only the lamports. */
  async write(address: Address, entry: Entry): Promise<void> {
    const { lamports, token, state } = entry;
    if (token) {
      const { owner, delegate, ...rest } = token;
      const named = { owner: key(owner), ...(delegate && { delegate: key(delegate) }) };
      this.vm.setTokenAccount(key(address), { mint: MINT, lamports, ...rest, ...named });
    } else if (state) {
      this.vm.setAccount(key(address), { ...(await this.vm.getAccount(key(address)))!, lamports });
    } else {
      this.vm.setAccount(key(address), { lamports, owner: SystemProgram.programId, data: new Uint8Array() });
    }
  }
}

function sameAccount(left: RawAccount | null, right: RawAccount | null): boolean {
  if (!left || !right) return left === right;
  return (
    left.lamports === right.lamports && left.owner.equals(right.owner) && Buffer.from(left.data).equals(right.data)
  );
}

/** The difference between chain and ledger at an address; null if there is none. */
export function difference(ledger: Ledger, address: Address, actual: Entry): string | null {
  const expected = ledger.get(address);
  if (isDeepStrictEqual(actual, expected)) return null;
  return `${address}\n    expected ${show(expected)}\n    found    ${show(actual)}`;
}

function show(entry: Entry): string {
  return JSON.stringify(entry, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

/** The runtime's fee for a transaction: 5,000 lamports per signature. */
export function networkFee(instructions: TransactionInstruction[]): bigint {
  const signers = new Set([text(FEE_PAYER.publicKey)]);
  for (const { pubkey, isSigner } of instructions.flatMap(({ keys }) => keys)) if (isSigner) signers.add(text(pubkey));
  return 5_000n * BigInt(signers.size);
}
