/** A listing after its creation: key rotation, more collateral, delisting, and the return of the collateral. */
import { TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { FEE, GAS_LAMPORTS, NO_KEY, PRICE, possessionOf, USDC, useWorld } from '../harness/vm/world.ts';
import {
  BOND,
  delist,
  dispute,
  giveBack,
  reprice,
  resume,
  rotate,
  SPAN,
  secondAgent,
  swap,
  topUp,
  uphold,
  WINDOW,
} from './exploits/acts.ts';

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
    // An account of Token-2022 with the bytes of a USDC account.
    const look = namedKeypair('look-alike').publicKey;
    w.vm.setTokenAccount(look, { mint: w.usdcMint, owner: w.creator.publicKey, amount: USDC });
    w.vm.setAccount(look, { ...(await w.vm.getAccount(look))!, owner: TOKEN_2022_PROGRAM_ID });
    for (const source of [w.wallet(w.stranger), w.vm.setWallet(w.creator.publicKey, falseMint, USDC), look]) {
      await w.rejects([topUp(w, 1n, source)], [w.creator], 'InvalidDepositSource');
    }
    await w.rejects([swap(reprice(w, {}), { payout: look })], [w.creator], 'InvalidPayout');
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
    const rent = w.vm.rent(TOKEN_BYTES);
    await w.moves([giveBack(w)], [], {
      creator: { usdc: 10n * USDC, lamports: rent },
      vault: { usdc: -10n * USDC, lamports: -rent },
    });
    await w.rejects([giveBack(w)], [], 'CollateralNotReturnable');
  });

  it('keeps the deposit for an execution that opened in the second of the delisting and is disputed last', async () => {
    const longest = 3_600;
    const rent = w.vm.rent(TOKEN_BYTES);
    await w.must([reprice(w, { timeoutSeconds: longest })], [w.creator]);
    const input = w.openInput({ listingVersion: 2, timeoutSeconds: longest });
    await w.must([program.openExecution(input), delist(w)], [w.caller, w.creator]);
    const last = w.execution(input.nonce, input.caller, NO_KEY, input.payer);
    const settledAt = START + 3_600n + 600n - 1n;
    await w.vm.setClock(settledAt);
    await w.must([w.settleInstruction(last)], [w.relay]);
    await w.vm.setClock(settledAt + WINDOW - 1n);
    await w.rejects([giveBack(w), dispute(w, last)], [w.caller], 'CollateralNotReturnable');
    await w.must([dispute(w, last)], [w.caller]);
    await w.vm.setClock(START + SPAN);
    await w.rejects([giveBack(w)], [], 'DisputesOpen');
    await w.moves([uphold(w, last, PRICE), giveBack(w)], [w.admin], {
      caller: { usdc: PRICE, lamports: BOND },
      creator: { usdc: 10n * USDC - PRICE, lamports: rent },
      vault: { usdc: -10n * USDC, lamports: -rent },
    });
  });
});
