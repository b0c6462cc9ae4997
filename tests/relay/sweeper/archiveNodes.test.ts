import { keccak_256 } from '@noble/hashes/sha3.js';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { leavesOf, requireLeaves } from '../../../app/relay/calls/archived.ts';
import { type ArchiveNodes, createArchiveNodes, readProof } from '../../../app/relay/ledger/archiveNodes.ts';
import { followTrees, newFollowing } from '../../../app/relay/sweeper/trees.ts';
import { constants } from '../../../app/sdk/program/program.ts';
import { useTables } from '../../harness/tables.ts';
import { MerkleTree, proofsOf } from '../../program/archiving.ts';

const TREE = PublicKey.unique().toBase58();
const leafOf = (index: number): Buffer => Buffer.from(keccak_256(Buffer.from(`leaf ${index}`)));
const leavesUpTo = (count: number): Buffer[] => Array.from({ length: count }, (_, index) => leafOf(index));
/** The proofs of the whole tree, computed with the SPL package's hashes. */
const wholeTree = (count: number) => proofsOf(leavesUpTo(count).map((hash) => ({ hash }) as never));

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it was done',
    (error: Error) => error.message,
  );

describe("the nodes of an archive's tree", () => {
  const tables = useTables({ each: true });
  let nodes: ArchiveNodes;

  beforeEach(() => {
    nodes = createArchiveNodes(tables.writes, tables.ledger.db);
  });
  const proofOf = (leafIndex: number) => readProof(tables.views.db, { archiveIndex: 0n, tree: TREE }, leafIndex);
  const add = async (first: number, count: number, isProven = true): Promise<void> =>
    await nodes.write(0, TREE, await nodes.grow(0, first, leavesUpTo(first + count).slice(first)), isProven);
  const stored = () =>
    tables.ledger.db
      .selectFrom('archive_nodes')
      .select(['level', 'position', 'hash'])
      .orderBy('level')
      .orderBy('position')
      .execute();

  it('prove every leaf as the SPL package does, in whatever batches the leaves arrive', async () => {
    for (const [first, count] of [
      [0, 1],
      [1, 1],
      [2, 5],
      [7, 12],
      [19, 1],
      [20, 30],
    ] as const) {
      await add(first, count);
      const expected = wholeTree(first + count);
      for (const { leafIndex, leaf, proof, root } of expected) {
        const found = (await proofOf(leafIndex))!;
        expect([found.leaf, found.root]).to.deep.equal([leaf, root]);
        expect(found.proof.map((node) => Buffer.from(node))).to.deep.equal(proof);
        expect(MerkleTree.verify(root, { leafIndex, leaf, root, proof: found.proof.map(Buffer.from) })).to.equal(true);
      }
      expect(await proofOf(first + count)).to.equal(null);
    }
    // About two nodes for each leaf, and the path from the last leaf to the root. Empty subtrees are not stored.
    expect(await stored()).to.have.length.lessThan(50 * 2 + 20);
    const apart = await stored();
    await nodes.drop(0);
    expect(await stored()).to.deep.equal([]);
    await add(0, 50);
    expect(await stored()).to.deep.equal(apart);
  });

  it('are shown only when they are proven and belong to the requested tree', async () => {
    await add(0, 3, false);
    expect(await proofOf(0)).to.equal(null);
    await add(3, 1, true);
    expect(await proofOf(0)).not.to.equal(null);
    expect(await readProof(tables.views.db, { archiveIndex: 0n, tree: PublicKey.unique().toBase58() }, 0)).to.equal(
      null,
    );
    expect(await readProof(tables.views.db, { archiveIndex: 1n, tree: TREE }, 0)).to.equal(null);
  });

  it('rejects: leaves that exist already, leave a gap or belong to another tree, and stores none of them', async () => {
    await add(0, 3);
    const before = await stored();
    const growth = await nodes.grow(0, 3, [leafOf(3)]);
    expect(await refusal(nodes.write(0, TREE, { ...growth, first: 2 }, true))).to.include(
      'archive 0 already has 3 leaves',
    );
    expect(await refusal(nodes.write(0, PublicKey.unique().toBase58(), growth, true))).to.include(
      'archive 0 already has 3 leaves',
    );
    await nodes.write(0, TREE, growth, true);
    expect(await refusal(nodes.write(0, TREE, growth, true))).to.include('archive 0 already has 4 leaves');
    expect(await refusal(nodes.grow(0, 9, [leafOf(9)]))).to.include('archive 0 has no node 8');
    await nodes.drop(0);
    await add(0, 3);
    expect(await stored()).to.deep.equal(before);
  });

  describe('followed from the index', () => {
    const COUNT = 1_300;
    const log = pino({ level: 'silent' });
    let following = newFollowing();
    /**
     * The tree's account after these leaves, each appended separately. Only the fields that the relay reads are set.
     */
    const accountOf = (count: number, root: Uint8Array): Buffer => {
      const data = Buffer.alloc(constants.archiveTreeBytes);
      data.set([1, 0, constants.archiveBuffer, 0, 0, 0, constants.archiveDepth, 0, 0, 0]);
      data.writeBigUInt64LE(1n, 56 + 16);
      data.set(root, 56 + 24);
      data.writeUInt32LE(count, 44_280 - 8);
      return data;
    };
    const follow = (account: Buffer) => {
      const chain = {
        read: async () => ({
          accounts: [{ data: account, executable: false, lamports: 1, owner: PublicKey.default }],
          now: 0n,
          slot: 0,
        }),
      };
      return followTrees({ chain, views: tables.views.db, nodes, stop: new AbortController().signal, log }, following);
    };
    const addLeaves = async (from: number, to: number, leaf = leafOf): Promise<void> => {
      const rows = leavesUpTo(to).flatMap((_, at) => (at < from ? [] : [at]));
      for (const at of rows) {
        const names = { record: PublicKey.unique().toBase58(), execution_id: `id ${at}` };
        const row = { tree: TREE, leaf_index: BigInt(at), leaf: leaf(at).toString('hex'), ...names };
        await tables.index.db
          .insertInto('archive_leaves')
          .values({ ...row, signature: 'signature', slot: 1n })
          .execute();
      }
    };
    const root = (count: number): Buffer => wholeTree(count)[0]!.root;

    beforeEach(async () => {
      following = newFollowing();
      const archive = { archive: PublicKey.unique().toBase58(), archive_index: 0n, tree: TREE };
      await tables.index.db
        .insertInto('archives')
        .values({ ...archive, leaf_count: 0n, slot: 1n })
        .execute();
    });

    it("are built from all leaves, match the root of the tree's account, and are written once", async () => {
      await addLeaves(0, COUNT);
      await follow(accountOf(COUNT, root(COUNT)));
      expect(await nodes.read(0, TREE)).to.deep.equal({ leafCount: COUNT, isProven: true });
      const before = await stored();
      await follow(accountOf(COUNT, root(COUNT)));
      expect(await stored()).to.deep.equal(before);
      const { leaf, proof } = wholeTree(COUNT)[777]!;
      expect(await proofOf(777)).to.deep.equal({ leaf, proof, root: root(COUNT) });
    });

    /** Leaves that the index gets, the leaves of the tree's account then, and those that are proven. */
    interface Step {
      adds?: [from: number, to: number][];
      account: number;
      /** True if the account has another root. */
      isOther?: true;
      proven: number | null;
    }
    const STEPS: Record<string, Step[]> = {
      // 400 is the state that was seen first; the leaves after it wait for 1,200.
      'wait for the index, and are proven while later leaves come faster than it': [
        { adds: [[0, 5]], account: 400, proven: null },
        { adds: [[5, 600]], account: 1_200, proven: 400 },
        { adds: [[600, COUNT]], account: 2_000, isOther: true, proven: 1_200 },
      ],
      'are proven up to the state of a node that is behind the index': [
        { adds: [[0, 5]], account: 4, proven: 4 },
        { account: 3, proven: 4 },
      ],
      'follow a tree that lost leaves in a restart of the cluster': [
        { adds: [[0, 5]], account: 400, isOther: true, proven: null },
        { account: 5, proven: 5 },
      ],
      'stop at a gap in the leaves': [
        {
          adds: [
            [0, 3],
            [4, 6],
          ],
          account: 3,
          proven: 3,
        },
      ],
    };
    for (const [name, steps] of Object.entries(STEPS)) {
      it(name, async () => {
        for (const { adds = [], account, isOther, proven } of steps) {
          for (const [from, to] of adds) await addLeaves(from, to);
          await follow(accountOf(account, isOther ? leafOf(0) : root(account)));
          const read = await nodes.read(0, TREE);
          expect(read).to.deep.equal(proven === null ? null : { leafCount: proven, isProven: true });
        }
        expect([...following.mismatched]).to.deep.equal([]);
      });
    }

    it('are refused while their archive counts more leaves than the index has, and no others are', async () => {
      const views = tables.views.db;
      const { db } = tables.index;
      const refusalOf = (index?: string) => refusal(requireLeaves({ views }, index));
      const count = (leaf_count: bigint) =>
        db.updateTable('archives').set({ leaf_count }).where('archive_index', '=', 0n).execute();
      const other = { archive: PublicKey.unique().toBase58(), tree: PublicKey.unique().toBase58() };
      await db
        .insertInto('archives')
        .values({ ...other, archive_index: 1n, leaf_count: 0n, slot: 1n })
        .execute();
      await addLeaves(0, 2);
      await count(2n);
      await follow(accountOf(2, root(2)));
      // A transaction that cannot be read, and that added no leaf.
      await db.insertInto('gaps').values({ signature: 's', slot: 1n, reason: 'unknown' }).execute();
      await requireLeaves({ views });
      expect(await leavesOf({ views }, '0', 2)).to.deep.equal([]);
      // One that added two leaves.
      await count(4n);
      expect(await refusalOf()).to.include('The index lacks a transaction');
      expect(await refusalOf('0')).to.include('Retry in 60 s');
      await requireLeaves({ views }, '1');
      await addLeaves(3, 4);
      expect(await refusalOf('0')).to.include('The index lacks a transaction');
      await addLeaves(2, 3);
      await requireLeaves({ views });
    });

    it('raise an alarm and stay hidden until they produce the root of the tree', async () => {
      await addLeaves(0, 3);
      await follow(accountOf(3, root(3)));
      await addLeaves(3, 4, () => Buffer.alloc(32, 7));
      await follow(accountOf(4, root(4)));
      expect([...following.mismatched]).to.deep.equal([0]);
      expect(await proofOf(0)).to.equal(null);
      await follow(accountOf(4, root(4)));
      expect(await proofOf(0)).to.equal(null);
      await tables.index.db.deleteFrom('archive_leaves').where('leaf_index', '=', 3n).execute();
      await addLeaves(3, 4);
      await follow(accountOf(4, root(4)));
      expect([...following.mismatched]).to.deep.equal([]);
      expect(await proofOf(3)).not.to.equal(null);
    });
  });
});
