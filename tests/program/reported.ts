/**
 * Compares an event with an account after it: the event must report every field of a new account, and every changed one
 * of another. Event fields with the name of an account field must have its value. Fields that no event reports are listed
 * here, so that none is forgotten.
 */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';

export type Fields = Record<string, unknown>;
type AccountName = keyof program.Accounts;
export type State = { name: AccountName; fields: Fields };

/** Fields that follow from an address or the program's version. Tables do not need them. */
const DERIVED = ['version', 'bump', 'vaultBump', 'escrowBump', 'spenderBump', 'sourceBump', 'reserved'];

/** Initial values of fields that an account's first event does not report. They are constant. */
const FIRST: Partial<Record<AccountName, Fields>> = {
  Config: { adminSince: 0n },
  AgentListing: { status: 'active' },
  CreatorCollateral: {
    returned: false,
    slashed: 0n,
    owed: 0n,
    forfeited: 0n,
    exposureOpened: 0n,
    exposureWindowStart: 0n,
    returnableAt: 0n,
    sweepableAt: 0n,
    openDisputes: 0,
  },
  KeyGrant: { revoked: false, periodSpent: 0n, totalSpent: 0n, executionCount: 0n, lastOpenedAt: 0n },
  ExecutionRecord: { status: 'open', resultHash: new Uint8Array(32), settledAt: 0n, executionTimeMs: 0 },
  Dispute: {
    outcome: 'open',
    reasonHash: new Uint8Array(32),
    amountToCaller: 0n,
    amountSlashed: 0n,
    owed: 0n,
    resolvedAt: 0n,
  },
  Archive: { count: 0 },
};

const USDC_MINT = namedKeypair('usdc mint').publicKey;
const STATUSES = ['active', 'paused', 'delisted'];
const padded = (values: unknown, length: number, empty: unknown) =>
  values && [...(values as unknown[]), ...Array(length)].slice(0, length).map((value) => value ?? empty);
const count = (values: unknown) => values && (values as unknown[]).length;

/** Values of an account's fields that an event reports in other words. Undefined if it reports none. */
const WORDS: Partial<Record<AccountName, (event: Fields, name: string, before: Fields) => Fields>> = {
  Config: ({ settings, relayAuthorities }) => {
    const { tiers } = (settings ?? {}) as Partial<program.Config>;
    return {
      ...(settings as Fields | undefined),
      tiers: padded(tiers, 4, { maxPrice: 0n, deposit: 0n }),
      tierCount: count(tiers),
      relayAuthorities: padded(relayAuthorities, 8, PublicKey.default),
      relayAuthorityCount: count(relayAuthorities),
    };
  },
  AgentListing: ({ status, listingStatus }, name) => ({
    status: name === 'AgentDelisted' ? 'delisted' : STATUSES[(status ?? listingStatus) as number],
  }),
  SigningKey: ({ signingKey }) => ({ key: signingKey }),
  CreatorCollateral: ({ amount, owed }, name, before) => {
    const openDisputes = Number(before.openDisputes);
    const less = (field: string) => ({ [field]: (before[field] as bigint) - (amount as bigint) });
    if (name === 'CollateralReturned') return { returned: true };
    if (name === 'DisputeOpened') return { openDisputes: openDisputes + 1 };
    if (name === 'DisputeLapsed') return { openDisputes: openDisputes - 1 };
    // What the event says to be owed is that of its dispute.
    if (name === 'DisputeResolved') {
      return { openDisputes: openDisputes - 1, owed: (before.owed as bigint) + (owed as bigint) };
    }
    if (name === 'DisputeAwardClaimed') return less('owed');
    return name === 'ForfeitsSwept' ? less('forfeited') : {};
  },
  KeyGrant: (event, name) => ({
    revoked: name === 'GrantRevoked' || undefined,
    executionCount: event.grantExecutionCount,
    totalSpent: event.grantTotalSpent,
    periodStart: event.grantPeriodStart ?? event.periodStart ?? event.createdAt,
    periodSpent: event.grantPeriodSpent ?? event.periodSpent,
    lastOpenedAt: event.openedAt,
  }),
  // An end's gas is what it cost.
  ExecutionRecord: ({ refundedAt, settledAt, gasLamports }, name) => ({
    status: { ExecutionSettled: 'completed', ExecutionRefunded: 'refunded' }[name],
    settledAt: refundedAt ?? settledAt,
    gasLamports: name === 'ExecutionOpened' ? gasLamports : undefined,
  }),
  Deposit: ({ termsHash: terms, quotedPayer: payer, ...event }) => {
    const quote = { terms, payer, usdcMint: USDC_MINT, ...event } as unknown as program.DepositQuote;
    return terms ? { hash: program.depositAddress(quote).hash } : {};
  },
  // The bond of an outcome is what was paid of it.
  Dispute: ({ upheld, resolvedAt, bond }, name, before) => ({
    outcome: { DisputeResolved: upheld ? 'upheld' : 'rejected', DisputeLapsed: 'lapsed' }[name],
    bond: resolvedAt ? (before.bond as bigint) - (bond as bigint) : bond,
    ...(name === 'DisputeAwardClaimed' && { owed: 0n }),
  }),
  CreatorProfile: (event) => ({ creator: event.creator }),
  // A moved refund is one leaf.
  Archive: ({ executions, unclaimed }, _, before) => {
    const leaves = count(executions) ?? (unclaimed && 1);
    return { count: leaves && Number(before.count) + Number(leaves) };
  },
};

/** Checks that an event reports every field of a new account, and every changed one of another. */
export function compareReported(event: Fields, eventName: string, was: State | null, { name, fields }: State): void {
  const known: Fields = { ...event, ...WORDS[name]?.(event, eventName, was?.fields ?? {}) };
  for (const [field, value] of Object.entries(fields)) {
    if (DERIVED.includes(field)) continue;
    const told = known[field] ?? (was ? undefined : FIRST[name]?.[field]);
    const isSame = was !== null && isEqual(was.fields[field], value);
    // The event may name the sponsor of another account.
    if (isSame && (told === undefined || field === 'rentSponsor')) continue;
    expect(told, `${name}.${field} is ${value}, and ${eventName} does not say it`).to.not.equal(undefined);
    expect(plain(told), `${name}.${field}`).to.deep.equal(plain(value));
  }
}

const isEqual = (a: unknown, b: unknown) => JSON.stringify(plain(a), big) === JSON.stringify(plain(b), big);
const big = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);

/** An account of the program, decoded; null for any other, and for one without data. */
export function stateIn(account: { owner: PublicKey; data: Uint8Array } | null): State | null {
  const own = program.ownAccount(account);
  const isOf = ({ discriminator }: { discriminator: readonly number[] }) =>
    Buffer.from(discriminator).equals(own!.data.subarray(0, 8));
  const name = (own && program.idl.accounts.find(isOf)?.name) as AccountName | undefined;
  return name && own ? { name, fields: program.decodeAccount(name, own.data) } : null;
}
