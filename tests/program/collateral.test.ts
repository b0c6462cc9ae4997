/** A listing after its creation: key rotation, more collateral, delisting, and the return of the collateral. */
import { type Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { START } from '../harness/vm/vm.ts';
import { FEE, GAS_LAMPORTS, NO_LIMIT, PRICE, possessionOf, USDC, type World, world } from '../harness/vm/world.ts';

/** max_timeout + refund_grace + dispute_window of the world's config. */
const SPAN = 3_600n + 600n + 259_200n;

describe('keys, collateral and delisting', () => {
  let w: World;

  beforeEach(async () => {
    w = await world();
  });

  const own = () => ({ creator: w.creator.publicKey, listing: w.listing });
  const rotate = (key: Keypair, by = w.creator, possession = possessionOf(key, w.listing)) => {
    const rotation = { creator: by.publicKey, payer: by.publicKey, signingKey: key.publicKey, possession };
    return [program.rotateSigningKey({ ...own(), ...rotation })];
  };
  const delist = (by = w.creator) => program.delistAgent({ ...own(), creator: by.publicKey });
  const topUp = (amount: bigint, by = w.creator, source = w.wallet(by)) =>
    program.topUpCollateral({ ...own(), creator: by.publicKey, source, amount });
  const giveBack = (change: Partial<program.ReturnCollateralInput> = {}) =>
    program.returnCollateral({ ...own(), usdcMint: w.usdcMint, rentSponsor: w.creator.publicKey, ...change });

  it('rotates twice in a second, settles with the key of the open, and accepts an earlier key again', async () => {
    const [second, third] = [namedKeypair('second key'), namedKeypair('third key')];
    const first = await w.open();
    await w.must(rotate(second), [w.creator]);
    await w.must(rotate(third), [w.creator]);
    const later = { ...(await w.open()), signingKey: third };
    await w.rejects([w.settleInstruction({ ...later, signingKey: w.signingKey })], [w.relay], 'SignatureInvalid');
    for (const run of [first, later]) {
      await w.moves([w.settleInstruction(run)], [w.relay], {
        creator: { usdc: PRICE - FEE },
        treasury: { usdc: FEE },
        caller: { lamports: w.vm.rent(165) },
        relay: { lamports: GAS_LAMPORTS },
      });
    }
    await w.must(rotate(w.signingKey), [w.creator]);
    expect((await w.read('AgentListing', w.listing)).signingKey.equals(w.signingKey.publicKey)).to.equal(true);
  });

  it('rejects: a rotation by a stranger, without proof, to a used key, to a weak key, after delisting', async () => {
    const fresh = namedKeypair('fresh key');
    await w.rejects(rotate(fresh, w.stranger), [w.stranger], 'NotCreator');
    await w.rejects(rotate(fresh, w.creator, new Uint8Array(64)), [w.creator], 'SignatureInvalid');
    const other = namedKeypair('other key');
    await w.must([w.listInstruction({ creator: w.otherCreator.publicKey }, other)], [w.otherCreator]);
    await w.rejects(rotate(other), [w.creator], 'SigningKeyTaken');
    const weak = program.rotateSigningKey({
      ...own(),
      payer: w.creator.publicKey,
      signingKey: PublicKey.default,
      possession: new Uint8Array(64),
    });
    await w.rejects([weak], [w.creator], 'WeakSigningKey');
    await w.must([delist()], [w.creator]);
    await w.rejects(rotate(fresh), [w.creator], 'ListingDelisted');
  });

  it('tops up the exact amount', async () => {
    await w.moves([topUp(7n)], [w.creator], { creator: { usdc: -7n }, vault: { usdc: 7n } });
    const book = await w.read('CreatorCollateral', program.findCollateral(w.listing));
    expect(book).to.include({ deposited: 10n * USDC + 7n, slashed: 0n });
    await w.rejects([topUp(0n)], [w.creator], 'InvalidAmount');
    await w.rejects([topUp(1_000n * USDC)], [w.creator], 'InsufficientBalance');
    await w.rejects([topUp(1n, w.creator, w.wallet(w.stranger))], [w.creator], 'InvalidDepositSource');
    await w.rejects([topUp(1n, w.stranger)], [w.stranger], 'NotCreator');
    await w.must([delist()], [w.creator]);
    await w.rejects([topUp(1n)], [w.creator], 'ListingDelisted');
  });

  it('delists permanently, and returns everything after the last window, once', async () => {
    await w.rejects([giveBack()], [], 'CollateralNotReturnable');
    await w.rejects([delist(w.stranger)], [w.stranger], 'NotCreator');
    const outcome = await w.must([delist()], [w.creator]);
    expect(outcome.events[0]?.data).to.include({ returnableAt: START + SPAN });
    await w.rejects([delist()], [w.creator], 'InvalidListingTransition');
    const revive = program.setListingStatus({ ...own(), status: 'active' });
    await w.rejects([revive], [w.creator], 'InvalidListingTransition');
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ListingNotActive');
    await w.vm.setClock(START + SPAN - 1n);
    await w.rejects([giveBack()], [], 'CollateralNotReturnable');
    await w.vm.setClock(START + SPAN);
    await w.rejects([giveBack({ creator: w.stranger.publicKey })], [], 'ConstraintSeeds');
    await w.rejects([giveBack({ rentSponsor: w.stranger.publicKey })], [], 'WrongRentSponsor');
    const rent = w.vm.rent(165);
    await w.moves([giveBack()], [], {
      creator: { usdc: 10n * USDC, lamports: rent },
      vault: { usdc: -10n * USDC, lamports: -rent },
    });
    expect((await w.vm.send([giveBack()], [])).ok).to.equal(false);
  });

  it('waits for an open dispute, returns less after a slash, and keeps the vault for an unpaid award', async () => {
    const run = await w.open();
    await w.must([w.settleInstruction(run)], [w.relay]);
    const { executionId, listing } = run;
    const people = { caller: w.caller.publicKey, payer: w.caller.publicKey };
    const evidence = { evidenceHash: new Uint8Array(32), evidenceUri: '', maxBond: NO_LIMIT };
    await w.must([program.openDispute({ ...people, executionId, listing, ...evidence })], [w.caller]);
    await w.must([delist()], [w.creator]);
    await w.vm.setClock(START + SPAN);
    await w.rejects([giveBack()], [], 'DisputesOpen');
    const amount = 5n * USDC;
    const caller = { mint: w.usdcMint, owner: w.caller.publicKey, amount: 0n };
    w.vm.setTokenAccount(w.wallet(w.caller), { ...caller, frozen: true });
    const resolve = program.resolveDispute({
      admin: w.admin.publicKey,
      executionId,
      listing,
      caller: w.caller.publicKey,
      creator: w.creator.publicKey,
      rentSponsor: w.caller.publicKey,
      usdcMint: w.usdcMint,
      upheld: true,
      amount,
      reasonHash: new Uint8Array(32),
    });
    await w.must([resolve], [w.admin]);
    await w.moves([giveBack()], [], {
      creator: { usdc: 5n * USDC },
      treasury: { usdc: amount - PRICE },
      vault: { usdc: PRICE - 10n * USDC },
    });
    w.vm.setTokenAccount(w.wallet(w.caller), caller);
    const destination = w.wallet(w.caller);
    const sponsor = { destination, rentSponsor: w.creator.publicKey };
    const claim = program.claimDisputeAward({ authority: w.stranger.publicKey, executionId, listing, ...sponsor });
    await w.moves([claim], [w.stranger], {
      caller: { usdc: PRICE },
      creator: { lamports: w.vm.rent(165) },
      vault: { usdc: -PRICE, lamports: -w.vm.rent(165) },
    });
  });
});
