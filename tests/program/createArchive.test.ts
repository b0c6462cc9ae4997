/** create_archive registers an empty tree, created by anyone, once, in the layout of SPL Account Compression. */
import { SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { readArchiveTree } from '../../app/sdk/program/archive.ts';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { useWorld } from '../harness/vm/world.ts';
import { CAPACITY, DEPTH, emptyNode, TestArchive } from './archiving.ts';

const ARCHIVE_BYTES = 8 + 1 + 1 + 2 + 32 + 4 + 8;
const TREE_BYTES = 109_752;

describe('create_archive', () => {
  const w = useWorld();
  let first: TestArchive;

  beforeEach(async () => {
    first = new TestArchive(w);
    w.watch('tree', first.tree.publicKey);
    w.watch('archive', first.address);
  });

  it('registers a tree that anyone created, empty, in the layout of SPL Account Compression', async () => {
    const [rent, treeRent] = [w.vm.rent(ARCHIVE_BYTES), w.vm.rent(TREE_BYTES)];
    await w.moves([...first.instructions()], [w.stranger, first.tree], {
      stranger: { lamports: -rent - treeRent },
      archive: { lamports: rent },
      tree: { lamports: treeRent },
    });
    const tree = first.tree.publicKey;
    const { bump, ...archive } = await first.read();
    expect(archive).to.deep.equal({ version: 1, index: 0, tree, count: 0, createdAt: START });
    const spl = await first.splTree();
    const shape = [spl.getMaxDepth(), spl.getMaxBufferSize(), spl.getCanopyDepth(), spl.getCurrentSeq().toNumber()];
    expect(shape).to.deep.equal([DEPTH, 64, 10, 0]);
    expect(spl.getAuthority().toBase58()).to.equal(first.address.toBase58());
    expect(spl.getCurrentRoot()).to.deep.equal(emptyNode(DEPTH));
    expect(plain(readArchiveTree(await first.treeData()))).to.deep.equal(
      plain({
        authority: first.address,
        creationSlot: BigInt(spl.getCreationSlot().toString()),
        count: 0,
        root: new Uint8Array(emptyNode(DEPTH)),
      }),
    );
  });

  it('rejects: a tree that is not new, of another size or program, or not rent-exempt', async () => {
    const [, create] = first.instructions();
    const good = { lamports: w.vm.rent(TREE_BYTES), owner: program.PROGRAM_ID, data: new Uint8Array(TREE_BYTES) };
    const sized = (bytes: number) => ({ ...good, lamports: w.vm.rent(bytes), data: new Uint8Array(bytes) });
    const marked = (at: number) => ({ ...good, data: Uint8Array.from(good.data).fill(1, at, at + 1) });
    const wrong = [
      { ...good, owner: SystemProgram.programId },
      { ...good, lamports: good.lamports - 1n },
      ...[0, 55, 56, 64, TREE_BYTES - 1].map(sized),
      ...[TREE_BYTES + 1, TREE_BYTES + 8].map(sized),
      ...[0, 1, 55, 56, 20_000, TREE_BYTES - 1].map(marked),
      { ...good, data: new Uint8Array(TREE_BYTES).fill(1) },
    ];
    for (const account of wrong) {
      w.vm.setAccount(first.tree.publicKey, account);
      await w.rejects([create], [w.stranger], 'InvalidTree');
    }
    w.vm.setAccount(first.tree.publicKey, good);
    await w.must([create], [w.stranger]);
  });

  it('rejects: a second registration of a tree, and a second tree for the same index', async () => {
    await first.create();
    await w.rejects([new TestArchive(w, 0).instructions()[1]], [w.stranger], 'system:0');
    await w.rejects(
      [...new TestArchive(w, 0, 'another').instructions()],
      [w.stranger, namedKeypair('another')],
      'system:0',
    );
    await first.setCount(CAPACITY);
    const again = new TestArchive(w, 1, 'tree 0');
    await w.rejects([again.instructions()[1]], [w.stranger], 'InvalidTree');
  });

  it('creates the next archive when nine tenths are full, and no other', async () => {
    const [second, third] = [new TestArchive(w, 1), new TestArchive(w, 2)];
    const signers = (archive: TestArchive) => [w.stranger, archive.tree];
    const [make, create] = second.instructions();
    create.keys[3]!.pubkey = program.PROGRAM_ID;
    await w.rejects([make, create], signers(second), 'ArchiveTooEarly');
    await first.create();
    await first.setCount(943_718);
    await w.rejects([...second.instructions()], signers(second), 'ArchiveTooEarly');
    await first.setCount(943_719);
    for (const previous of [first.address, program.PROGRAM_ID]) {
      const [make, create] = third.instructions();
      create.keys[3]!.pubkey = previous;
      await w.rejects([make, create], signers(third), 'ArchiveTooEarly');
    }
    await second.create();
    expect(await second.read()).to.deep.include({ index: 1, count: 0 });
    await w.rejects([...third.instructions()], signers(third), 'ArchiveTooEarly');
  });
});
