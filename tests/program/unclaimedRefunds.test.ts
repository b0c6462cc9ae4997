/**
 * Refunds that their callers' accounts cannot receive: moved to one account of the program, with all rent back at its
 * lenders, and claimed once each by their leaves.
 */
import { type PublicKey, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { TOKEN_PROGRAM_ID } from '../../app/sdk/program/token.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { GAS, GAS_LAMPORTS, PRICE, type World } from '../harness/vm/world.ts';
import { leavesOf, proofsOfHashes, ripe, TestArchive } from './archiving.ts';
import { emptyAndClose, freeze, give, thaw, tip } from './exploits/acts.ts';
import { CLAIM_BYTES, HOUR, lender, unclaimed, useUnclaimed } from './unclaimed.ts';

const REFUND_AT = START + 660n;
const DUE = REFUND_AT + HOUR;
/** Compute units of a claim with its proof. */
const MOST_UNITS = 60_000;

describe('unclaimed refunds:', () => {
  const kit = useUnclaimed();
  const { place, opened, move, moved, kept, claim, remade } = kit;
  let w: World;
  beforeEach(() => {
    w = kit.w;
  });

  /** A refund that was moved because its caller's account was frozen. The account works again. */
  const movedWhileFrozen = async () => {
    const run = await opened();
    await freeze(w, w.wallet(w.caller));
    await w.vm.setClock(DUE);
    const refund = await moved(run);
    await thaw(w, w.wallet(w.caller));
    return refund;
  };

  it('moves an execution’s price, ends the record, and returns the escrow’s rent to its lender', async () => {
    const run = await opened();
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE);
    const before = await w.read('ExecutionRecord', run.record);
    const { events } = await w.moves([move(run)], [w.stranger], {
      unclaimed: { usdc: PRICE },
      lender: { lamports: w.vm.rent(TOKEN_BYTES) },
      gasBalance: { lamports: GAS_LAMPORTS },
      ...w.emptied(),
    });
    const leaf = { archive: kit.archive.address, tree: kit.archive.tree.publicKey, leafIndex: 0 };
    const told = { amount: PRICE, reason: 5, grantRestored: true, gasLamports: GAS, unclaimed: leaf };
    expect(plain(events[0]?.data)).to.deep.include(plain(told) as object);
    expect(plain(await w.read('ExecutionRecord', run.record))).to.deep.equal(
      plain({ ...before, status: 'refunded', settledAt: DUE }),
    );
    expect(await w.read('CreatorCollateral', program.findCollateral(w.listing))).to.include({ exposureOpened: 0n });
    const grant = await w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId));
    expect(grant).to.include({ totalSpent: 0n, periodSpent: 0n });
    expect(await kit.archive.read()).to.include({ count: 1 });
    await w.rejects([move(run)], [w.stranger], 'ExecutionNotOpen');
    await w.rejects([w.refundInstruction(run)], [w.relay], 'RefundDestinationUnusable');
    const refund = kept(run.record, run.caller, PRICE);
    expect(await kit.archive.splTree().then((tree) => tree.getCurrentRoot())).to.deep.equal(
      proofsOfHashes(kit.hashes)[0]!.root,
    );

    // The caller claims it once, to an account that exists again.
    await w.must([remade()], [w.stranger]);
    const address = program.findRefundClaim(kit.archive.tree.publicKey, 0);
    w.watch('claim', address);
    const claimed = await w.moves([claim(refund)], [w.caller], {
      unclaimed: { usdc: -PRICE },
      caller: { usdc: PRICE, lamports: -w.vm.rent(CLAIM_BYTES) },
      claim: { lamports: w.vm.rent(CLAIM_BYTES) },
    });
    expect(claimed.computeUnits).to.be.at.most(MOST_UNITS);
    expect(plain(claimed.events[0]?.data)).to.deep.include(plain({ leafIndex: 0, claimedAt: DUE, refund }) as object);
    await w.rejects([claim(refund)], [w.caller], 'RefundAlreadyClaimed');
  });

  it('moves the whole balance with what strangers sent, and pays the gas to a relay that moves', async () => {
    const run = await opened();
    await w.must([give(w, w.stranger, run.escrow, 7n)], [w.stranger]);
    await freeze(w, w.wallet(w.caller));
    await w.vm.setClock(DUE);
    const { events } = await w.moves([move(run, w.relay)], [w.relay], {
      unclaimed: { usdc: PRICE + 7n },
      lender: { lamports: w.vm.rent(TOKEN_BYTES) },
      relay: { lamports: GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE - 7n, lamports: -w.vm.rent(TOKEN_BYTES) },
    });
    expect(events[0]!.data).to.include({ reason: 0, amount: PRICE + 7n });
    const refund = kept(run.record, run.caller, PRICE + 7n);
    // A frozen account takes nothing; another of the caller does.
    await w.rejects([claim(refund)], [w.caller], 'DestinationUnusable');
    const other = namedKeypair('other account').publicKey;
    w.vm.setTokenAccount(other, { mint: w.usdcMint, owner: w.caller.publicKey });
    await w.must([claim(refund, 0, { destination: other })], [w.caller]);
    expect(await w.vm.tokens(other)).to.equal(PRICE + 7n);
    expect(await w.vm.tokens(unclaimed)).to.equal(0n);
  });

  it('rejects: a move before its time, of too much gas, or while the account can receive', async () => {
    const run = await opened();
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE - 1n);
    for (const who of [w.stranger, w.relay, w.caller]) await w.rejects([move(run, who)], [who], 'MoveTooEarly');
    await w.vm.setClock(DUE);
    const tooMuch = move(run, w.relay);
    // The gas is the last argument.
    tooMuch.data.writeUInt32LE(Number(GAS_LAMPORTS) + 1, tooMuch.data.length - 4);
    await w.rejects([tooMuch], [w.relay], 'GasAboveRecord');
    await w.must([remade()], [w.stranger]);
    await w.rejects([move(run)], [w.stranger], 'RefundDeliverable');
    w.vm.setTokenAccount(w.wallet(w.caller), { mint: w.usdcMint, owner: w.stranger.publicKey });
    await w.must([move(run)], [w.stranger]);
  });

  it('rejects: a move to a frozen account of unclaimed refunds, and to a full archive', async () => {
    const run = await opened();
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE);
    await freeze(w, unclaimed);
    await w.rejects([move(run)], [w.stranger], 'DestinationUnusable');
    await thaw(w, unclaimed);
    await kit.archive.setCount(program.constants.archiveCapacity);
    await w.rejects([move(run)], [w.stranger], 'ArchiveFull');
    kit.archive = await new TestArchive(w, 1).create();
    await w.must([move(run)], [w.stranger]);
  });

  it('is blocked by no lost grant, empty gas balance, frozen treasury or lender that cannot take the rent', async () => {
    const gasBalance = program.findSpender(w.caller.publicKey);
    const run = w.track(await w.openWithGrant({ rentSponsor: lender }));
    await emptyAndClose(w, w.caller);
    await freeze(w, program.findTreasury());
    w.vm.closeAccount(program.findGrant(w.caller.publicKey, w.keyId));
    w.vm.closeAccount(gasBalance);
    w.vm.setAccount(lender, { ...(await w.vm.getAccount(program.PROGRAM_ID))! });
    await w.vm.setClock(DUE);
    await w.moves([move(run)], [w.stranger], {
      unclaimed: { usdc: PRICE },
      escrow: { usdc: -PRICE, lamports: -w.vm.rent(TOKEN_BYTES) },
      record: { lamports: w.vm.rent(TOKEN_BYTES) },
    });
  });

  describe('attacks:', () => {
    it('excess rent: its caller can never withdraw lamports of an escrow, and a fall of rents gives it nothing', async () => {
      const run = await opened();
      // Instruction 38 of the token program: withdraw_excess_lamports, by the account's owner.
      const withdraw = (account: PublicKey) =>
        new TransactionInstruction({
          programId: TOKEN_PROGRAM_ID,
          keys: [
            { pubkey: account, isSigner: false, isWritable: true },
            { pubkey: w.caller.publicKey, isSigner: false, isWritable: true },
            { pubkey: w.caller.publicKey, isSigner: true, isWritable: false },
          ],
          data: Buffer.from([38]),
        });
      const own = w.wallet(w.caller);
      await w.must([tip(w.stranger, own, 7n)], [w.stranger]);
      await w.moves([withdraw(own)], [w.caller], { caller: { lamports: 7n } });
      await emptyAndClose(w, w.caller);
      await w.vm.setClock(DUE);
      const lent = w.vm.rent(TOKEN_BYTES);
      w.vm.setRent(696n);
      await w.rejects([withdraw(run.escrow)], [w.caller], 'token:4');
      await w.moves([move(run)], [w.stranger], {
        unclaimed: { usdc: PRICE },
        lender: { lamports: lent },
        gasBalance: { lamports: GAS_LAMPORTS },
        record: { lamports: -GAS_LAMPORTS },
        escrow: { usdc: -PRICE, lamports: -lent },
      });
      await w.rejects([withdraw(run.escrow)], [w.caller], 'token:13');
      expect(await w.vm.getAccount(run.escrow)).to.equal(null);
    });

    it('claims: a second time, by another, another’s leaf, changed fields, a wrong place or an old proof', async () => {
      const mine = await opened();
      const second = await w.openWithGrant({ rentSponsor: lender });
      await freeze(w, w.wallet(w.caller));
      await w.vm.setClock(DUE);
      const [refund, next] = [await moved(mine), await moved(second)];
      await thaw(w, w.wallet(w.caller));
      const lies: Partial<program.UnclaimedRefund>[] = [
        ...[{ amount: PRICE + 1n }, { amount: 2n * PRICE }, { amount: 0n }, { unclaimedAt: refund.unclaimedAt + 1n }],
        ...[{ source: second.record }, { source: mine.escrow }],
      ];
      for (const lie of lies) await w.rejects([claim({ ...refund, ...lie })], [w.caller], 'ArchiveProofInvalid');
      const thief = { ...refund, caller: w.stranger.publicKey };
      await w.rejects([claim(thief)], [w.stranger], 'ArchiveProofInvalid');
      const toThief = { destination: w.wallet(w.stranger) };
      await w.rejects([claim(refund, 0, toThief)], [w.caller], 'DestinationUnusable');
      for (const leafIndex of [1, 2, 2 ** 20, 2 ** 32 - 1]) {
        const { proof } = proofsOfHashes(kit.hashes)[0]!;
        const input = { refund, leafIndex, proof, payer: w.caller.publicKey, destination: w.wallet(w.caller) };
        await w.rejects([program.claimRefund({ ...input, ...place() })], [w.caller], 'ArchiveProofInvalid');
      }
      await w.moves([claim(refund)], [w.caller], {
        unclaimed: { usdc: -PRICE },
        caller: { usdc: PRICE, lamports: -w.vm.rent(CLAIM_BYTES) },
      });
      for (const index of [0, 1]) {
        const again = claim(refund, index, { proof: proofsOfHashes(kit.hashes)[0]!.proof });
        await w.rejects([again], [w.caller], index === 0 ? 'RefundAlreadyClaimed' : 'ArchiveProofInvalid');
      }
      await w.must([claim(next, 1)], [w.caller]);
      expect(await w.vm.tokens(unclaimed)).to.equal(0n);
    });

    it('claims: a paid execution’s leaf is no refund, a refund’s leaf is no execution, nor is one of another tree', async () => {
      const refunded = await opened();
      const [paid] = await ripe(w, 1);
      await freeze(w, w.wallet(w.caller));
      await w.vm.setClock(DUE);
      const [leaf] = await leavesOf(w, [paid!]);
      await w.must([kit.archive.archive([paid!])], []);
      kit.hashes.push(leaf!.hash);
      const refund = await moved(refunded);
      await thaw(w, w.wallet(w.caller));
      const { execution } = leaf!;
      const asRefund = { source: paid!.record, caller: execution.caller, amount: PRICE, unclaimedAt: 1n };
      await w.rejects([claim(asRefund, 0)], [w.caller], 'ArchiveProofInvalid');
      const dispute = program.openDisputeWithProof({
        ...{ ...place(), leafIndex: 1, proof: proofsOfHashes(kit.hashes)[1]!.proof, payer: w.caller.publicKey },
        ...{ execution: { ...execution, executionId: refunded.executionId } },
        ...{ evidenceHash: new Uint8Array(32), evidenceUri: '', maxBond: 2n ** 64n - 1n },
      });
      await w.rejects([dispute], [w.caller], 'ArchiveProofInvalid');
      await kit.archive.setCount(program.constants.archiveSuccessorCount);
      const next = await new TestArchive(w, 1).create();
      const elsewhere = { archiveIndex: 1, tree: next.tree.publicKey };
      await w.rejects([claim(refund, 1, elsewhere)], [w.caller], 'ArchiveProofInvalid');
    });

    it('lamports at the address of the claim stop no claim', async () => {
      const refund = await movedWhileFrozen();
      const address = program.findRefundClaim(kit.archive.tree.publicKey, 0);
      await w.must([tip(w.stranger, address, w.vm.rent(0))], [w.stranger]);
      await w.moves([claim(refund)], [w.caller], {
        unclaimed: { usdc: -PRICE },
        caller: { usdc: PRICE },
      });
      await w.rejects([claim(refund)], [w.caller], 'RefundAlreadyClaimed');
    });
  });

  it('a claim fits one transaction with two signers, a new account for it and both budget instructions', async () => {
    const refund = await movedWhileFrozen();
    await w.moves([remade(), claim(refund, 0, { payer: w.stranger.publicKey })], [w.stranger, w.caller], {
      unclaimed: { usdc: -PRICE },
      caller: { usdc: PRICE },
      stranger: { lamports: -w.vm.rent(CLAIM_BYTES) },
    });
  });
});
