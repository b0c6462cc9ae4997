/** Changes by the admin and a key's wallet, creators' badges, closing of accounts by anybody, and refusals of all others. */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { GRANT_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { FEE, PRICE, USDC, useWorld } from '../harness/vm/world.ts';
import { REFUND_AFTER } from './exploits/acts.ts';

describe('settings, grants and closing', () => {
  const w = useWorld();

  const update = (change: Omit<program.UpdateConfigInput, 'admin'>) =>
    program.updateConfig({ admin: w.admin.publicKey, ...change });
  const config = () => w.read('Config', program.findConfig());

  it('changes only the named settings, and the longest span never shrinks', async () => {
    const before = await config();
    await w.must([update({ feeBps: 0, disputeWindowSeconds: 300_000 })], [w.admin]);
    const span = 300_000 + 600 + 3_600;
    expect(await config()).to.include({ feeBps: 0, disputeWindowSeconds: 300_000, longestSpanSeconds: span });
    expect(await config()).to.include({ minPrice: before.minPrice, maxTimeoutSeconds: before.maxTimeoutSeconds });
    await w.must([update({ disputeWindowSeconds: 259_200 })], [w.admin]);
    expect(await config()).to.include({ longestSpanSeconds: span });
  });

  it('changes neither fees nor refund times of executions that are open', async () => {
    const [second, run] = [await w.openWithGrant(), w.track(await w.openWithGrant())];
    await w.must([update({ feeBps: 0, refundGraceSeconds: 300, maxTimeoutSeconds: 60, minPrice: USDC })], [w.admin]);
    await w.vm.setClock(START + 400n);
    const early = w.refundInstruction(second, { authority: w.stranger.publicKey });
    await w.rejects([early], [w.stranger], 'RefundTooEarly');
    await w.moves([w.settleInstruction(run)], [w.relay], w.endingOf('settle'));
    await w.must([update({ refundGraceSeconds: 3_600 })], [w.admin]);
    await w.vm.setClock(START + REFUND_AFTER);
    await w.rejects([w.settleInstruction(second)], [w.relay], 'SettleWindowClosed');
    await w.must([early], [w.stranger]);
  });

  it('lowers the longest timeout for earlier listings, while executions with a longer one still settle', async () => {
    const run = await w.open();
    await w.must([update({ maxTimeoutSeconds: 60 })], [w.admin]);
    await w.must([w.settleInstruction(run)], [w.relay]);
    await w.open({ timeoutSeconds: 60 });
    await w.overwrite('AgentListing', w.listing, { timeoutSeconds: 61 });
    await w.rejects([program.openExecution(w.openInput({ timeoutSeconds: 61 }))], [w.caller], 'TimeoutOutOfRange');
  });

  it('rejects: settings out of bounds', async () => {
    const refused: [Omit<program.UpdateConfigInput, 'admin'>, string][] = [
      // The bounds are those of initialize_config.
      [{ feeBps: 101 }, 'FeeOutOfBounds'],
      [{ exposureMultiple: 1_001 }, 'ExposureMultipleOutOfBounds'],
      [{ tiers: [{ maxPrice: 10_000_000_001n, deposit: 1n }] }, 'InvalidTiers'],
      [{ tiers: [{ maxPrice: 10_000_000_000n, deposit: 100_000_000_001n }] }, 'InvalidTiers'],
    ];
    for (const [change, error] of refused) await w.rejects([update(change)], [w.admin], error);
    const tiers = [{ maxPrice: 10_000_000_000n, deposit: 100_000_000_000n }];
    await w.must([update({ exposureMultiple: 1_000, tiers })], [w.admin]);
  });

  it('withdraws the exact fees, and none while the guardian has paused the marketplace', async () => {
    await w.must([w.settleInstruction(await w.open())], [w.relay]);
    const take = (amount: bigint, destination = w.wallet(w.stranger)) =>
      program.withdrawTreasury({ admin: w.admin.publicKey, destination, amount });
    await w.rejects([take(FEE + 1n)], [w.admin], 'InvalidAmount');
    await w.rejects([take(0n)], [w.admin], 'InvalidAmount');
    const falseMint = namedKeypair('counterfeit mint').publicKey;
    w.vm.setMint(falseMint, w.stranger.publicKey);
    for (const destination of [program.findTreasury(), w.vm.setWallet(w.admin.publicKey, falseMint, 0n)]) {
      await w.rejects([take(1n, destination)], [w.admin], 'DestinationUnusable');
    }
    await w.overwrite('Config', program.findConfig(), { guardianPaused: true });
    await w.rejects([take(FEE)], [w.admin], 'TreasuryPaused');
    await w.overwrite('Config', program.findConfig(), { guardianPaused: false, adminPaused: true });
    await w.moves([take(FEE)], [w.admin], { treasury: { usdc: -FEE }, stranger: { usdc: FEE } });
  });

  it("changes a grant's limits, even below its spend, and closes it one second after its last open", async () => {
    const limits = { ...w.grantInput().limits, totalMax: PRICE - 1n };
    const wallet = w.caller.publicKey;
    const close = () => program.closeGrant({ wallet, keyId: w.keyId, rentSponsor: wallet });
    await w.openWithGrant();
    await w.must([program.updateGrant({ wallet, keyId: w.keyId, limits })], [w.caller]);
    await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'GrantTotalExceeded');
    await w.rejects([close()], [w.caller], 'GrantInUse');
    await w.vm.setClock(START + 1n);
    await w.moves([close()], [w.caller], { caller: { lamports: w.vm.rent(GRANT_BYTES) } });
    expect(await w.vm.getAccount(program.findGrant(w.caller.publicKey, w.keyId))).to.equal(null);
  });
});

const PROFILE_BYTES = 8 + 3 + 32 + 8;

describe('set_creator_verified', () => {
  const w = useWorld();

  const instruction = (verified: boolean, change: Partial<program.SetCreatorVerifiedInput> = {}) => {
    const { admin, creator } = w;
    const input = { admin: admin.publicKey, payer: admin.publicKey, creator: creator.publicKey, verified };
    return program.setCreatorVerified({ ...input, ...change });
  };

  it('grants the badge, paid by the payer, removes it, and grants it again with the latest time', async () => {
    const rent = w.vm.rent(PROFILE_BYTES);
    const pays = { relay: { lamports: -rent } };
    await w.moves([instruction(true, { payer: w.relay.publicKey })], [w.admin, w.relay], pays);
    const seeds = [Buffer.from('creator'), w.creator.publicKey.toBytes()];
    const [address, bump] = PublicKey.findProgramAddressSync(seeds, program.PROGRAM_ID);
    const profile = async () => plain(await w.read('CreatorProfile', address));
    const shown = { version: 1, bump, verified: true, creator: w.creator.publicKey.toBase58(), verifiedAt: START };
    expect(await profile()).to.deep.equal(shown);
    await w.moves([instruction(false)], [w.admin], {});
    expect(await profile()).to.deep.equal({ ...shown, verified: false, verifiedAt: 0n });
    await w.vm.setClock(START + 100n);
    await w.must([instruction(true)], [w.admin]);
    expect(await profile()).to.deep.equal({ ...shown, verifiedAt: START + 100n });
  });
});
