/** Hashes the leaves of a sequence's archive with the SPL package, to compare with the tree at the end. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import type { Vm } from '../../harness/vm/vm.ts';
import { ConcurrentMerkleTreeAccount, DEPTH, emptyNode, leafHash, proofsOfHashes } from '../archiving.ts';

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

/**
 * The 20 siblings on the path of a leaf, in a tree with these leaves from the left, or with so many fewer. The tree keeps
 * 64 changes, so any proof of a sequence holds.
 */
export const proofOf = (leaves: readonly Leaf[], index: number, age = 0): Buffer[] =>
  treeOf(leaves.slice(0, Math.max(index + 1, leaves.length - age)))[index]!.proof;

const treeOf = (leaves: readonly Leaf[]) => proofsOfHashes(leaves.map(({ hash }) => hash));

/** True if the tree holds exactly these leaves in this order. */
export async function holdsLeaves(vm: Vm, tree: PublicKey, leaves: readonly Leaf[]): Promise<boolean> {
  const account = await vm.getAccount(tree);
  const found = ConcurrentMerkleTreeAccount.fromBuffer(Buffer.from(account!.data));
  return found.getCurrentRoot().equals(treeOf(leaves)[0]?.root ?? emptyNode(DEPTH));
}
