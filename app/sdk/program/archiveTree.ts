/**
 * The archive's trees as plain bytes: leaves, roots of proofs, and tree accounts. It needs none of Solana's libraries.
 * archive.ts offers the same with the program's types.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { ByteReader, u8, u32, u64 } from './borsh.ts';
import { ARCHIVE_LEAF_DOMAIN, constants } from './constants.ts';

/** A record's 32-byte leaf in its archive's tree, from its address and its account's fields. */
export function leafOf(record: Uint8Array, fields: Uint8Array): Uint8Array {
  const head = fields.subarray(0, constants.recordHeadBytes);
  return keccak_256(concatBytes(ARCHIVE_LEAF_DOMAIN, record, head, restHashOf(fields)));
}

/** The hash of the fields after those that a dispute needs. */
export function restHashOf(fields: Uint8Array): Uint8Array {
  return keccak_256(fields.subarray(constants.recordHeadBytes));
}

/** An inner node from its two children. */
export function archiveNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  return keccak_256(concatBytes(left, right));
}

/** The root of an empty subtree of this height. */
export function emptyArchiveNode(level: number): Uint8Array {
  let node: Uint8Array = new Uint8Array(32);
  for (let below = 0; below < level; below += 1) node = archiveNode(node, node);
  return node;
}

/** The root of a leaf and its sibling nodes. It proves something only if a tree's account has had that root. */
export function rootOf(leaf: Uint8Array, index: number, proof: readonly Uint8Array[]): Uint8Array {
  return proof.reduce(
    (node, sibling, level) => ((index >> level) % 2 === 0 ? archiveNode(node, sibling) : archiveNode(sibling, node)),
    leaf,
  );
}

/** Computes the root of a tree from leaves in order; keeps only the path to the last one. */
export function createArchiveRoot() {
  /** By level, the complete subtree that waits for its right neighbour; null if none waits. */
  const waiting: (Uint8Array | null)[] = Array(constants.archiveDepth).fill(null);
  /** Root of the tree once it is full. */
  let full: Uint8Array | null = null;
  let count = 0;
  return {
    get count(): number {
      return count;
    },
    add(leaf: Uint8Array): void {
      if (count >= constants.archiveCapacity) throw new RangeError('the tree is full');
      count += 1;
      let node = leaf;
      for (let level = 0; level < waiting.length; level += 1) {
        const left = waiting[level] ?? null;
        waiting[level] = left ? null : node;
        if (!left) return;
        node = archiveNode(left, node);
      }
      full = node;
    },
    root(): Uint8Array {
      if (full) return full;
      let node: Uint8Array | null = null;
      for (const [level, left] of waiting.entries()) {
        const right: Uint8Array = node ?? emptyArchiveNode(level);
        // A level without a waiting node, and with nothing below it, is still empty.
        if (left) node = archiveNode(left, right);
        else if (node) node = archiveNode(node, emptyArchiveNode(level));
      }
      return node ?? emptyArchiveNode(constants.archiveDepth);
    },
  };
}

/** The content of a tree's account. */
export interface TreeAccount {
  /** The archive that owns it, 32 bytes. */
  authority: Uint8Array;
  creationSlot: bigint;
  /** Number of leaves. */
  count: number;
  /** 32 bytes. */
  root: Uint8Array;
}

const KIND = 1;
const HEADER_VERSION = 0;
const HEADER_BYTES = 56;
/** Sequence number, index of the latest change and number of changes kept, u64 each. */
const COUNTERS_BYTES = 24;
/** Root, path, index and padding. After the changes comes a path of the same size: proof, leaf, index and padding. */
const CHANGE_BYTES = 32 + 32 * constants.archiveDepth + 4 + 4;
/** The canopy begins here. It has the nodes below the root, level by level, down to those above `archiveProofNodes` levels. */
const TREE_END = HEADER_BYTES + COUNTERS_BYTES + (constants.archiveBuffer + 1) * CHANGE_BYTES;

/**
 * Reads a tree's account, which has the layout of SPL Account Compression (`ConcurrentMerkleTreeAccount` of
 * `@solana/spl-account-compression` reads it too). Throws RangeError if the data are not such an account of our size.
 */
export function readTreeAccount(data: Uint8Array): TreeAccount {
  const header = new ByteReader(data);
  const kind = [u8.read(header), u8.read(header), u32.read(header), u32.read(header)];
  const expected = [KIND, HEADER_VERSION, constants.archiveBuffer, constants.archiveDepth];
  if (data.length !== constants.archiveTreeBytes || kind.some((value, at) => value !== expected[at])) {
    throw new RangeError("the account data is not an archive's tree");
  }
  const authority = header.take(32);
  const creationSlot = u64.read(header);
  const latest = Number(u64.read(new ByteReader(data, HEADER_BYTES + 8)));
  if (latest >= constants.archiveBuffer) throw new RangeError("the tree's latest change has an index out of range");
  const root = new ByteReader(data, HEADER_BYTES + COUNTERS_BYTES + latest * CHANGE_BYTES).take(32);
  const count = u32.read(new ByteReader(data, TREE_END - 8));
  return { authority, creationSlot, count, root };
}

/**
 * The roots that a tree's account keeps, for at most its latest `constants.archiveBuffer` leaves. Leaves are only
 * added, so a proof against any of these roots still holds. Throws as `readTreeAccount` does.
 */
export function readArchiveRoots(data: Uint8Array): Uint8Array[] {
  readTreeAccount(data);
  const kept = Number(u64.read(new ByteReader(data, HEADER_BYTES + 16)));
  const latest = Number(u64.read(new ByteReader(data, HEADER_BYTES + 8)));
  return Array.from({ length: Math.min(kept, constants.archiveBuffer) }, (_, back) => {
    const at = (latest - back + constants.archiveBuffer) % constants.archiveBuffer;
    return new ByteReader(data, HEADER_BYTES + COUNTERS_BYTES + at * CHANGE_BYTES).take(32);
  });
}

/**
 * The root by which a tree's account proves a leaf: one that it keeps and the proof leads to. Else, if the lower nodes
 * lead to the present node of its canopy, the present root: a proof made when all leaves below that node were there
 * holds for ever. Null if neither is true. Throws as `readTreeAccount` does.
 */
export function provenRoot(
  data: Uint8Array,
  { leaf, index, proof }: { leaf: Uint8Array; index: number; proof: readonly Uint8Array[] },
): Uint8Array | null {
  const { count, root } = readTreeAccount(data);
  if (proof.length !== constants.archiveDepth || proof.some((node) => node.length !== 32)) return null;
  if (!Number.isInteger(index) || index < 0 || index >= count) return null;
  const made = rootOf(leaf, index, proof);
  if (readArchiveRoots(data).some((kept) => isSame(kept, made))) return made;
  const node = rootOf(leaf, index, proof.slice(0, constants.archiveProofNodes));
  return isSame(canopyNode(data, constants.archiveProofNodes, index), node) ? root : null;
}

/** The node above a leaf, so many levels up, from the canopy of a tree's account. */
export function canopyNode(data: Uint8Array, level: number, index: number): Uint8Array {
  // Nodes are numbered from 1, the root, level by level. The canopy starts with node 2.
  const at = ((constants.archiveCapacity + index) >> level) - 2;
  return new ByteReader(data, TREE_END + 32 * at).take(32);
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => one.every((byte, at) => byte === other[at]);
