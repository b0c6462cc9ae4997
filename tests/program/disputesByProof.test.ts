import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { findCallerPda, relayed } from '../harness/vm/caller.ts';
import { DISPUTE_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, NO_KEY, NO_LIMIT, PRICE, USDC, useWorld } from '../harness/vm/world.ts';
import { growingTree, type Leaf, leavesOf, proofsOf, ripe, TestArchive } from './archiving.ts';
import { AWARDED, BOND, dispute, ENDED, LAPSE, reject, secondAgent, settled, swap, uphold } from './exploits/acts.ts';

/** The dispute window of these executions: ten times the age at which they are archived. */
const WINDOW = 2_592_000n;
/** Compute units of a dispute by a leaf, with its proof. */
const MOST_UNITS = 50_000;

describe('open_dispute_with_proof', () => {
  const w = useWorld({ config: { disputeWindowSeconds: Number(WINDOW) } });
  let archive: TestArchive;
  let leaves: Leaf[];

  beforeEach(async () => {
    archive = await new TestArchive(w).create();
    leaves = [];
  });

  /** Archives these executions as soon as they are old enough. */
  const archives = async (...runs: Execution[]): Promise<void> => {
    if (w.vm.now < START + ENDED) await w.vm.setClock(START + ENDED);
    leaves.push(...(await leavesOf(w, runs)));
    await w.must([archive.archive(runs)], []);
  };
  /** A dispute by the leaf of this index, as the tree is now. */
  const byLeaf = (index = 0, change: Partial<program.OpenDisputeWithProofInput> = {}) => {
    const place = { archiveIndex: archive.index, tree: archive.tree.publicKey, leafIndex: index };
    const evidence = { evidenceHash: new Uint8Array(32).fill(2), evidenceUri: '', maxBond: NO_LIMIT };
    const { execution } = leaves[index]!;
    const { proof } = proofsOf(leaves)[index]!;
    return program.openDisputeWithProof({
      ...{ ...place, ...evidence, execution, proof, payer: w.caller.publicKey },
      ...change,
    });
  };
  const book = () => w.read('CreatorCollateral', program.findCollateral(w.listing));
  const cost = () => ({ lamports: -(w.vm.rent(DISPUTE_BYTES) + BOND) });

  it('takes rent and bond, reserves the collateral, and pays an upheld award in full without a record', async () => {
    const run = await settled(w);
    await archives(run);
    const outcome = await w.moves([byLeaf()], [w.caller], { caller: cost() });
    expect(outcome.computeUnits).to.be.at.most(MOST_UNITS);
    const address = program.findDispute(run.record);
    const { execution } = leaves[0]!;
    const told = { record: run.record, executionId: run.executionId, listing: w.listing, caller: run.caller };
    const { price } = execution;
    expect(await w.read('Dispute', address)).to.deep.include({ ...told, price, outcome: 'open', bond: BOND });
    expect(outcome.events[0]).to.deep.include({ name: 'DisputeOpened' });
    expect(outcome.events[0]!.data).to.deep.include({ ...told, dispute: address, price });
    expect(await book()).to.include({ openDisputes: 1 });
    await w.moves([uphold(w, run, 2n * PRICE)], [w.admin], AWARDED);
    expect(await book()).to.include({ openDisputes: 0, slashed: 2n * PRICE, forfeited: PRICE });
    await w.vm.setClock(w.vm.now + LAPSE);
    const lamports = w.vm.rent(DISPUTE_BYTES);
    await w.moves([program.closeDispute({ ...run, rentSponsor: w.caller.publicKey })], [], { caller: { lamports } });
  });

  it('disputes once: by the leaf after the record, by the record after the leaf, and twice by the leaf', async () => {
    const [first, second] = [await settled(w), await settled(w)];
    await w.must([dispute(w, first)], [w.caller]);
    await archives(first, second);
    await w.rejects([byLeaf(0)], [w.caller], 'DisputeExists');
    await w.must([reject(w, first)], [w.admin]);
    await w.rejects([byLeaf(0)], [w.caller], 'DisputeExists');
    await w.must([byLeaf(1)], [w.caller]);
    await w.rejects([dispute(w, second)], [w.caller], 'AccountNotInitialized');
    await w.rejects([byLeaf(1)], [w.caller], 'DisputeExists');
    // The address of the dispute can be free again only when the window has closed.
    const close = program.closeDispute({ ...first, rentSponsor: w.caller.publicKey });
    await w.vm.setClock(START + WINDOW - 1n);
    await w.rejects([close], [], 'CloseTooEarly');
    await w.vm.setClock(START + ENDED + LAPSE);
    await w.must([close], []);
    await w.rejects([byLeaf(0)], [w.caller], 'DisputeWindowClosed');
  });

  it('is refused for a record that still exists, and by its record once it was archived in the meantime', async () => {
    const run = await settled(w);
    const byRecord = dispute(w, run);
    const [other] = await ripe(w, 1);
    await archives(other!);
    leaves.push(...(await leavesOf(w, [run])));
    await w.rejects([byLeaf(1)], [w.caller], 'ArchiveProofInvalid');
    leaves.pop();
    await archives(run);
    await w.rejects([byRecord], [w.caller], 'AccountNotInitialized');
    await w.moves([byLeaf(1)], [w.caller], { caller: cost() });
  });

  it('is open until the last second of the window of the settle', async () => {
    const [first, second] = [await settled(w), await settled(w)];
    await archives(first, second);
    await w.vm.setClock(START + WINDOW - 1n);
    await w.moves([byLeaf(0)], [w.caller], { caller: cost() });
    await w.vm.setClock(START + WINDOW);
    await w.rejects([byLeaf(1)], [w.caller], 'DisputeWindowClosed');
  });

  it('rejects: a leaf with any other field, caller, agent, id or index', async () => {
    const [run, next] = [await settled(w), await settled(w)];
    const { listing } = await secondAgent(w);
    await archives(run, next);
    const { execution } = leaves[0]!;
    const lies: Partial<program.ExecutionRecord>[] = [
      ...[{ price: PRICE + 1n }, { price: 10n * USDC }, { settledAt: execution.settledAt + 1n }],
      ...[{ disputeWindowSeconds: Number(WINDOW) + 1 }, { listing }, { resultHash: new Uint8Array(32) }],
      ...[{ requestHash: new Uint8Array(32).fill(1) }, { executionId: next.executionId }],
      ...[{ rentSponsor: w.stranger.publicKey }, { feeBps: 0 }],
    ];
    for (const lie of lies) {
      await w.rejects([byLeaf(0, { execution: { ...execution, ...lie } })], [w.caller], 'ArchiveProofInvalid');
    }
    const { stranger } = w;
    const theirs = { execution: { ...execution, caller: stranger.publicKey }, payer: stranger.publicKey };
    await w.rejects([byLeaf(0, theirs)], [stranger], 'ArchiveProofInvalid');
    for (const leafIndex of [1, 2, 2 ** 20, 2 ** 20 + 1, 2 ** 32 - 1]) {
      await w.rejects([byLeaf(0, { leafIndex })], [w.caller], 'ArchiveProofInvalid');
    }
  });

  it("rejects: a proof of another tree, and another agent's collateral", async () => {
    const run = await settled(w);
    await archives(run);
    await archive.setCount(program.constants.archiveSuccessorCount);
    const next = await new TestArchive(w, 1).create();
    const place = { archiveIndex: 1, tree: next.tree.publicKey };
    await w.rejects([byLeaf(0, place)], [w.caller], 'ArchiveProofInvalid');
    const { listing } = await secondAgent(w);
    const collateral = program.findCollateral(listing);
    await w.rejects([swap(byLeaf(0), { collateral })], [w.caller], 'ArchiveProofInvalid');
  });

  it('accepts a proof that is 63 leaves old, and refuses an older one of a block that is not full', async () => {
    const { record } = await settled(w);
    await w.vm.setClock(START + ENDED);
    const tree = await growingTree(archive, record);
    leaves = tree.leaves;
    await tree.grow(2);
    const [old, older] = [byLeaf(0), byLeaf(1)];
    await tree.grow(65);
    await w.moves([old], [w.caller], { caller: cost() });
    // The last change of a sibling of this leaf is now older than those that the tree keeps.
    await tree.grow(68);
    await w.rejects([older], [w.caller], 'ArchiveProofInvalid');
    await w.moves([byLeaf(1)], [w.caller], { caller: cost() });
  });

  it('rejects: a bond above what the caller agreed to, and a URI that is too long', async () => {
    await archives(await settled(w));
    await w.rejects([byLeaf(0, { maxBond: BOND - 1n })], [w.caller], 'BondAboveMax');
    await w.rejects([byLeaf(0, { evidenceUri: 'x'.repeat(201) })], [w.caller], 'UriTooLong');
  });

  it('fits one transaction for an address of another program that pays by its own, and pays it its award', async () => {
    const pda = findCallerPda();
    const payer = w.stranger.publicKey;
    w.vm.setWallet(pda, w.usdcMint, 10n * USDC);
    w.watch('pda', w.wallet(pda));
    const input = w.openInput({ caller: pda, payer });
    await w.must([relayed(program.openExecution(input))], [w.stranger]);
    const run = w.execution(input.nonce, pda, NO_KEY, payer);
    await w.must([w.settleInstruction(run)], [w.relay]);
    await archives(run);
    const instruction = relayed(byLeaf(0, { payer, evidenceUri: 'x'.repeat(200) }));
    const { bytes } = await w.moves([instruction], [w.stranger], { stranger: cost() });
    expect(bytes).to.be.at.most(1_232);
    const answer = uphold(w, run, PRICE, { rentSponsor: payer });
    await w.moves([answer], [w.admin], {
      pda: { usdc: PRICE },
      stranger: { lamports: BOND },
      vault: { usdc: -PRICE },
    });
  });
});
