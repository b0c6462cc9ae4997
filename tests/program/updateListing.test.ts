/**
 * update_listing: new terms raise the version, a higher price needs collateral, open executions keep
 * their terms. set_listing_status switches between Active and Paused, which does not affect running executions.
 */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { GAS_LAMPORTS, NO_LIMIT, PRICE, TERMS, USDC, useWorld } from '../harness/vm/world.ts';

describe('update_listing', () => {
  const w = useWorld();

  const update = (terms: Partial<program.ListingTerms>, change: Partial<program.UpdateListingInput> = {}) =>
    program.updateListing({
      creator: w.creator.publicKey,
      listing: w.listing,
      payout: w.payout,
      maxDeposit: NO_LIMIT,
      terms: { ...TERMS, ...terms },
      ...change,
    });
  const read = () => w.read('AgentListing', w.listing);
  /** Another account of the creator. */
  const payout = namedKeypair('income').publicKey;

  it('changes every term and the payout account, and raises the version by one', async () => {
    w.vm.setTokenAccount(payout, { mint: w.usdcMint, owner: w.creator.publicKey });
    const terms: program.ListingTerms = {
      price: 2n * USDC,
      timeoutSeconds: 120,
      minTimeoutSeconds: 10,
      tagMask: 0b110,
      metadataHash: new Uint8Array(32).fill(8),
      metadataUri: `https://example.com/${'y'.repeat(180)}`,
    };
    const before = await read();
    await w.moves([update(terms, { payout })], [w.creator], {});
    expect(plain(await read())).to.deep.equal(plain({ ...before, ...terms, payout, listingVersion: 2 }));
  });

  it('raises the version for each single term, and not for the same terms or a new payout account', async () => {
    const changes: Partial<program.ListingTerms>[] = [
      { price: PRICE + 1n },
      { timeoutSeconds: TERMS.timeoutSeconds + 1 },
      { minTimeoutSeconds: TERMS.minTimeoutSeconds + 1 },
      { tagMask: 0b1000 },
      { metadataHash: new Uint8Array(32).fill(6) },
      { metadataUri: '' },
    ];
    let version = 1;
    for (const change of changes) {
      await w.must([update(change)], [w.creator]);
      expect((await read()).listingVersion).to.equal(++version);
      await w.must([update(change)], [w.creator]);
      expect((await read()).listingVersion).to.equal(version);
      await w.must([update({})], [w.creator]);
      expect((await read()).listingVersion).to.equal(++version);
    }
    w.vm.setTokenAccount(payout, { mint: w.usdcMint, owner: w.creator.publicKey });
    await w.must([update({}, { payout })], [w.creator]);
    expect((await read()).listingVersion).to.equal(version);
  });

  it('rejects: a new price above what the collateral covers; other terms still change', async () => {
    await w.rejects([update({ price: 2n * USDC + 1n })], [w.creator], 'CollateralBelowTier');
    const collateral = program.findCollateral(w.listing);
    await w.overwrite('CreatorCollateral', collateral, { slashed: 1n });
    await w.rejects([update({ price: PRICE - 1n })], [w.creator], 'CollateralBelowTier');
    await w.must([update({ tagMask: 0b10 })], [w.creator]);
    await w.overwrite('CreatorCollateral', collateral, { deposited: 20n * USDC, slashed: 0n });
    await w.must([update({ price: 2n * USDC + 1n })], [w.creator]);
  });

  it('rejects: a higher price that needs more collateral than agreed; a lower price needs no agreement', async () => {
    const maxDeposit = 10n * USDC - 1n;
    await w.rejects([update({ price: PRICE + 1n }, { maxDeposit })], [w.creator], 'DepositAboveMax');
    await w.must([update({ price: PRICE + 1n }, { maxDeposit: 10n * USDC })], [w.creator]);
    await w.must([update({ price: PRICE }, { maxDeposit: 0n })], [w.creator]);
    await w.must([update({ tagMask: 0b10 }, { maxDeposit: 0n })], [w.creator]);
  });

  it('rejects: a payout account of another owner, and a delisted listing', async () => {
    await w.rejects([update({}, { payout: w.wallet(w.stranger) })], [w.creator], 'InvalidPayout');
    await w.overwrite('AgentListing', w.listing, { status: 'delisted' });
    await w.rejects([update({ tagMask: 0b10 })], [w.creator], 'ListingDelisted');
  });
});

describe('set_listing_status', () => {
  const w = useWorld();

  const set = (status: program.ListingStatus, creator = w.creator.publicKey) =>
    program.setListingStatus({ creator, listing: w.listing, status });

  it('pauses and resumes, and changes nothing else', async () => {
    const before = await w.read('AgentListing', w.listing);
    for (const status of ['paused', 'active'] as const) {
      await w.moves([set(status)], [w.creator], {});
      expect(plain(await w.read('AgentListing', w.listing))).to.deep.equal(plain({ ...before, status }));
    }
  });

  it('stops new executions, while a running one still settles', async () => {
    const execution = await w.open();
    await w.must([set('paused')], [w.creator]);
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ListingNotActive');
    w.track(execution);
    const to = { caller: { lamports: w.vm.rent(165) }, relay: { lamports: GAS_LAMPORTS } };
    await w.moves([w.settleInstruction(execution)], [w.relay], w.endingOf('settle', to));
    await w.must([set('active')], [w.creator]);
    await w.open();
  });

  it('rejects: the current status, delisting, which has its own instruction, and a return from it', async () => {
    for (const [from, ...refused] of [
      ['active', 'active', 'delisted'],
      ['paused', 'paused', 'delisted'],
      ['delisted', 'active', 'paused'],
    ] as const) {
      await w.overwrite('AgentListing', w.listing, { status: from });
      for (const status of refused) await w.rejects([set(status)], [w.creator], 'InvalidListingTransition');
    }
  });

  it('rejects: resuming below the collateral that the price requires; pausing requires none', async () => {
    const collateral = program.findCollateral(w.listing);
    await w.overwrite('CreatorCollateral', collateral, { slashed: 1n });
    await w.must([set('paused')], [w.creator]);
    await w.rejects([set('active')], [w.creator], 'CollateralBelowTier');
    await w.overwrite('CreatorCollateral', collateral, { slashed: 0n });
    const tiers = (maxPrice: bigint) =>
      program.updateConfig({ admin: w.admin.publicKey, tiers: [{ maxPrice, deposit: 10n * USDC }] });
    await w.must([tiers(PRICE - 1n)], [w.admin]);
    await w.rejects([set('active')], [w.creator], 'PriceAboveTiers');
    await w.must([tiers(PRICE), set('active')], [w.admin, w.creator]);
  });
});
