/** Hashes the leaves of a sequence's archive with the SPL package, to compare with the tree at the end. */
import { createRequire } from 'node:module';
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import type { Vm } from '../../harness/vm/vm.ts';
import { leafHash } from '../archiving.ts';

// The ES module entry of the package is a CommonJS file whose exports Node cannot detect.
const compression = createRequire(import.meta.url)(
  '@solana/spl-account-compression',
) as typeof import('@solana/spl-account-compression');

const DEPTH = 20;

/** Creates a tree's account as it is before its registration: of the right size, all zero. */
export function writeNewTree(vm: Vm, tree: PublicKey): void {
  const data = new Uint8Array(program.constants.archiveTreeBytes);
  vm.setAccount(tree, { lamports: vm.rent(data.length), owner: program.PROGRAM_ID, data });
}

/** A leaf: an archived record, or an unclaimed refund. */
export interface Leaf {
  execution?: program.ExecutionRecord;
  refund?: program.UnclaimedRefund;
  hash: Buffer;
}

/** The leaf of a record with this account data. */
export function leafOf(record: PublicKey, data: Uint8Array): Leaf {
  return { execution: program.decodeAccount('ExecutionRecord', data), hash: leafHash(record, data) };
}

/** The 20 siblings on the path of a leaf, in a tree with these leaves from the left. */
export function proofOf(leaves: readonly Leaf[], index: number): Buffer[] {
  const proof: Buffer[] = [];
  rootOf(
    leaves.map(({ hash }) => hash),
    (nodes, level) => proof.push(nodes[(index >> level) ^ 1] ?? compression.emptyNode(level)),
  );
  return proof;
}

/** The root of a tree with these leaves from the left. */
function rootOf(leaves: Buffer[], onLevel: (nodes: Buffer[], level: number) => void = () => {}): Buffer {
  let nodes = leaves;
  for (let level = 0; level < DEPTH; level += 1) {
    const empty = compression.emptyNode(level);
    onLevel(nodes, level);
    const pairs = Array.from({ length: Math.max(1, Math.ceil(nodes.length / 2)) }, (_, index) => index);
    nodes = pairs.map((index) => {
      return Buffer.from(compression.hash(nodes[2 * index] ?? empty, nodes[2 * index + 1] ?? empty));
    });
  }
  return nodes[0]!;
}

/** True if the tree holds exactly these leaves in this order. */
export async function holdsLeaves(vm: Vm, tree: PublicKey, leaves: readonly Leaf[]): Promise<boolean> {
  const account = await vm.getAccount(tree);
  const found = compression.ConcurrentMerkleTreeAccount.fromBuffer(Buffer.from(account!.data));
  return found.getCurrentRoot().equals(rootOf(leaves.map(({ hash }) => hash)));
}
