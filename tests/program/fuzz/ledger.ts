/**
 * The chain as the model expects it: every account that a step has named, with lamports and content as plain values. A
 * rule writes to it freely. If the rule refuses, all its changes are dropped, as on the chain.
 */
import { PublicKey } from '@solana/web3.js';
import type * as program from '../../../app/sdk/program/program.ts';

/** A base58 address. */
export type Address = string;

/** A decoded value with addresses as base58 and bytes as hex, so that it can be compared by content. */
export type Plain<T> = T extends PublicKey | Uint8Array
  ? string
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Field in keyof T]: Plain<T[Field]> }
      : T;

/** `RefundClaim` has no data. */
export type StateName = keyof program.Accounts | 'RefundClaim';
export type StateOf<Name extends StateName> = Name extends keyof program.Accounts
  ? Plain<program.Accounts[Name]>
  : Record<string, never>;

/** The fields of a token account of the settlement mint under the classic Token program. */
export interface TokenAccount {
  owner: Address;
  amount: bigint;
  frozen: boolean;
  delegate: Address | null;
  delegatedAmount: bigint;
}

/** The content of an address: lamports only, a USDC account, or an account of the program. Replaced, never mutated. */
export interface Entry {
  lamports: bigint;
  token?: TokenAccount;
  state?: { name: StateName; bytes: number; value: unknown };
}

const NOTHING: Entry = { lamports: 0n };

/** Size of each account of the program in bytes, discriminator included. */
export const SIZES: Record<StateName, number> = {
  Config: 555,
  PendingChange: 513,
  CreatorProfile: 51,
  AgentListing: 389,
  SigningKey: 74,
  CreatorCollateral: 168,
  KeyGrant: 197,
  ExecutionRecord: 295,
  Deposit: 139,
  Dispute: 275,
  Archive: 56,
  RefundClaim: 0,
};
export const TOKEN_ACCOUNT_BYTES = 165;

/** Rents, lamports per byte: the original one, the one reported for mainnet, and the planned one. */
export const RENTS = [6_960n, 5_080n, 696n] as const;

/** Lamports that make an account of this size rent-exempt. */
export const rentOf = (bytes: number, lamportsPerByte: bigint): bigint => (128n + BigInt(bytes)) * lamportsPerByte;

/** Data size of an account in bytes. */
export function spaceOf({ token, state }: Entry): number {
  return state?.bytes ?? (token ? TOKEN_ACCOUNT_BYTES : 0);
}

/** The program must refuse the step with this error. */
export class Refusal extends Error {}

/** Throws a Refusal unless the condition holds. The first unmet condition of a rule determines the error. */
export function demand(condition: boolean, error: string): asserts condition {
  if (!condition) throw new Refusal(error);
}

const texts = new WeakMap<PublicKey, Address>();
const keys = new Map<Address, PublicKey>();

/** An address as text. */
export function text(key: PublicKey): Address {
  const known = texts.get(key);
  if (known) return known;
  const made = key.toBase58();
  texts.set(key, made);
  if (!keys.has(made)) keys.set(made, key);
  return made;
}

/** An address as a key. */
export function key(address: Address): PublicKey {
  const known = keys.get(address);
  if (known) return known;
  const made = new PublicKey(address);
  keys.set(address, made);
  texts.set(made, address);
  return made;
}

export class Ledger {
  /** Unix seconds. */
  now = 0n;
  /** The present rent, lamports per byte. */
  lamportsPerByte: bigint = RENTS[0];
  private readonly accounts = new Map<Address, Entry>();
  private pending: Map<Address, Entry> | null = null;
  /** What the event of the latest transaction says besides the state of accounts. */
  private told: Record<string, unknown> = {};

  /** A copy, to see what a rule would change. */
  fork(): Ledger {
    const copy = new Ledger();
    copy.now = this.now;
    copy.lamportsPerByte = this.lamportsPerByte;
    for (const [address, entry] of this.accounts) copy.accounts.set(address, entry);
    return copy;
  }

