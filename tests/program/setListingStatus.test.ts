/** set_listing_status switches between Active and Paused, which does not affect running executions. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { GAS_LAMPORTS, useWorld } from '../harness/vm/world.ts';

describe('set_listing_status', () => {
  const w = useWorld();

  const set = (status: program.ListingStatus, creator = w.creator.publicKey) =>
    program.setListingStatus({ creator, listing: w.listing, status });

  it('pauses and resumes, and changes nothing else', async () => {
    const before = await w.read('AgentListing', w.listing);
    for (const [status, number] of [
      ['paused', 1],
      ['active', 0],
    ] as const) {
      const outcome = await w.moves([set(status)], [w.creator], {});
      expect(plain(await w.read('AgentListing', w.listing))).to.deep.equal(plain({ ...before, status }));
      expect(plain(outcome.events)).to.deep.equal([
        { name: 'ListingStatusChanged', data: { listing: w.listing.toBase58(), status: number } },
      ]);
    }
  });

  it('stops new executions, while a running one still settles', async () => {
    const execution = await w.open();
    await w.must([set('paused')], [w.creator]);
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ListingNotActive');
    await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'ListingNotActive');
    w.track(execution);
    const to = { caller: { lamports: w.vm.rent(165) }, relay: { lamports: GAS_LAMPORTS } };
    await w.moves([w.settleInstruction(execution)], [w.relay], w.endingOf('settle', to));
    await w.must([set('active')], [w.creator]);
    await w.open();
  });

  it('rejects: the current status', async () => {
    await w.rejects([set('active')], [w.creator], 'InvalidListingTransition');
    await w.must([set('paused')], [w.creator]);
    await w.rejects([set('paused')], [w.creator], 'InvalidListingTransition');
  });

  it('rejects: delisting, which has its own instruction, and a return from it', async () => {
    await w.rejects([set('delisted')], [w.creator], 'InvalidListingTransition');
    await w.overwrite('AgentListing', w.listing, { status: 'delisted' });
    await w.rejects([set('active')], [w.creator], 'InvalidListingTransition');
    await w.rejects([set('paused')], [w.creator], 'InvalidListingTransition');
  });

  it('rejects: resuming below the collateral that the price requires; pausing requires none', async () => {
    const collateral = program.findCollateral(w.listing);
    await w.overwrite('CreatorCollateral', collateral, { slashed: 1n });
    await w.must([set('paused')], [w.creator]);
    await w.rejects([set('active')], [w.creator], 'CollateralBelowTier');
    await w.overwrite('CreatorCollateral', collateral, { slashed: 0n });
    await w.must([set('active')], [w.creator]);
  });
});
