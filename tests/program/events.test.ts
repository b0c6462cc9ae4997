/**
 * Compares every instruction's event with the accounts before and after it: a table built from events alone must equal
 * the accounts. Event fields with the name of an account field must have its value. Fields that no event reports are
 * listed here, so that none is forgotten.
 */
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { toCamel } from '../../app/sdk/program/idlValues.ts';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { PRICE, TIERS, USDC, type World } from '../harness/vm/world.ts';
import * as acts from './exploits/acts.ts';
import * as moments from './generated/moments.ts';
import { EARLY, keyring, type Market, signersOf, stage } from './generated/parties.ts';
import { proposed, SCENARIOS, type Scenario } from './generated/scenarios.ts';

type Fields = Record<string, unknown>;
type AccountName = keyof program.Accounts;
type State = { name: AccountName; fields: Fields };

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
  CreatorCollateral: ({ amount }, name, before) => {
    const openDisputes = Number(before.openDisputes);
    const less = (field: string) => ({ [field]: (before[field] as bigint) - (amount as bigint) });
    if (name === 'CollateralReturned') return { returned: true };
    if (name === 'DisputeOpened') return { openDisputes: openDisputes + 1 };
    if (name === 'DisputeResolved' || name === 'DisputeLapsed') return { openDisputes: openDisputes - 1 };
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
  Dispute: ({ upheld, resolvedAt, bond }, name) => ({
    outcome: { DisputeResolved: upheld ? 'upheld' : 'rejected', DisputeLapsed: 'lapsed' }[name],
    bond: resolvedAt ? 0n : bond,
    ...(name === 'DisputeAwardClaimed' && { owed: 0n }),
  }),
  CreatorProfile: (event) => ({ creator: event.creator }),
  // A moved refund is one leaf.
  Archive: ({ executions, unclaimed }, _, before) => {
    const leaves = count(executions) ?? (unclaimed && 1);
    return { count: leaves && Number(before.count) + Number(leaves) };
  },
};

/** Other states and arguments in which an instruction's event has other fields. */
const VARIANTS: [string, Scenario][] = [
  [
    'update_config',
    async (w) => program.updateConfig({ admin: w.admin.publicKey, tiers: TIERS.slice(0, 1), exposureMultiple: 3 }),
  ],
  [
    'apply_change',
    async (w, side) => {
      const guardian = side.creator.publicKey;
      const { changeId, payer } = await proposed(w, side, { guardian });
      return program.applyChange({ changeId, rentSponsor: payer });
    },
  ],
  [
    'set_creator_verified',
    async (w, side) => {
      await w.must([await SCENARIOS.set_creator_verified!(w, side)], [w.admin, side.payer]);
      const people = { admin: w.admin.publicKey, payer: side.payer.publicKey, creator: side.creator.publicKey };
      return program.setCreatorVerified({ ...people, verified: false });
    },
  ],
  ['resolve_dispute', async (w, side) => moments.answer(w, await moments.disputed(w, side), side, false)],
  [
    'resolve_dispute',
    async (w, side) => {
      const execution = await moments.disputed(w, side);
      await acts.freeze(w, w.wallet(side.caller));
      return moments.answer(w, execution, side, true);
    },
  ],
];

/** What the accounts of the program do not show. */
const AMOUNTS: Record<string, Fields> = {
  claim_dispute_award: { amount: PRICE },
  sweep_forfeits: { amount: moments.SLASH - PRICE, vaultClosed: false },
  top_up_collateral: { amount: USDC / 2n },
};

describe('events report the state of accounts:', () => {
  for (const [name, scenario] of [...Object.entries(SCENARIOS), ...VARIANTS]) {
    it(name, async () => {
      const market = await stage(name);
      const { w, mine } = market;
      if (!EARLY.includes(name)) await busy(market);
      const instruction = await scenario(w, mine);
      const before = await statesOf(w, instruction);
      const { events } = await w.must([instruction], signersOf(instruction, keyring(market)));
      expect(events, 'one event').to.have.length(1);
      const { data: event, name: eventName } = events[0]!;
      expect(event).to.include(AMOUNTS[name] ?? {});
      const names = acts.accountNames(instruction).map(toCamel);
      for (const [place, { pubkey, isWritable }] of instruction.keys.entries()) {
        const told = (event as Fields)[names[place]!];
        // An event names the key itself, not its account, and a moved refund's own destination.
        const isOther = names[place] === 'signingKey' || (names[place] === 'destination' && 'unclaimed' in event);
        if (!isOther && told instanceof PublicKey) expect(told.toBase58(), names[place]).to.equal(pubkey.toBase58());
        const was = before[place];
        const is = isWritable ? await stateOf(w, pubkey) : null;
        if (is) compare(event, eventName, was ?? null, is);
      }
    });
  }
});

/** Time has passed since the listing and the grant, the listing has exposure, and the grant has spent. */
async function busy({ w, mine }: Market): Promise<void> {
  await w.must([program.updateConfig({ admin: w.admin.publicKey, exposureMultiple: 10 })], [w.admin]);
  await moments.openWithGrant(w, mine);
  await w.vm.setClock(w.vm.now + 100n);
}

/** Checks that an event reports every field of a new account, and every changed one of another. */
function compare(event: Fields, eventName: string, was: State | null, { name, fields }: State): void {
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

/** The accounts of the program that an instruction names. */
const statesOf = (w: World, { keys }: TransactionInstruction) =>
  Promise.all(keys.map(({ pubkey }) => stateOf(w, pubkey)));

/** An account of the program, decoded; null for any other. */
async function stateOf(w: World, address: PublicKey): Promise<State | null> {
  const account = program.ownAccount(await w.vm.getAccount(address));
  const isOf = ({ discriminator }: { discriminator: readonly number[] }) =>
    Buffer.from(discriminator).equals(account!.data.subarray(0, 8));
  const name = (account && program.idl.accounts.find(isOf)?.name) as AccountName | undefined;
  return name ? { name, fields: program.decodeAccount(name, account!.data) } : null;
}

const isEqual = (a: unknown, b: unknown) => JSON.stringify(plain(a), big) === JSON.stringify(plain(b), big);
const big = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
