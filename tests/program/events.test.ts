/**
 * Compares every instruction's event with the accounts after it: a table built from events alone must equal the
 * accounts. Event fields with the name of an account field must have its value. Fields that no event reports are listed
 * here, so that none is forgotten.
 */
import { type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { emptyWorld, FEE, PRICE, SERVICE_FEE, TIERS, USDC, useWorld } from '../harness/vm/world.ts';
import {
  claim,
  closeGrant,
  delist,
  dispute,
  disputed,
  freeze,
  giveBack,
  LAPSE,
  lapse,
  reject,
  reprice,
  rotate,
  SPAN,
  settled,
  thaw,
  topUp,
  uphold,
} from './exploits/acts.ts';

type Fields = Record<string, unknown>;
type AccountName = keyof program.Accounts;
/** Fields of the event that a deposit's address commits to. */
type Prepared = { termsHash: Uint8Array; quotedPayer: PublicKey; price: bigint; serviceFee: bigint };

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
  KeyGrant: {
    revoked: false,
    periodSpent: 0n,
    totalSpent: 0n,
    executionCount: 0n,
    lastOpenedAt: 0n,
  },
  ExecutionRecord: { status: 'open', resultHash: new Uint8Array(32), settledAt: 0n, executionTimeMs: 0 },
  Dispute: {
    outcome: 'open',
    reasonHash: new Uint8Array(32),
    amountToCaller: 0n,
    amountSlashed: 0n,
    owed: 0n,
    resolvedAt: 0n,
  },
};
/** Fields of a new account that the event reports under another name. */
const RENAMED: Record<string, string> = {
  periodStart: 'createdAt',
  key: 'signingKey',
};

