/** Forfeited collateral: when it goes to the treasury, who can stop that, and that no side's frozen account stops another. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, PRICE, USDC, useWorld } from '../harness/vm/world.ts';
import {
  BOND,
  claim,
  delist,
  dispute,
  disputed,
  freeze,
  give,
  giveBack,
  lapse,
  reject,
  SPAN,
  settled,
  thaw,
  uphold,
} from './exploits/acts.ts';

const TAKEN = 5n * USDC;
const FORFEITED = TAKEN - PRICE;

describe('forfeits', () => {
  const w = useWorld();
  let run: Execution;

  beforeEach(async () => {
    await w.overwrite('Config', program.findConfig(), { guardian: w.stranger.publicKey });
    run = await disputed(w);
  });

  const book = () => w.read('CreatorCollateral', program.findCollateral(w.listing));
  const sweep = () => program.sweepForfeits({ listing: w.listing, rentSponsor: w.creator.publicKey });
  const slash = () => w.must([uphold(w, run, TAKEN)], [w.admin]);
  const swept = { treasury: { usdc: FORFEITED }, vault: { usdc: -FORFEITED } };
  const pause = (isPaused: boolean) =>
    w.must([program.setPause({ authority: w.stranger.publicKey, isPaused })], [w.stranger]);

  it('go to the treasury by anyone, one longest span after the last upheld dispute, once', async () => {
    await w.rejects([sweep()], [], 'NothingForfeited');
    await slash();
    await w.vm.setClock(START + SPAN - 1n);
    await w.rejects([sweep()], [], 'ForfeitsNotSweepable');
    await w.vm.setClock(START + SPAN);
    // The admin's pause does not stop it.
    await w.must([program.setPause({ authority: w.admin.publicKey, isPaused: true })], [w.admin]);
    const { events } = await w.moves([sweep()], [], swept);
    expect(events[0]?.data).to.deep.include({ listing: w.listing, amount: FORFEITED, vaultClosed: false });
    expect(await book()).to.include({ deposited: 10n * USDC, slashed: TAKEN, forfeited: 0n });
    await w.rejects([sweep()], [], 'NothingForfeited');
  });

  it('wait for open disputes, and anew after each upheld one', async () => {
    const second = await disputed(w);
    const third = await settled(w);
    await slash();
    await w.vm.setClock(START + SPAN - 10_000n);
    await w.must([uphold(w, second, 1n)], [w.admin]);
    await w.vm.setClock(START + SPAN);
    await w.rejects([sweep()], [], 'ForfeitsNotSweepable');
    await w.overwrite('ExecutionRecord', third.record, { disputeWindowSeconds: 2_592_000 });
    await w.must([dispute(w, third)], [w.caller]);
    await w.vm.setClock(START + 2n * SPAN);
    await w.rejects([sweep()], [], 'DisputesOpen');
    await w.must([reject(w, third)], [w.admin]);
    await w.moves([sweep()], [], swept);
  });

  it('do not count for the tier or for exposure', async () => {
    await w.must([program.updateConfig({ admin: w.admin.publicKey, exposureMultiple: 1 })], [w.admin]);
    await slash();
    expect(await w.read('AgentListing', w.listing)).to.include({ status: 'paused' });
    const resume = program.setListingStatus({ creator: w.creator.publicKey, listing: w.listing, status: 'active' });
    await w.rejects([resume], [w.creator], 'CollateralBelowTier');
    const tiers = [{ maxPrice: 10n * USDC, deposit: TAKEN }];
    await w.must([program.updateConfig({ admin: w.admin.publicKey, tiers }), resume], [w.admin, w.creator]);
    await w.overwrite('CreatorCollateral', program.findCollateral(w.listing), { exposureOpened: TAKEN - PRICE });
    await w.open();
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ExposureLimitReached');
  });

  it('go to the treasury with the return of the collateral, which a lapsed dispute allows too', async () => {
    const second = await disputed(w);
    await slash();
    await w.must([delist(w)], [w.creator]);
    await w.vm.setClock(START + 2_592_000n);
    await w.must([lapse(w, second)], []);
    const rent = w.vm.rent(TOKEN_BYTES);
    const { events } = await w.moves([giveBack(w)], [], {
      creator: { usdc: 10n * USDC - TAKEN, lamports: rent },
      treasury: { usdc: FORFEITED },
      vault: { usdc: PRICE - 10n * USDC, lamports: -rent },
    });
    const parts = { amount: 10n * USDC - TAKEN, toTreasury: FORFEITED, owed: 0n, forfeited: 0n, vaultClosed: true };
    expect(events[0]?.data).to.include(parts);
  });

  const treasury = program.findTreasury();
  for (const [why, stop, go, error] of [
    ['the guardian pauses', () => pause(true), () => pause(false), 'TreasuryPaused'],
    ['the treasury is frozen', () => freeze(w, treasury), () => thaw(w, treasury), 'DestinationUnusable'],
  ] as const) {
    it(`stay in the vault while ${why}, and the creator gets the rest all the same`, async () => {
      await slash();
      await w.must([delist(w)], [w.creator]);
      await w.vm.setClock(START + SPAN);
      await stop();
      await w.moves([giveBack(w)], [], {
        creator: { usdc: 10n * USDC - TAKEN },
        vault: { usdc: TAKEN - 10n * USDC },
      });
      expect(await book()).to.include({ returned: true, forfeited: FORFEITED });
      await w.rejects([giveBack(w)], [], 'CollateralNotReturnable');
      await w.rejects([sweep()], [], error);
      await go();
      const rent = w.vm.rent(TOKEN_BYTES);
      await w.moves([sweep()], [], {
        creator: { lamports: rent },
        treasury: { usdc: FORFEITED },
        vault: { usdc: -FORFEITED, lamports: -rent },
      });
    });
  }

  it("are swept from a delisted agent's vault while its creator's account is frozen", async () => {
    await w.vm.setClock(START + 1_000n);
    await w.must([delist(w)], [w.creator]);
    await w.vm.setClock(START + 2_000n);
    await slash();
    await freeze(w, w.payout);
    await w.vm.setClock(START + 1_000n + SPAN - 1n);
    await w.rejects([sweep()], [], 'ForfeitsNotSweepable');
    await w.vm.setClock(START + 1_000n + SPAN);
    await w.rejects([giveBack(w)], [], 'DestinationUnusable');
    await w.moves([sweep()], [], swept);
  });

  it('leave an award that is owed in the vault, which pays only what it owes', async () => {
    const other = await disputed(w);
    await freeze(w, w.wallet(w.caller));
    await w.moves([uphold(w, run, TAKEN), uphold(w, other, PRICE)], [w.admin], { caller: { lamports: 2n * BOND } });
    await w.vm.setClock(START + SPAN);
    await w.moves([sweep()], [], swept);
    await w.must([delist(w)], [w.creator]);
    await w.vm.setClock(START + 2n * SPAN);
    await w.moves([giveBack(w)], [], {
      creator: { usdc: 10n * USDC - TAKEN - PRICE },
      vault: { usdc: TAKEN + PRICE - 10n * USDC },
    });
    await thaw(w, w.wallet(w.caller));
    await w.moves([claim(w, run, w.stranger)], [w.stranger], { caller: { usdc: PRICE }, vault: { usdc: -PRICE } });
    const rent = w.vm.rent(TOKEN_BYTES);
    await w.moves([claim(w, other, w.stranger)], [w.stranger], {
      caller: { usdc: PRICE },
      creator: { lamports: rent },
      vault: { usdc: -PRICE, lamports: -rent },
    });
  });

  it("return dust that stopped the close of the last award's vault to the creator", async () => {
    await freeze(w, w.wallet(w.caller));
    await w.must([uphold(w, run, PRICE), delist(w)], [w.admin, w.creator]);
    await w.vm.setClock(START + SPAN);
    await w.moves([giveBack(w)], [], {
      creator: { usdc: 10n * USDC - PRICE },
      vault: { usdc: PRICE - 10n * USDC },
    });
    await w.must([give(w, w.stranger, program.findCollateralVault(w.listing), 7n)], [w.stranger]);
    await thaw(w, w.wallet(w.caller));
    const rent = w.vm.rent(TOKEN_BYTES);
    await w.moves([claim(w, run, w.stranger)], [w.stranger], {
      caller: { usdc: PRICE },
      vault: { usdc: -PRICE },
    });
    await w.moves([giveBack(w)], [], {
      creator: { usdc: 7n, lamports: rent },
      vault: { usdc: -7n, lamports: -rent },
    });
  });
});
