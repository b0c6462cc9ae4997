/** archive_executions: ended executions become leaves that anyone can prove, and all rent is returned. */
import { type AccountMeta, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { provenRoot, readArchiveTree, verifyArchiveProof } from '../../app/sdk/program/archive.ts';
import { decodeEventInstruction } from '../../app/sdk/program/events.ts';
import * as program from '../../app/sdk/program/program.ts';
import { printed, relayed } from '../harness/vm/caller.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { type Outcome, TEST_CALLER_ID } from '../harness/vm/outcome.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, useWorld } from '../harness/vm/world.ts';
import {
  BUDGET,
  CAPACITY,
  DEPTH,
  emptyNode,
  ended,
  growingTree,
  type Leaf,
  leavesOf,
  MerkleTree,
  proofsOf,
  ripe,
  TestArchive,
  TREE_END,
} from './archiving.ts';
import { dispute, ENDED } from './exploits/acts.ts';

/** Network fee of a transaction with one signature. */
const SIGNATURE_LAMPORTS = 5_000;

describe('archive_executions', () => {
  const w = useWorld();
  let archive: TestArchive;
  /** The expected leaves of the tree. */
  let leaves: Leaf[];

  beforeEach(async () => {
    archive = await new TestArchive(w).create();
    leaves = [];
  });

  const held = (execution: Execution) => w.vm.lamports(execution.record);
  /** Proves every leaf with the SPL package alone and with the SDK, and compares their roots. */
  const proveAll = async () => {
    const spl = await archive.splTree();
    const tree = readArchiveTree(await archive.treeData());
    expect([tree.count, (await archive.read()).count]).to.deep.equal([leaves.length, leaves.length]);
    expect(Buffer.from(tree.root)).to.deep.equal(spl.getCurrentRoot());
    for (const [index, proof] of proofsOf(leaves).entries()) {
      expect(MerkleTree.verify(spl.getCurrentRoot(), proof)).to.equal(true);
      expect(verifyArchiveProof({ ...leaves[index]!, index, proof: proof.proof }, tree)).to.equal(true);
    }
  };
  /** Archives, expects exactly these executions and lamports to move, and proves all leaves. */
  const archives = async (executions: Execution[], instructions = [archive.archive(executions)]): Promise<Outcome> => {
    const moved: Record<string, { lamports: bigint }> = {};
    for (const execution of executions) {
      const { record, rentSponsor } = execution;
      const lamports = await held(execution);
      const sponsor = rentSponsor.equals(w.caller.publicKey) ? 'caller' : rentSponsor.toBase58();
      if (sponsor !== 'caller') w.watch(sponsor, rentSponsor);
      w.watch(record.toBase58(), record);
      moved[record.toBase58()] = { lamports: -lamports };
      moved[sponsor] = { lamports: (moved[sponsor]?.lamports ?? 0n) + lamports };
    }
    leaves.push(...(await leavesOf(w, executions)));
    const outcome = await w.moves(instructions, [], moved);
    for (const { record } of executions) expect(await w.vm.getAccount(record)).to.equal(null);
    await proveAll();
    return outcome;
  };
  /** The executions that an event reports for the leaves from `first` on. */
  const told = (first: number) => leaves.slice(first).map(({ record, execution }) => ({ record, execution }));
  const sponsorAt = (index: number) => namedKeypair(`sponsor ${index}`).publicKey;

  it('emits address and fields in the data of a call to itself, also after others filled the log', async () => {
    const executions = await ripe(w, 3);
    await archives(executions.slice(0, 1));
    const later = executions.slice(1);
    const junk = relayed(printed(new Uint8Array(), 'x'.repeat(700)), 20);
    const { calls, logs, events } = await archives(later, [junk, archive.archive(later)]);
    const said = { archive: archive.address, tree: archive.tree.publicKey, firstIndex: 1, executions: told(1) };
    const [call] = calls.filter(({ programId }) => programId.equals(program.PROGRAM_ID));
    const event = decodeEventInstruction(call!.data);
    expect(plain(event)).to.deep.equal({ name: 'ExecutionsArchived', data: plain(said) });
    expect(plain(events)).to.deep.equal([plain(event)]);
    expect(logs).to.include('Log truncated');
    expect(logs.filter((line) => line.includes(program.PROGRAM_ID.toBase58()))).to.deep.equal([]);
  });

  it('rejects: the event call from any other program or wallet', async () => {
    const data = Buffer.from('e445a52e51cb9a1d0000000000000000', 'hex');
    const authority = { pubkey: program.findEventAuthority(), isSigner: false, isWritable: false };
    const call = (pubkey: PublicKey, isSigner: boolean) =>
      new TransactionInstruction({ programId: program.PROGRAM_ID, keys: [{ ...authority, pubkey, isSigner }], data });
    await w.rejects([call(authority.pubkey, false)], [], 'ConstraintSigner');
    await w.rejects([call(w.stranger.publicKey, true)], [w.stranger], 'ConstraintSeeds');
  });

  it('archives twelve records of one or twelve sponsors in one transaction, at 12,500 units and 700 lamports each', async () => {
    const together = await archives(await ripe(w, 12));
    const apart = await ripe(w, 12, sponsorAt);
    const { bytes, computeUnits } = await archives(apart, [...BUDGET, archive.archive(apart)]);
    expect(bytes).to.be.at.most(1_232);
    expect(Math.max(together.computeUnits, computeUnits) / 12).to.be.at.most(12_500);
    expect(SIGNATURE_LAMPORTS / 12).to.be.at.most(700);
  });

  it('proves every leaf after more changes than the tree stores', async () => {
    const [model, other] = (await ripe(w, 2)) as [Execution, Execution];
    const tree = await growingTree(archive, model.record);
    await tree.grow(74);
    leaves = tree.leaves;
    await archives([other]);
  });

  it('proves a leaf by an old proof once its canopy node has all leaves, however many follow', async () => {
    const [model] = (await ripe(w, 1)) as [Execution];
    const { grow, proofAt } = await growingTree(archive, model.record);
    const below = 2 ** program.constants.archiveProofNodes;
    await grow(below - 5);
    const early = proofAt(below - 6);
    await grow(below);
    const [first, last] = [proofAt(0), proofAt(below - 1)];
    const { root: then } = readArchiveTree(await archive.treeData());
    await grow(below + 1);
    const growing = proofAt(below);
    expect(provenRoot(await archive.treeData(), first)).to.deep.equal(then);
    await grow(below + 80);

    const grown = await archive.treeData();
    const { root: present } = readArchiveTree(grown);
    for (const old of [first, last]) {
      expect(provenRoot(grown, old)).to.deep.equal(present);
      for (const at of [0, program.constants.archiveProofNodes - 1]) {
        const proof = old.proof.with(at, Buffer.from(flipped(old.proof[at]!) as Uint8Array));
        expect(provenRoot(grown, { ...old, proof })).to.equal(null);
      }
      expect(provenRoot(grown, { ...old, proof: old.proof.slice(0, 10) })).to.equal(null);
      expect(provenRoot(grown, { ...old, index: old.index + below })).to.equal(null);
      // Level 10 follows levels 1 to 9 of the canopy.
      const altered = Buffer.from(grown);
      altered[TREE_END + 32 * (2 ** 10 - 2)]! ^= 1;
      expect(provenRoot(altered, old)).to.equal(null);
    }
    // These nodes have changed, and only a new proof has them.
    for (const old of [early, growing]) {
      expect(provenRoot(grown, old)).to.equal(null);
      expect(provenRoot(grown, proofAt(old.index))).to.deep.equal(present);
    }
  });

  it('does not prove any other leaf', async () => {
    const executions = await ripe(w, 3);
    await archives(executions);
    const tree = readArchiveTree(await archive.treeData());
    const [, { proof }] = proofsOf(leaves) as [unknown, { proof: Buffer[] }];
    const claim = { ...leaves[1]!, index: 1, proof };
    expect(verifyArchiveProof(claim, tree)).to.equal(true);
    const { execution } = claim;
    const changed = Object.entries(execution).map(([name, value]) => ({ ...execution, [name]: flipped(value) }));
    const wrong = [
      ...changed.map((fields) => ({ ...claim, execution: fields as program.ExecutionRecord })),
      { ...claim, record: executions[0]!.record },
      ...[0, 2, 3, -1, 1.5, CAPACITY + 1, 2 ** 32 + 1].map((index) => ({ ...claim, index })),
      ...proof.map((node, at) => ({ ...claim, proof: proof.with(at, Buffer.from(flipped(node) as Uint8Array)) })),
      { ...claim, proof: proof.slice(1) },
      { ...claim, proof: [...proof, emptyNode(DEPTH)] },
      { ...claim, proof: proof.with(0, Buffer.alloc(31)) },
    ];
    for (const other of wrong) expect(verifyArchiveProof(other, tree)).to.equal(false);
    expect(verifyArchiveProof(claim, { ...tree, count: 1 })).to.equal(false);
    expect(verifyArchiveProof(claim, { ...tree, root: tree.root.subarray(1) })).to.equal(false);
    const data = await archive.treeData();
    for (const [at, change] of [
      [0, 2],
      [1, 1],
      [2, 32],
      [6, 19],
      [64, 64],
    ] as const) {
      const altered = Buffer.from(data);
      altered[at] = change;
      expect(() => readArchiveTree(altered), String(at)).to.throw(RangeError);
    }
    expect(() => readArchiveTree(data.subarray(1))).to.throw(RangeError);
  });

  const stateOf = async ({ record }: Execution) => {
    const account = await w.vm.getAccount(record);
    return account && plain([account.lamports, account.owner, account.data]);
  };
  /** Tries to archive an unfit record beside a fit one: the unfit one stays unchanged, the other becomes a leaf. */
  const skips = async (execution: Execution, change: (first: AccountMeta, sponsor: AccountMeta) => void = () => {}) => {
    const [good] = await ripe(w, 1);
    const changed = (executions: Execution[]) => {
      const instruction = archive.archive(executions);
      change(instruction.keys[5]!, instruction.keys[6]!);
      return instruction;
    };
    const before = await stateOf(execution);
    await archives([good!], [changed([execution, good!])]);
    expect(await stateOf(execution)).to.deep.equal(before);
    await w.rejects([changed([execution])], [], 'NothingToArchive');
  };

  it('skips a record one second before record_seconds after its end, and archives it then, whatever its window', async () => {
    for (const disputeWindowSeconds of [1, 259_200, 2_592_000]) {
      const execution = await ended(w, { disputeWindowSeconds, settledAt: START });
      await w.vm.setClock(START + ENDED - 1n);
      await skips(execution);
      await w.vm.setClock(START + ENDED);
      await archives([execution]);
      await w.rejects([archive.archive([execution])], [], 'NothingToArchive');
    }
  });

  it('judges all records by record_seconds as it is now, those of earlier opens too', async () => {
    const change = (recordSeconds: number) => program.updateConfig({ admin: w.admin.publicKey, recordSeconds });
    const execution = await w.open();
    await w.must([w.settleInstruction(execution), change(7_200)], [w.relay, w.admin]);
    await w.vm.setClock(START + 7_199n);
    await skips(execution);
    await w.must([change(7_199)], [w.admin]);
    await archives([execution]);
  });

  it('archives a disputed record without waiting for its dispute, whose leaf is that of an undisputed one', async () => {
    const execution = await w.open();
    await w.must([w.settleInstruction(execution)], [w.relay]);
    const [before] = await leavesOf(w, [execution]);
    await w.must([dispute(w, execution)], [w.caller]);
    await w.vm.setClock(START + ENDED);
    await archives([execution]);
    expect(leaves.at(-1)).to.deep.equal(before);
  });

  it('skips open and refunded records at any age', async () => {
    for (const status of ['open', 'refunded'] as const) await skips(await ended(w, { status }));
  });

  it('skips missing accounts, other account types, and records at a wrong address or of another program', async () => {
    const [real] = await ripe(w, 1);
    const account = (await w.vm.getAccount(real!.record))!;
    const place = { ...real!, record: namedKeypair('elsewhere').publicKey };
    await skips(place);
    w.vm.setAccount(place.record, account);
    await skips(place);
    await skips({ ...real!, record: w.listing });
    for (const record of [archive.address, archive.tree.publicKey]) {
      const [good] = await ripe(w, 1);
      await archives([good!], [archive.archive([{ ...real!, record }, good!])]);
    }
    w.vm.setAccount(real!.record, { ...account, owner: SystemProgram.programId });
    await skips(real!);
    w.vm.setAccount(real!.record, { ...account, data: account.data.subarray(0, -1) });
    await skips(real!);
    w.vm.setAccount(real!.record, account);
    await archives([real!]);
  });

  it('skips a record with a wrong sponsor, or one that cannot receive lamports', async () => {
    const [execution] = await ripe(w, 1);
    await skips({ ...execution!, rentSponsor: w.stranger.publicKey });
    const own = await ended(w, { rentSponsor: sponsorAt(0) });
    await skips(own, (_, sponsor) => Object.assign(sponsor, { isWritable: false }));
    await skips(own, (record) => Object.assign(record, { isWritable: false }));
    for (const rentSponsor of [program.PROGRAM_ID, TEST_CALLER_ID]) await skips(await ended(w, { rentSponsor }));
    await skips(await ended(w, { rentSponsor: archive.address }));
    await skips(await ended(w, { rentSponsor: execution!.record }));
    const itself = await w.open();
    await skips(await ended(w, { rentSponsor: itself.record }));
    await archives([execution!, own]);
  });

  it('archives a record that is named twice once, and pays once', async () => {
    const [first, second] = (await ripe(w, 2)) as [Execution, Execution];
    await archives([first, second], [archive.archive([first, first, second, first])]);
    const odd = await ended(w);
    const instruction = archive.archive([odd, odd]);
    instruction.keys.pop();
    await archives([odd], [instruction]);
  });

  it('leaves no program account at an address that immediately gets lamports again', async () => {
    const [execution] = (await ripe(w, 1)) as [Execution];
    const lamports = await held(execution);
    const gift = { fromPubkey: w.stranger.publicKey, toPubkey: execution.record, lamports: 890_880 };
    await w.moves([archive.archive([execution]), SystemProgram.transfer(gift)], [w.stranger], {
      caller: { lamports },
      stranger: { lamports: -890_880n },
    });
    const account = (await w.vm.getAccount(execution.record))!;
    expect(plain([account.owner, account.data])).to.deep.equal(plain([SystemProgram.programId, new Uint8Array()]));
  });

  it('fills the last leaf, and leaves the remaining records to the next archive', async () => {
    const executions = await ripe(w, 2);
    await archive.setCount(CAPACITY - 1);
    const lamports = await held(executions[0]!);
    await w.moves([archive.archive(executions)], [], { caller: { lamports } });
    expect(readArchiveTree(await archive.treeData()).count).to.equal(CAPACITY);
    await w.rejects([archive.archive(executions)], [], 'ArchiveFull');
    archive = await new TestArchive(w, 1).create();
    await archives([executions[1]!], [archive.archive(executions)]);
  });

  it('rejects: more than twelve records, none, and a wrong count', async () => {
    const [execution] = await ripe(w, 1);
    await w.rejects([archive.archive(Array.from({ length: 13 }, () => execution!))], [], 'TooManyRecords');
    await w.rejects([archive.archive([])], [], 'NothingToArchive');
    await w.overwrite('Archive', archive.address, { count: 5 });
    await w.rejects([archive.archive([execution!])], [], 'ArchiveUnsound');
  });

  it('returns the rent that was paid, whatever it is now, once its sponsor can hold it', async () => {
    w.vm.setRent(696n);
    const poor = await ended(w, { rentSponsor: sponsorAt(1) });
    w.vm.setRent(6_960n);
    // A new account below rent exemption would make the whole transaction fail.
    await skips(poor);
    await w.vm.airdrop(sponsorAt(1), 890_880n);
    await archives([poor]);
    const rich = await ripe(w, 2);
    w.vm.setRent(696n);
    await archives(rich);
  });
});

/** Another value of the same type. */
function flipped(value: unknown): unknown {
  if (typeof value === 'bigint') return value ^ 1n;
  if (typeof value === 'number') return value ^ 1;
  if (value instanceof Uint8Array) return Uint8Array.from(value, (byte, at) => (at === 7 ? byte ^ 1 : byte));
  if (value instanceof PublicKey) return new PublicKey(flipped(value.toBytes()) as Uint8Array);
  return value === 'completed' ? 'refunded' : 'completed';
}