describe('events report the state of accounts:', () => {
  const w = useWorld();

  const act = async (instruction: TransactionInstruction, signers: Keypair[]): Promise<Fields> => {
    const { events } = await w.must([instruction], signers);
    expect(events, 'one event').to.have.length(1);
    return events[0]!.data;
  };
  const fields = async (name: AccountName, address: PublicKey) =>
    (await w.read(name as never, address)) as unknown as Fields;
  /** Checks that every field of a new account is in the event or has a known initial value. */
  const tellsAll = async (event: Fields, name: AccountName, address: PublicKey) => {
    const known = { ...event, ...(event.settings as Fields | undefined), ...FIRST[name] };
    for (const [field, value] of Object.entries(await fields(name, address))) {
      if (DERIVED.includes(field)) continue;
      const told = field in known ? known[field] : known[RENAMED[field] ?? ''];
      expect(told, `${name}.${field}`).to.not.equal(undefined);
      expect(plain(told), `${name}.${field}`).to.deep.equal(plain(value));
    }
  };
  /** Checks that the event reports every changed field. `words` gives the values of fields that it may omit. */
  const tellsChange = async (
    name: AccountName,
    address: PublicKey,
    run: () => Promise<Fields>,
    words: Fields = {},
  ): Promise<Fields> => {
    const before = await fields(name, address);
    const event = await run();
    const known: Fields = { ...event, ...(event.settings as Fields | undefined), ...words };
    const after = await fields(name, address);
    for (const [field, value] of Object.entries(after)) {
      const same = JSON.stringify(plain(value), big) === JSON.stringify(plain(before[field]), big);
      // The event may name the sponsor of another account.
      if (field === 'rentSponsor' && same) continue;
      if (field in known) expect(plain(known[field]), `${name}.${field}`).to.deep.equal(plain(value));
      else
        expect(same, `${name}.${field} changed, and ${JSON.stringify(Object.keys(event))} do not say it`).to.equal(
          true,
        );
    }
    return event;
  };

  it('ConfigInitialized', async () => {
    Object.assign(w, await emptyWorld());
    const event = await act(program.initializeConfig(w.configInput({ exposureMultiple: 10 })), [
      w.vm.upgradeAuthority,
      w.admin,
    ]);
    const config = (await fields('Config', program.findConfig())) as unknown as program.Config;
    const relayAuthorities = program.relayAuthoritiesOf(config);
    const counts = { tierCount: TIERS.length, relayAuthorityCount: relayAuthorities.length };
    expect(plain(event.relayAuthorities)).to.deep.equal(plain(relayAuthorities));
    await tellsAll({ ...event, ...counts, relayAuthorities: config.relayAuthorities }, 'Config', program.findConfig());
  });

  it('ConfigUpdated, ChangesCancelled, RelayAuthorityRemoved, AdminChanged', async () => {
    const config = program.findConfig();
    const admin = w.admin.publicKey;
    const next = w.stranger;
    const change = {
      feeBps: 7,
      minPrice: 20_000n,
      disputeBondLamports: 1n,
      disputeWindowSeconds: 300_000,
      refundGraceSeconds: 900,
      maxTimeoutSeconds: 7_200,
      recordSeconds: 7_201,
      exposureMultiple: 3,
      adminDelaySeconds: 0,
    };
    await tellsChange('Config', config, () => act(program.updateConfig({ admin, ...change }), [w.admin]));
    const pause = program.setPause({ authority: admin, isPaused: true });
    await tellsChange('Config', config, () => act(pause, [w.admin]));
    const tiers = { tiers: TIERS.slice(0, 1) };
    const padded = [TIERS[0], ...Array(3).fill({ maxPrice: 0n, deposit: 0n })];
    const update = () => act(program.updateConfig({ admin, ...tiers }), [w.admin]);
    const event = await tellsChange('Config', config, update, { tiers: padded, tierCount: 1 });
    expect((event.settings as Fields).tiers).to.deep.equal(tiers.tiers);
    const cancel = program.cancelAllChanges({ authority: admin });
    const cancelled = await tellsChange('Config', config, () => act(cancel, [w.admin]));
    expect(plain(cancelled)).to.deep.equal(plain({ config, authority: admin, changesValidFrom: START }));
    await w.vm.setClock(START + 1n);
    const remove = program.removeRelayAuthority({ authority: admin, relayAuthority: w.relay.publicKey });
    const removed = await tellsChange('Config', config, () => act(remove, [w.admin]), {
      relayAuthorityCount: 0,
      relayAuthorities: Array(8).fill(PublicKey.default),
    });
    expect(plain(removed.relayAuthority)).to.equal(w.relay.publicKey.toBase58());
    expect(removed.relayAuthorities).to.have.length(0);
    const id = { changeId: 1n, rentSponsor: admin };
    const nextAdmin = next.publicKey;
    await act(program.proposeChange({ admin, payer: admin, ...id, nextAdmin }), [w.admin]);
    await w.vm.setClock(START + 2n);
    const accept = program.acceptAdmin({ nextAdmin, ...id });
    const accepted = await tellsChange('Config', config, () => act(accept, [next]));
    expect(plain(accepted.change)).to.equal(program.findChange(1n).toBase58());
  });

  it('ChangeProposed, ChangeApplied, ChangeCancelled', async () => {
    const config = program.findConfig();
    const [admin, guardian] = [w.admin.publicKey, w.creator.publicKey];
    const changeId = 3n;
    const change = program.findChange(changeId);
    const settings = { feeBps: 7, adminDelaySeconds: 50 };
    const addedRelayAuthorities = [w.stranger.publicKey];
    const input = { admin, payer: admin, changeId, settings, addedRelayAuthorities };
    const propose = program.proposeChange(input);
    const proposed = await act(propose, [w.admin]);
    await tellsAll(proposed, 'PendingChange', change);
    expect(proposed.change).to.deep.equal(change);
    const relays = [w.relay.publicKey, w.stranger.publicKey];
    const apply = () => act(program.applyChange({ changeId, rentSponsor: admin }), []);
    const words = {
      relayAuthorityCount: 2,
      relayAuthorities: [...relays, ...Array(6).fill(PublicKey.default)],
      tiers: TIERS,
    };
    const event = await tellsChange('Config', config, apply, words);
    expect(plain(event.relayAuthorities)).to.deep.equal(plain(relays));
    expect(await w.read('Config', config)).to.deep.include({ feeBps: 7, adminDelaySeconds: 50 });
    await act(program.proposeChange({ admin, payer: admin, changeId: 5n, guardian }), [w.admin]);
    await w.vm.setClock(w.vm.now + 50n + 604_800n);
    const named = () => act(program.applyChange({ changeId: 5n, rentSponsor: admin }), []);
    expect(plain((await tellsChange('Config', config, named, words)).guardian)).to.equal(guardian.toBase58());
    const again = await act(program.proposeChange({ ...input, changeId: 4n }), [w.admin]);
    const dropped = await act(program.cancelChange({ authority: guardian, changeId: 4n, rentSponsor: admin }), [
      w.creator,
    ]);
    expect(plain(dropped)).to.deep.equal(plain({ change: again.change, authority: guardian }));
  });

  it('AgentListed', async () => {
    const key = namedKeypair('second key');
    const listingId = new Uint8Array(16).fill(2);
    const listing = program.findListing(w.creator.publicKey, listingId);
    const event = await act(w.listInstruction({ listingId }, key), [w.creator]);
    await tellsAll(event, 'AgentListing', listing);
    await tellsAll(event, 'CreatorCollateral', program.findCollateral(listing));
    await tellsAll(event, 'SigningKey', program.findSigningKey(key.publicKey));
  });

  it('ListingUpdated, ListingStatusChanged, SigningKeyRotated, CollateralToppedUp, AgentDelisted', async () => {
    const book = program.findCollateral(w.listing);
    const terms = { price: USDC, timeoutSeconds: 50, minTimeoutSeconds: 6, tagMask: 3, metadataUri: 'x' };
    await tellsChange('AgentListing', w.listing, () =>
      act(reprice(w, { ...terms, metadataHash: new Uint8Array(32).fill(8) }), [w.creator]),
    );
    const pause = { creator: w.creator.publicKey, listing: w.listing, status: 'paused' } as const;
    const event = await tellsChange(
      'AgentListing',
      w.listing,
      () => act(program.setListingStatus(pause), [w.creator]),
      { status: 'paused' },
    );
    expect(event.status).to.equal(1);
    await tellsChange('AgentListing', w.listing, () => act(rotate(w, namedKeypair('new key')), [w.creator]));
    await tellsChange('CreatorCollateral', book, () => act(topUp(w, 5n), [w.creator]));
    await tellsChange('CreatorCollateral', book, () => act(delist(w), [w.creator]));
    expect(await w.read('AgentListing', w.listing)).to.include({ status: 'delisted' });
    await w.vm.setClock(START + SPAN);
    await tellsChange('CreatorCollateral', book, () => act(giveBack(w), []), { returned: true });
  });

  it('GrantCreated, GrantUpdated, GrantRevoked, GrantClosed, GasWithdrawn', async () => {
    const wallet = w.caller.publicKey;
    const keyId = new Uint8Array(16).fill(0x42);
    const grant = program.findGrant(wallet, keyId);
    await tellsAll(await act(program.createGrant(w.grantInput({}, keyId)), [w.caller]), 'KeyGrant', grant);
    await w.must([program.openExecutionWithGrant(w.openGrantInput({ keyId }))], [w.relay]);
    await w.vm.setClock(START + 100n);
    const limits = {
      perExecutionMax: 3n * PRICE,
      periodMax: 4n * PRICE,
      totalMax: 5n * PRICE,
      periodSeconds: 77,
      maxGasLamports: 3,
    };
    const update = program.updateGrant({ wallet, keyId, limits: { ...w.grantInput().limits, ...limits } });
    await tellsChange('KeyGrant', grant, () => act(update, [w.caller]));
    const revoke = program.revokeGrant({ authority: wallet, wallet, keyId });
    await tellsChange('KeyGrant', grant, () => act(revoke, [w.caller]), { revoked: true });
    const mine = program.findGrant(wallet, w.keyId);
    const closed = await act(closeGrant(w), [w.caller]);
    expect(plain(closed)).to.deep.equal(plain({ grant: mine, wallet, keyId: w.keyId }));
    const gas = await act(program.withdrawGas({ wallet, lamports: 9n }), [w.caller]);
    const spender = program.findSpender(wallet);
    const remaining = await w.vm.lamports(spender);
    expect(plain(gas)).to.deep.equal(plain({ wallet, spender, lamports: 9n, remaining }));
  });

  it('ExecutionOpened, by wallet and by grant, with the spend of the grant and the exposure of the listing', async () => {
    await w.must([program.updateConfig({ admin: w.admin.publicKey, exposureMultiple: 10 })], [w.admin]);
    const book = program.findCollateral(w.listing);
    const grant = program.findGrant(w.caller.publicKey, w.keyId);
    const own = w.openInput();
    const event = await tellsChange('CreatorCollateral', book, () => act(program.openExecution(own), [w.caller]));
    await tellsAll(event, 'ExecutionRecord', program.findExecution(own.executionId));
    await w.vm.setClock(START + 90_000n);
    const keyed = w.openGrantInput();
    const open = async () => {
      const { grantExecutionCount, grantTotalSpent, grantPeriodStart, grantPeriodSpent, ...opened } = await act(
        program.openExecutionWithGrant(keyed),
        [w.relay],
      );
      await tellsAll(opened, 'ExecutionRecord', program.findExecution(keyed.executionId));
      return {
        executionCount: grantExecutionCount,
        totalSpent: grantTotalSpent,
        periodStart: grantPeriodStart,
        periodSpent: grantPeriodSpent,
        lastOpenedAt: opened.openedAt,
      };
    };
    await tellsChange('KeyGrant', grant, open);
  });

  it('DepositPrepared, and ExecutionOpened from a deposit', async () => {
    const open = w.openTerms();
    const { address, vault, hash } = program.depositAddress(w.quote(open));
    const prepared = await act(program.prepareDeposit(w.prepareInput(w.quote(open))), [w.relay]);
    await tellsAll({ ...prepared, hash }, 'Deposit', address);
    const { termsHash: terms, quotedPayer: payer, price, serviceFee } = prepared as unknown as Prepared;
    const { usdcMint } = w;
    expect(plain(program.depositAddress({ terms, payer, price, serviceFee, usdcMint }).hash)).to.equal(plain(hash));
    await w.must([w.pay(vault, PRICE + SERVICE_FEE)], [w.caller]);
    const instruction = program.openExecutionFromDeposit(w.openDepositInput(open, address));
    const event = await act(instruction, [w.relay]);
    await tellsAll(event, 'ExecutionRecord', program.findExecution(open.executionId));
    expect(plain(event)).to.include(plain({ deposit: address, serviceFee: SERVICE_FEE }));
  });

  it('ExecutionSettled and ExecutionRefunded', async () => {
    const [settling, refunding] = [await w.openWithGrant(), await w.openWithGrant()];
    await w.vm.setClock(START + 7n);
    const status = { status: 'completed' };
    const settle = () => act(w.settleInstruction(settling), [w.relay]);
    const paid = await tellsChange('ExecutionRecord', settling.record, settle, { ...status, gasLamports: 12_345 });
    expect(paid).to.include({ creatorAmount: PRICE - FEE, platformAmount: FEE });
    const grant = program.findGrant(w.caller.publicKey, w.keyId);
    await tellsChange('KeyGrant', grant, async () => {
      const refund = async () => {
        const { refundedAt, ...event } = await act(w.refundInstruction(refunding), [w.relay]);
        return { ...event, settledAt: refundedAt };
      };
      const back = await tellsChange('ExecutionRecord', refunding.record, refund, { status: 'refunded' });
      return { totalSpent: back.grantTotalSpent, periodSpent: back.grantPeriodSpent };
    });
  });

  it('DisputeOpened, DisputeResolved, DisputeLapsed, DisputeAwardClaimed, ForfeitsSwept', async () => {
    const book = program.findCollateral(w.listing);
    const run = await settled(w);
    const at = program.findDispute(run.record);
    const raise = () => act(dispute(w, run), [w.caller]);
    const count = { openDisputes: 1 };
    await tellsAll(await tellsChange('CreatorCollateral', book, raise, count), 'Dispute', at);

    const rejected = { outcome: 'rejected', bond: 0n };
    const event = await tellsChange('Dispute', at, () => act(reject(w, run), [w.admin]), rejected);
    expect(event).to.include({ upheld: false, bond: 10_000_000n });

    const won = await disputed(w);
    await freeze(w, w.wallet(w.caller));
    const wonAt = program.findDispute(won.record);
    const none = { openDisputes: 0 };
    const answer = () =>
      tellsChange('Dispute', wonAt, () => act(uphold(w, won, 2n * USDC), [w.admin]), { outcome: 'upheld', bond: 0n });
    const upheld = await tellsChange('CreatorCollateral', book, answer, none);
    expect(upheld).to.include({ owed: PRICE, listingStatus: 1 });
    expect(await w.read('AgentListing', w.listing)).to.include({ status: 'paused' });
    await thaw(w, w.wallet(w.caller));
    const take = () => act(claim(w, won, w.stranger), [w.stranger]);
    const claimed = await tellsChange('Dispute', wonAt, take, { owed: 0n });
    expect(claimed).to.include({ amount: PRICE });
    await w.vm.setClock(START + SPAN);
    const sweep = program.sweepForfeits({ listing: w.listing, rentSponsor: w.creator.publicKey });
    const swept = await tellsChange('CreatorCollateral', book, () => act(sweep, []), { forfeited: 0n });
    expect(swept).to.include({ amount: 2n * USDC - PRICE, vaultClosed: false });

    await w.must([topUp(w, 2n * USDC)], [w.creator]);
    const resume = { creator: w.creator.publicKey, listing: w.listing, status: 'active' } as const;
    await w.must([program.setListingStatus(resume)], [w.creator]);
    const late = await disputed(w);
    const lateAt = program.findDispute(late.record);
    await w.vm.setClock(START + SPAN + LAPSE);
    await tellsChange('Dispute', lateAt, () => act(lapse(w, late), []), { outcome: 'lapsed', bond: 0n });
  });

  it('CreatorVerificationChanged and TreasuryWithdrawn', async () => {
    const people = { admin: w.admin.publicKey, payer: w.admin.publicKey, creator: w.creator.publicKey };
    const profile = program.findCreator(w.creator.publicKey);
    for (const verified of [true, false]) {
      const event = await act(program.setCreatorVerified({ ...people, verified }), [w.admin]);
      await tellsAll({ ...event, wallet: event.creator }, 'CreatorProfile', profile);
    }
    await settled(w);
    const take = program.withdrawTreasury({ admin: w.admin.publicKey, destination: w.payout, amount: FEE - 1n });
    const event = await act(take, [w.admin]);
    expect(event).to.include({ amount: FEE - 1n, remaining: 1n });
  });
});

const big = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