  /** Lamports that make an account of this size rent-exempt at the present rent. */
  rent(bytes: number): bigint {
    return rentOf(bytes, this.lamportsPerByte);
  }

  /** The event must have these fields. */
  tell(fields: Record<string, unknown>): void {
    Object.assign(this.told, fields);
  }

  get saying(): Readonly<Record<string, unknown>> {
    return this.told;
  }

  get(address: Address): Entry {
    return this.pending?.get(address) ?? this.accounts.get(address) ?? NOTHING;
  }

  set(address: Address, entry: Entry): void {
    (this.pending ?? this.accounts).set(address, entry);
  }

  /** All known addresses with their content. */
  entries(): IterableIterator<[Address, Entry]> {
    return this.accounts.entries();
  }

  /** Applies the rule of a transaction completely or not at all. Returns the error of a refusal, or null. */
  attempt(rule: (ledger: Ledger) => void): string | null {
    this.told = {};
    try {
      this.record(() => {
        rule(this);
        this.demandRents();
      });
      return null;
    } catch (error) {
      if (error instanceof Refusal) return error.message;
      throw error;
    }
  }

  /** Applies all of something, or nothing if it throws. Returns the changed addresses. */
  record(happening: () => void): Set<Address> {
    this.pending = new Map();
    try {
      happening();
      for (const [address, entry] of this.pending) this.accounts.set(address, entry);
      return new Set(this.pending.keys());
    } finally {
      this.pending = null;
    }
  }

  /** Addresses of all accounts of one kind, in the order of their creation. */
  *all<Name extends StateName>(name: Name): IterableIterator<[Address, StateOf<Name>]> {
    for (const [address, { state }] of this.accounts) {
      if (state?.name === name) yield [address, state.value as StateOf<Name>];
    }
  }

  find<Name extends StateName>(name: Name, address: Address): StateOf<Name> | null {
    const { state } = this.get(address);
    return state?.name === name ? (state.value as StateOf<Name>) : null;
  }

  /** The state of an account of the program. Refuses other accounts with Anchor's error. */
  state<Name extends StateName>(name: Name, address: Address): StateOf<Name> {
    const entry = this.get(address);
    demand(entry.lamports > 0n, 'AccountNotInitialized');
    demand(entry.state !== undefined, 'AccountOwnedByWrongProgram');
    demand(entry.state.name === name, 'AccountDiscriminatorMismatch');
    return entry.state.value as StateOf<Name>;
  }

  /** The state of a token account. Refuses other accounts with Anchor's error. */
  token(address: Address): TokenAccount {
    const entry = this.get(address);
    demand(entry.lamports > 0n, 'AccountNotInitialized');
    demand(entry.token !== undefined, 'AccountOwnedByWrongProgram');
    return entry.token;
  }

  /** Changes fields of an account of the program. */
  change<Name extends StateName>(name: Name, address: Address, fields: Partial<StateOf<Name>>): void {
    const entry = this.get(address);
    if (entry.state?.name !== name) throw new Error(`the model has no ${name} at ${address}`);
    const value = { ...(entry.state.value as object), ...fields };
    this.set(address, { ...entry, state: { ...entry.state, value } });
  }

  /** Creates an account of the program. `payer` pays rent and `extra`, less lamports already at the address. */
  create<Name extends StateName>(
    name: Name,
    address: Address,
    payer: Address,
    value: StateOf<Name>,
    extra: bigint = 0n,
  ): void {
    this.payRent(address, payer, SIZES[name], extra);
    this.set(address, { lamports: this.get(address).lamports, state: { name, bytes: SIZES[name], value } });
  }

  /** Creates a token account in the same way. */
  createToken(address: Address, payer: Address, owner: Address): void {
    this.payRent(address, payer, TOKEN_ACCOUNT_BYTES);
    const token = { owner, amount: 0n, frozen: false, delegate: null, delegatedAmount: 0n };
    this.set(address, { lamports: this.get(address).lamports, token });
  }

  /** Refuses an address where an account exists that Anchor's `init` would make. That comes before all other checks. */
  demandNew(address: Address): void {
    const { token, state } = this.get(address);
    demand(token === undefined && state === undefined, 'system:0');
  }

