/** Hashes the leaves of a sequence's archive with the SPL package, to compare with the tree at the end. */
import { createRequire } from 'node:module';
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import type { Vm } from '../../harness/vm/vm.ts';

// The ES module entry of the package is a CommonJS file whose exports Node cannot detect.
const compression = createRequire(import.meta.url)(
  '@solana/spl-account-compression',
) as typeof import('@solana/spl-account-compression');

const DEPTH = 20;
const DISCRIMINATOR_BYTES = 8;
const DOMAIN = Buffer.from('agent-marketplace:archive:v1');

/** Creates a tree's account as it is before its registration: of the right size, all zero. */
export function writeNewTree(vm: Vm, tree: PublicKey): void {
  const data = new Uint8Array(program.constants.archiveTreeBytes);
  vm.setAccount(tree, { lamports: vm.rent(data.length), owner: program.PROGRAM_ID, data });
}

/** The leaf of a record with this account data. */
export function leafOf(record: PublicKey, data: Uint8Array): Buffer {
  const address = Buffer.concat([DOMAIN, record.toBytes()]);
  return Buffer.from(compression.hash(address, Buffer.from(data.subarray(DISCRIMINATOR_BYTES))));
}

/** The root of a tree with these leaves from the left. */
function rootOf(leaves: Buffer[]): Buffer {
  let nodes = leaves;
  for (let level = 0; level < DEPTH; level += 1) {
    const empty = compression.emptyNode(level);
    const pairs = Array.from({ length: Math.max(1, Math.ceil(nodes.length / 2)) }, (_, index) => index);
    nodes = pairs.map((index) => {
      return Buffer.from(compression.hash(nodes[2 * index] ?? empty, nodes[2 * index + 1] ?? empty));
    });
  }
  return nodes[0]!;
}

/** True if the tree holds exactly these leaves in this order. */
export async function holdsLeaves(vm: Vm, tree: PublicKey, leaves: Buffer[]): Promise<boolean> {
  const account = await vm.getAccount(tree);
  const found = compression.ConcurrentMerkleTreeAccount.fromBuffer(Buffer.from(account!.data));
  return found.getCurrentRoot().equals(rootOf(leaves));
}
