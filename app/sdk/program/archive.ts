/**
 * What an archived execution's leaf is, and how anyone proves it against the tree's account, in a browser as in Node. A
 * proof is 20 nodes; it is checked from the record's fields on and never from a leaf's hash, because any node of a tree
 * is a hash that a shorter proof leads from.
 */
import { PublicKey } from '@solana/web3.js';
import type { ExecutionRecord } from './accounts.ts';
import { leafOf, readTreeAccount, rootOf, type TreeAccount } from './archiveTree.ts';
import { ByteReader } from './borsh.ts';
import { constants } from './constants.ts';
import { codecOf } from './idlCodec.ts';

export { archiveNode, emptyArchiveNode, readArchiveRoots } from './archiveTree.ts';

/** The 32 bytes that stand for a record in its archive's tree. Throws RangeError where fields are missing or do not fit. */
export function archiveLeaf(record: PublicKey, execution: ExecutionRecord): Uint8Array {
  return leafOf(record.toBytes(), encodeArchived(execution));
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
  return rootOf(archiveLeaf(record, execution), index, proof);
}

/** What a tree's account says. */
export interface ArchiveTree extends Omit<TreeAccount, 'authority'> {
  /** The archive that owns it. */
  authority: PublicKey;
}

/**
 * Reads a tree's account, which has the layout of SPL Account Compression (`ConcurrentMerkleTreeAccount` of
 * `@solana/spl-account-compression` reads it too). Throws RangeError where the data are of no such account of our size.
 */
export function readArchiveTree(data: Uint8Array): ArchiveTree {
  const { authority, ...rest } = readTreeAccount(data);
  return { authority: new PublicKey(authority), ...rest };
}
