/** Shared parts of the archive's tests: a registered tree, executions to archive, and proofs by the SPL package. */
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type { MerkleTreeProof } from '@solana/spl-account-compression';
import { ComputeBudgetProgram, type Keypair, type PublicKey } from '@solana/web3.js';
import { decodeArchived, encodeArchived } from '../../app/sdk/program/archive.ts';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { type Execution, type World, world } from '../harness/vm/world.ts';

// The ES module entry of the package is a CommonJS file whose exports Node cannot detect.
const compression = createRequire(import.meta.url)(
  '@solana/spl-account-compression',
) as typeof import('@solana/spl-account-compression');

export const DEPTH = 20;
/** Bytes of a tree's account before its canopy. */
export const TREE_END = 44_280;
export const CAPACITY = 2 ** DEPTH;

/** One archive of a world, by its index. */
export class TestArchive {
  readonly address: PublicKey;
  readonly tree: Keypair;

  constructor(
    readonly w: World,
    readonly index = 0,
    name = `tree ${index}`,
  ) {
    this.address = program.findArchive(index);
    this.tree = namedKeypair(name);
  }

  /** The two instructions that create the archive. The stranger pays. */
  instructions() {
    const { w, index } = this;
    const input = { payer: w.stranger.publicKey, tree: this.tree.publicKey };
    const lamports = Number(w.vm.rent(program.constants.archiveTreeBytes));
    return [program.createTreeAccount({ ...input, lamports }), program.createArchive({ ...input, index })] as const;
  }

  async create(): Promise<this> {
    await this.w.must([...this.instructions()], [this.w.stranger, this.tree]);
    return this;
  }

  /** archive_executions with these executions and their sponsors. */
  archive(executions: Pick<Execution, 'record' | 'rentSponsor'>[]) {
    return program.archiveExecutions({ index: this.index, tree: this.tree.publicKey, executions });
  }

  read(): Promise<program.Archive> {
    return this.w.read('Archive', this.address);
  }

  /** The data of the tree's account. */
  async treeData(): Promise<Buffer> {
    const account = await this.w.vm.getAccount(this.tree.publicKey);
    return Buffer.from(account!.data);
  }

  /** The tree, decoded by the SPL package. */
  async splTree() {
    return compression.ConcurrentMerkleTreeAccount.fromBuffer(await this.treeData());
  }

  /** Overwrites the number of leaves, in the archive and in its tree. */
  async setCount(count: number): Promise<void> {
    const account = await this.w.vm.getAccount(this.tree.publicKey);
    const data = Buffer.from(account!.data);
    data.writeUInt32LE(count, TREE_END - 8);
    this.w.vm.setAccount(this.tree.publicKey, { ...account!, data });
    await this.w.overwrite('Archive', this.address, { count });
  }
}

/** A settled execution with overwritten fields. By default it settled long enough ago to be archived. */
export async function ended(w: World, fields: Partial<program.ExecutionRecord> = {}): Promise<Execution> {
  const execution = await w.open();
  await w.must([w.settleInstruction(execution)], [w.relay]);
  await w.overwrite('ExecutionRecord', execution.record, { settledAt: 1n, ...fields });
  return { ...execution, rentSponsor: fields.rentSponsor ?? execution.rentSponsor };
}

/** Executions ready to be archived. With `sponsorOf`, each has its own sponsor. */
export async function ripe(w: World, count: number, sponsorOf?: (index: number) => PublicKey): Promise<Execution[]> {
  const executions: Execution[] = [];
  for (let index = 0; index < count; index += 1) {
    executions.push(await ended(w, sponsorOf && { rentSponsor: sponsorOf(index) }));
  }
  return executions;
}

/** Room for an instruction with as many records as fit. */
export const BUDGET = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
];

/**
 * A tree that can have any number of leaves: the first is this ended execution, the others are copies of it under other
 * ids.
 */
export async function growingTree(archive: TestArchive, record: PublicKey) {
  const { w } = archive;
  const { data, ...account } = (await w.vm.getAccount(record))!;
  const fields = program.decodeAccount('ExecutionRecord', data);
  const leaves: Leaf[] = [];
  const copy = (index: number) => {
    const executionId = Buffer.alloc(16);
    executionId.writeUInt32LE(index);
    const address = program.findExecution(executionId);
    const changed = encodeArchived({ ...fields, executionId, ...program.findExecutionBumps(executionId) });
    w.vm.setAccount(address, { ...account, data: Buffer.concat([data.subarray(0, 8), changed]) });
    return address;
  };
  return {
    leaves,
    /** Archives until the tree has this many leaves. */
    async grow(count: number): Promise<void> {
      while (leaves.length < count) {
        const batch = Array.from({ length: Math.min(12, count - leaves.length) }, (_, at) => {
          const index = leaves.length + at;
          return { record: index === 0 ? record : copy(index), rentSponsor: fields.rentSponsor };
        });
        leaves.push(...(await leavesOf(w, batch)));
        await w.must([...BUDGET, archive.archive(batch)], []);
        // The VM blocks the process, and its sockets would be closed unnoticed.
        await setImmediate();
      }
    },
    /** The proof of a leaf in the present tree. */
    proofAt: (index: number) => ({ leaf: leaves[index]!.hash, index, proof: proofsOf(leaves)[index]!.proof }),
  };
}

