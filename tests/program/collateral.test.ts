/** A listing after its creation: key rotation, more collateral, delisting, and the return of the collateral. */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { FEE, GAS_LAMPORTS, PRICE, possessionOf, USDC, useWorld } from '../harness/vm/world.ts';
import { delist, giveBack, resume, rotate, SPAN, secondAgent, swap, topUp } from './exploits/acts.ts';

describe('keys, collateral and delisting', () => {
  const w = useWorld();

  it('rotates twice in a second, settles with the key of the open, and accepts an earlier key again', async () => {
    const [second, third] = [namedKeypair('second key'), namedKeypair('third key')];
    const first = await w.open();
    await w.must([rotate(w, second)], [w.creator]);
    await w.must([rotate(w, third)], [w.creator]);
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
    await w.must([rotate(w, w.signingKey)], [w.creator]);
    expect((await w.read('AgentListing', w.listing)).signingKey.equals(w.signingKey.publicKey)).to.equal(true);
  });

  it('rejects: a rotation without proof for this listing, to a used key, to a weak key, after delisting', async () => {
    const fresh = namedKeypair('fresh key');
    const { listing, signingKey } = await secondAgent(w);
    await w.rejects([rotate(w, fresh, possessionOf(fresh, listing))], [w.creator], 'SignatureInvalid');
    await w.rejects([rotate(w, signingKey)], [w.creator], 'SigningKeyTaken');
    const { publicKey: creator } = w.creator;
    const weak = { creator, payer: creator, listing: w.listing, signingKey: PublicKey.default };
    await w.rejects(
      [program.rotateSigningKey({ ...weak, possession: new Uint8Array(64) })],
      [w.creator],
      'WeakSigningKey',
    );
    await w.must([delist(w)], [w.creator]);
    await w.rejects([rotate(w, fresh)], [w.creator], 'ListingDelisted');
  });

  it('tops up the exact amount', async () => {
    await w.moves([topUp(w, 7n)], [w.creator], { creator: { usdc: -7n }, vault: { usdc: 7n } });
    const book = await w.read('CreatorCollateral', program.findCollateral(w.listing));
    expect(book).to.include({ deposited: 10n * USDC + 7n, slashed: 0n });
    await w.rejects([topUp(w, 0n)], [w.creator], 'InvalidAmount');
    await w.rejects([topUp(w, 1_000n * USDC)], [w.creator], 'InsufficientBalance');
    const falseMint = namedKeypair('counterfeit mint').publicKey;
    w.vm.setMint(falseMint, w.stranger.publicKey);
    for (const source of [w.wallet(w.stranger), w.vm.setWallet(w.creator.publicKey, falseMint, USDC)]) {
      await w.rejects([topUp(w, 1n, source)], [w.creator], 'InvalidDepositSource');
    }
    await w.must([delist(w)], [w.creator]);
    await w.rejects([topUp(w, 1n)], [w.creator], 'ListingDelisted');
  });

  it('delists permanently, and returns everything after the last window, once', async () => {
    await w.rejects([giveBack(w)], [], 'CollateralNotReturnable');
    const outcome = await w.must([delist(w)], [w.creator]);
    expect(outcome.events[0]?.data).to.include({ returnableAt: START + SPAN });
    await w.rejects([delist(w)], [w.creator], 'InvalidListingTransition');
    await w.rejects([resume(w)], [w.creator], 'InvalidListingTransition');
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ListingNotActive');
    await w.vm.setClock(START + SPAN - 1n);
    await w.rejects([giveBack(w)], [], 'CollateralNotReturnable');
    await w.vm.setClock(START + SPAN);
    await w.rejects([swap(giveBack(w), { rent_sponsor: w.stranger.publicKey })], [], 'WrongRentSponsor');
    const rent = w.vm.rent(TOKEN_BYTES);
    await w.moves([giveBack(w)], [], {
      creator: { usdc: 10n * USDC, lamports: rent },
      vault: { usdc: -10n * USDC, lamports: -rent },
    });
    await w.rejects([giveBack(w)], [], 'CollateralNotReturnable');
  });
});
