/** What the tests of unclaimed refunds share: an archive, moves of refunds into it, and claims by its leaves. */
import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { type Execution, PRICE, type World, world } from '../harness/vm/world.ts';
import { proofsOfHashes, TestArchive, unclaimedHash } from './archiving.ts';

export const HOUR = 3_600n;
export const CLAIM_BYTES = 0;
/** Lends rent, and gets it back. */
export const lender = namedKeypair('lender').publicKey;
export const unclaimed = program.findUnclaimed();

/** Before each test, a new world and an empty archive. */
export function useUnclaimed() {
  /** `hashes` are those of the tree's leaves in order. */
  const kit = {} as { w: World; archive: TestArchive; hashes: Buffer[] };
  beforeEach(async () => {
    const w = await world();
    Object.assign(kit, { w, archive: await new TestArchive(w).create(), hashes: [] });
    await w.vm.airdrop(lender, 1_000_000n);
    w.watch('lender', lender);
    w.watch('unclaimed', unclaimed);
  });

  const place = () => ({ archiveIndex: kit.archive.index, tree: kit.archive.tree.publicKey });
  const opened = async () => kit.w.track(await kit.w.openWithGrant({ rentSponsor: lender }));
  const move = (run: Execution, by: Keypair = kit.w.stranger) => {
    const input = { ...run, ...place(), authority: by.publicKey, usdcMint: kit.w.usdcMint };
    return program.moveUnclaimedRefund({ ...input, reason: 'creatorFailed' });
  };
  /** Moves it, and keeps the leaf. */
  const moved = async (run: Execution, amount = PRICE): Promise<program.UnclaimedRefund> => {
    await kit.w.must([move(run)], [kit.w.stranger]);
    return kept(run.record, run.caller, amount);
  };
  const kept = (source: PublicKey, caller: PublicKey, amount: bigint): program.UnclaimedRefund => {
    const refund = { source, caller, amount, unclaimedAt: kit.w.vm.now };
    kit.hashes.push(unclaimedHash(refund));
    return refund;
  };
  const claim = (
    refund: program.UnclaimedRefund,
    leafIndex = 0,
    change: Partial<program.ClaimRefundInput> = {},
  ): TransactionInstruction => {
    const { proof } = proofsOfHashes(kit.hashes)[leafIndex]!;
    const input = { refund, leafIndex, proof, payer: refund.caller, destination: kit.w.wallet(refund.caller) };
    return program.claimRefund({ ...input, ...place(), ...change });
  };
  const remade = (owner = kit.w.caller, to = kit.w.usdcMint) =>
    createAssociatedTokenAccountIdempotentInstruction(
      kit.w.stranger.publicKey,
      kit.w.wallet(owner),
      owner.publicKey,
      to,
    );
  return Object.assign(kit, { place, opened, move, moved, kept, claim, remade });
}