/** A growing tree in a VM of its own, whose first leaf is an execution of another chain. */
export async function treeOf(record: PublicKey, fields: Uint8Array) {
  const w = await world();
  const archive = await new TestArchive(w).create();
  const { settledAt } = decodeArchived(fields);
  const data = Buffer.concat([program.accountDiscriminator('ExecutionRecord'), fields]);
  const lamports = w.vm.rent(data.length);
  w.vm.setAccount(record, { data, owner: program.PROGRAM_ID, lamports, executable: false });
  await w.vm.setClock(settledAt + BigInt(program.constants.recordSecondsMin));
  const { leaves, grow } = await growingTree(archive, record);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return {
    grow,
    treeData: () => archive.treeData(),
    /** The fields of the first leaf's proof, as a service has them. */
    proof() {
      const { leaf, proof, root } = proofsOf(leaves)[0]!;
      return { leaf_index: 0, leaf: hex(leaf), proof: proof.map(hex), root: hex(root) };
    },
  };
}

/** Bytes of a record's account before the fields that a leaf has only the hash of: discriminator and head. */
const HEAD_END = 8 + 102;

/** The leaf of a record with this account data, hashed by the SPL package: domain, address, head, hash of the rest. */
export function leafHash(record: PublicKey, data: Uint8Array): Buffer {
  const rest = compression.hash(Buffer.from(data.subarray(HEAD_END)), Buffer.alloc(0));
  const head = Buffer.concat([
    Buffer.from('agent-marketplace:archive:v1'),
    record.toBytes(),
    data.subarray(8, HEAD_END),
  ]);
  return Buffer.from(compression.hash(head, Buffer.from(rest)));
}

/** The content of a leaf. */
export interface Leaf {
  record: PublicKey;
  execution: program.ExecutionRecord;
  /** Hash of record and execution, computed by the SPL package. */
  hash: Buffer;
}

/** Reads the leaves that these records will become. */
export async function leavesOf(w: World, executions: Pick<Execution, 'record'>[]): Promise<Leaf[]> {
  const leaves: Leaf[] = [];
  for (const { record } of executions) {
    const { data } = (await w.vm.getAccount(record))!;
    const hash = leafHash(record, data);
    leaves.push({ record, execution: program.decodeAccount('ExecutionRecord', data), hash });
  }
  return leaves;
}

/** The leaf of an unclaimed refund, hashed by the SPL package: domain, source, caller, amount, time. */
export function unclaimedHash({ source, caller, amount, unclaimedAt }: program.UnclaimedRefund): Buffer {
  const numbers = Buffer.alloc(16);
  numbers.writeBigUInt64LE(amount);
  numbers.writeBigInt64LE(unclaimedAt, 8);
  const parts = [Buffer.from('agent-marketplace:unclaimed:v1'), source.toBytes(), caller.toBytes(), numbers];
  return Buffer.from(compression.hash(Buffer.concat(parts), Buffer.alloc(0)));
}

/** The 20 sibling nodes of each leaf in a tree with exactly these leaves, hashed by the SPL package. */
export const proofsOf = (leaves: Leaf[]): MerkleTreeProof[] => proofsOfHashes(leaves.map(({ hash }) => hash));

/** The same from the leaves' hashes. */
export function proofsOfHashes(leaves: Buffer[]): MerkleTreeProof[] {
  const levels = [leaves];
  for (let level = 0; level < DEPTH; level += 1) {
    const below = levels[level]!;
    const nodeAt = (index: number) => below[index] ?? compression.emptyNode(level);
    const parents = Array.from({ length: Math.ceil(below.length / 2) }, (_, index) =>
      Buffer.from(compression.hash(nodeAt(2 * index), nodeAt(2 * index + 1))),
    );
    levels.push(parents);
  }
  const root = levels[DEPTH]![0]!;
  return leaves.map((leaf, leafIndex) => ({
    leafIndex,
    leaf,
    root,
    proof: levels
      .slice(0, DEPTH)
      .map((nodes, level) => nodes[(leafIndex >> level) ^ 1] ?? compression.emptyNode(level)),
  }));
}

export const { ConcurrentMerkleTreeAccount, MerkleTree, emptyNode } = compression;