  /** Refuses an account that a rise of the rent left below it, where Anchor's `init_if_needed` finds it. */
  demandExempt(address: Address): void {
    const { lamports, state } = this.get(address);
    demand(!state || lamports >= this.rent(state.bytes), 'ConstraintRentExempt');
  }

  private payRent(address: Address, payer: Address, bytes: number, extra = 0n): void {
    const entry = this.get(address);
    demand(entry.token === undefined && entry.state === undefined, 'AccountExists');
    const missing = this.rent(bytes) + extra - entry.lamports;
    if (missing > 0n) this.moveLamports(payer, address, missing);
  }

  /** Removes an account and sends all its lamports to `to`. */
  close(address: Address, to: Address): void {
    const { lamports } = this.get(address);
    this.set(address, NOTHING);
    const receiver = this.get(to);
    this.set(to, { ...receiver, lamports: receiver.lamports + lamports });
  }

  moveLamports(from: Address, to: Address, lamports: bigint): void {
    const payer = this.get(from);
    if (payer.lamports < lamports) throw new Error(`the model's ${from} lacks lamports`);
    this.set(from, { ...payer, lamports: payer.lamports - lamports });
    const receiver = this.get(to);
    this.set(to, { ...receiver, lamports: receiver.lamports + lamports });
  }

  changeToken(address: Address, fields: Partial<TokenAccount>): void {
    const entry = this.get(address);
    if (!entry.token) throw new Error(`the model has no token account at ${address}`);
    this.set(address, { ...entry, token: { ...entry.token, ...fields } });
  }

  /** Transfers as the Token program does, with its errors in its order. */
  transfer(from: Address, to: Address, amount: bigint, authority: Address): void {
    const source = this.token(from);
    const destination = this.token(to);
    demand(!source.frozen && !destination.frozen, 'token:17');
    demand(source.amount >= amount, 'token:1');
    let left = source;
    if (source.delegate === authority) {
      demand(source.delegatedAmount >= amount, 'token:1');
      const delegatedAmount = source.delegatedAmount - amount;
      left = { ...source, delegatedAmount, delegate: delegatedAmount === 0n ? null : authority };
    } else {
      demand(source.owner === authority, 'token:4');
    }
    this.changeToken(from, { ...left, amount: source.amount - amount });
    this.changeToken(to, { amount: this.token(to).amount + amount });
  }

  /** Closes an empty token account as the Token program does. */
  closeToken(address: Address, to: Address): void {
    demand(this.token(address).amount === 0n, 'token:11');
    this.close(address, to);
  }

  /** Closes a token account of the program and pays the first taker that can receive the rent. False if none can. */
  closeOurs(address: Address, ...takers: Address[]): boolean {
    const { lamports } = this.get(address);
    const receiver = takers.find((candidate) => this.canTake(candidate, lamports));
    if (receiver !== undefined) this.closeToken(address, receiver);
    return receiver !== undefined;
  }

  /** True if the account is rent-exempt after it receives these lamports. */
  canTake(address: Address, lamports: bigint): boolean {
    const entry = this.get(address);
    return entry.lamports + lamports >= this.rent(spaceOf(entry));
  }

  /** The part of `lamports` that an account can give without falling below its rent. */
  spendable(address: Address, lamports: bigint): bigint {
    const entry = this.get(address);
    const above = entry.lamports - this.rent(spaceOf(entry));
    if (above <= 0n) return 0n;
    return above < lamports ? above : lamports;
  }

  /** The runtime's rule after a transaction: it leaves no account poorer than rent-exempt that was not so before. */
  private demandRents(): void {
    for (const [address, after] of this.pending ?? []) {
      const before = this.accounts.get(address) ?? NOTHING;
      const same = spaceOf(before) === spaceOf(after) && before.lamports > 0n;
      const least = this.rent(spaceOf(after));
      const enough = same && before.lamports < least ? before.lamports : least;
      demand(after.lamports === 0n || after.lamports >= enough, 'InsufficientFundsForRent');
    }
  }
}
