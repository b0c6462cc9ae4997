/**
 * What an archived execution's leaf is, and how anyone proves it against the tree's account, in a browser as in Node. A
 * proof is 20 nodes; it is checked from the record's fields on and never from a leaf's hash, because any node of a tree
 * is a hash that a shorter proof leads from.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { PublicKey } from '@solana/web3.js';
import type { ExecutionRecord } from './accounts.ts';
import { ARCHIVE_LEAF_DOMAIN } from './addresses.ts';
import { ByteReader, u8, u32, u64 } from './borsh.ts';
import { constants } from './constants.ts';
import { codecOf } from './idlCodec.ts';

/** The 32 bytes that stand for a record in its archive's tree. Throws RangeError where fields are missing or do not fit. */
export function archiveLeaf(record: PublicKey, execution: ExecutionRecord): Uint8Array {
  return keccak_256(concatBytes(ARCHIVE_LEAF_DOMAIN, record.toBytes(), encodeArchived(execution)));
}

/** A record's fields as its account had them after the discriminator, and as its leaf is the hash of. */
export function encodeArchived(execution: ExecutionRecord): Uint8Array {
  return codecOf('ExecutionRecord').write(execution);
}

/** The fields in such bytes. Throws RangeError where they are of no record. */
export function decodeArchived(fields: Uint8Array): ExecutionRecord {
  const bytes = new ByteReader(fields);
  const execution = codecOf('ExecutionRecord').read(bytes) as ExecutionRecord;
  if (bytes.left > 0) throw new RangeError(`a record has ${bytes.left} bytes too many`);
  return execution;
}

/** A node of the tree from the two below it. */
export function archiveNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  return keccak_256(concatBytes(left, right));
}

/** The node above so many levels that hold no leaf. */
export function emptyArchiveNode(level: number): Uint8Array {
  let node: Uint8Array = new Uint8Array(32);
  for (let below = 0; below < level; below += 1) node = archiveNode(node, node);
  return node;
}

/** Whether `archive_executions` takes a record at this time by the chain's clock, unix seconds. */
export function isArchivable({ status, settledAt, disputeWindowSeconds }: ExecutionRecord, now: bigint): boolean {
  if (status !== 'completed' && status !== 'disputeUpheld') return false;
  const window = status === 'completed' ? disputeWindowSeconds : 0;
  return now >= settledAt + BigInt(Math.max(window, constants.endedRecordSeconds));
}

export interface ArchiveProof {
  /** Where the record was before it became a leaf. */
  record: PublicKey;
  execution: ExecutionRecord;
  /** The leaf's index. */
  index: number;
  /** The 20 nodes beside its way to the root, from the bottom up, 32 bytes each. */
  proof: readonly Uint8Array[];
}

/** Whether the tree, as it is now, has this execution as that leaf. */
export function verifyArchiveProof(claim: ArchiveProof, tree: Pick<ArchiveTree, 'count' | 'root'>): boolean {
  const { index, proof } = claim;
  if (proof.length !== constants.archiveDepth || proof.some((node) => node.length !== 32)) return false;
  if (!Number.isInteger(index) || index < 0 || index >= tree.count) return false;
  const root = archiveProofRoot(claim);
  return tree.root.length === 32 && root.every((byte, at) => byte === tree.root[at]);
}

/** The root that a proof leads to. It says something only where a tree's account has had that root. */
export function archiveProofRoot({ record, execution, index, proof }: ArchiveProof): Uint8Array {
  return proof.reduce(
    (node, sibling, level) => ((index >> level) % 2 === 0 ? archiveNode(node, sibling) : archiveNode(sibling, node)),
    archiveLeaf(record, execution),
  );
}

/** What a tree's account says. */
export interface ArchiveTree {
  /** The archive that owns it. */
  authority: PublicKey;
  creationSlot: bigint;
  /** Leaves. */
  count: number;
  /** 32 bytes. */
  root: Uint8Array;
}

const KIND = 1;
const HEADER_VERSION = 0;
const HEADER_BYTES = 56;
/** Sequence number, index of the latest change and number of changes kept, u64 each. */
const COUNTERS_BYTES = 24;
/** Root, path, index and padding. The account ends with a path of the same size: proof, leaf, index and padding. */
const CHANGE_BYTES = 32 + 32 * constants.archiveDepth + 4 + 4;

/**
 * Reads a tree's account, which has the layout of SPL Account Compression (`ConcurrentMerkleTreeAccount` of
 * `@solana/spl-account-compression` reads it too). Throws RangeError where the data are of no such account of our size.
 */
export function readArchiveTree(data: Uint8Array): ArchiveTree {
  const header = new ByteReader(data);
  const kind = [u8.read(header), u8.read(header), u32.read(header), u32.read(header)];
  const expected = [KIND, HEADER_VERSION, constants.archiveBuffer, constants.archiveDepth];
  if (data.length !== constants.archiveTreeBytes || kind.some((value, at) => value !== expected[at])) {
    throw new RangeError("the data are not those of an archive's tree");
  }
  const authority = new PublicKey(header.take(32));
  const creationSlot = u64.read(header);
  const latest = Number(u64.read(new ByteReader(data, HEADER_BYTES + 8)));
  if (latest >= constants.archiveBuffer) throw new RangeError('the tree has no such change');
  const root = new ByteReader(data, HEADER_BYTES + COUNTERS_BYTES + latest * CHANGE_BYTES).take(32);
  const count = u32.read(new ByteReader(data, data.length - 8));
  return { authority, creationSlot, count, root };
}

/**
 * The roots that a tree's account remembers, those after its latest `constants.archiveBuffer` leaves at most: leaves are
 * only ever added, so a proof against any of them still holds. Throws as `readArchiveTree` does.
 */
export function readArchiveRoots(data: Uint8Array): Uint8Array[] {
  readArchiveTree(data);
  const kept = Number(u64.read(new ByteReader(data, HEADER_BYTES + 16)));
  const latest = Number(u64.read(new ByteReader(data, HEADER_BYTES + 8)));
  return Array.from({ length: Math.min(kept, constants.archiveBuffer) }, (_, back) => {
    const at = (latest - back + constants.archiveBuffer) % constants.archiveBuffer;
    return new ByteReader(data, HEADER_BYTES + COUNTERS_BYTES + at * CHANGE_BYTES).take(32);
  });
}
