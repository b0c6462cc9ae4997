/** Changes by the admin and a key's wallet, creators' badges, closing of accounts by anybody, and refusals of all others. */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { GRANT_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { FEE, GAS_LAMPORTS, PRICE, useWorld } from '../harness/vm/world.ts';

describe('settings, grants and closing', () => {
  const w = useWorld();

  const update = (change: Omit<program.UpdateConfigInput, 'admin'>, admin = w.admin) =>
    program.updateConfig({ admin: admin.publicKey, ...change });
  const config = () => w.read('Config', program.findConfig());

  it('changes only the named settings; open executions keep their fee, and the longest span never shrinks', async () => {
    const run = await w.open();
    const before = await config();
    await w.must([update({ feeBps: 0, disputeWindowSeconds: 300_000 })], [w.admin]);
    const span = 300_000 + 600 + 3_600;
    expect(await config()).to.include({ feeBps: 0, disputeWindowSeconds: 300_000, longestSpanSeconds: span });
    expect(await config()).to.include({ minPrice: before.minPrice, maxTimeoutSeconds: before.maxTimeoutSeconds });
    await w.must([update({ disputeWindowSeconds: 259_200 })], [w.admin]);
    expect(await config()).to.include({ longestSpanSeconds: span });
    await w.moves([w.settleInstruction(run)], [w.relay], {
      creator: { usdc: PRICE - FEE },
      treasury: { usdc: FEE },
      caller: { lamports: w.vm.rent(165) },
      relay: { lamports: GAS_LAMPORTS },
    });
  });

  it('pauses opens while settles continue, and lowers the longest timeout for earlier listings', async () => {
    const run = await w.open();
    const pause = (isPaused: boolean) => program.setPause({ authority: w.admin.publicKey, isPaused });
    await w.must([pause(true)], [w.admin]);
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'OpensPaused');
    await w.must([w.settleInstruction(run)], [w.relay]);
    await w.must([pause(false), update({ maxTimeoutSeconds: 60 })], [w.admin]);
    await w.open({ timeoutSeconds: 60 });
    await w.overwrite('AgentListing', w.listing, { timeoutSeconds: 61 });
    await w.rejects([program.openExecution(w.openInput({ timeoutSeconds: 61 }))], [w.caller], 'TimeoutOutOfRange');
  });

  it('rejects: settings out of bounds, and anybody but the admin', async () => {
    const refused: [Omit<program.UpdateConfigInput, 'admin'>, string][] = [
      // The bounds are those of initialize_config.
      [{ feeBps: 101 }, 'FeeOutOfBounds'],
      [{ exposureMultiple: 1_001 }, 'ExposureMultipleOutOfBounds'],
      [{ tiers: [{ maxPrice: 10_000_000_001n, deposit: 1n }] }, 'InvalidTiers'],
      [{ tiers: [{ maxPrice: 10_000_000_000n, deposit: 100_000_000_001n }] }, 'InvalidTiers'],
    ];
    for (const [change, error] of refused) await w.rejects([update(change)], [w.admin], error);
    await w.rejects([update({ feeBps: 1 }, w.relay)], [w.relay], 'NotAdmin');
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
    const change = (wallet = w.caller) => program.updateGrant({ wallet: wallet.publicKey, keyId: w.keyId, limits });
    const close = (rentSponsor = w.caller.publicKey) =>
      program.closeGrant({ wallet: w.caller.publicKey, keyId: w.keyId, rentSponsor });
    await w.openWithGrant();
    await w.must([change()], [w.caller]);
    await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'GrantTotalExceeded');
    const stranger = change();
    stranger.keys[0]!.pubkey = w.stranger.publicKey;
    await w.rejects([stranger], [w.stranger], 'NotGrantWallet');
    await w.rejects([close()], [w.caller], 'GrantInUse');
    await w.vm.setClock(START + 1n);
    await w.rejects([close(w.stranger.publicKey)], [w.caller], 'WrongRentSponsor');
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
