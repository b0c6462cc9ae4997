/**
 * Builds the leaf of an archived execution, and proves it against the tree's account, in a browser or in Node. A proof
 * has 20 nodes. The check starts from the record's fields and never from a leaf's hash, because any inner node is a
 * hash with a shorter proof.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { PublicKey } from '@solana/web3.js';
import type { ExecutionRecord, UnclaimedRefund } from './accounts.ts';
import { leafOf, readTreeAccount, restHashOf, rootOf, type TreeAccount } from './archiveTree.ts';
import { constants, UNCLAIMED_LEAF_DOMAIN } from './constants.ts';
import type { MarketplaceEvent } from './eventFields.ts';
import { codecOf, decodeFields } from './idlCodec.ts';
import type { StructOf } from './idlValues.ts';

/** Where the leaf of an unclaimed refund is. */
export type UnclaimedLeaf = StructOf<'UnclaimedLeaf'>;

export { archiveNode, createArchiveRoot, emptyArchiveNode, provenRoot, readArchiveRoots } from './archiveTree.ts';

/** A record's 32-byte leaf in its archive's tree. Throws RangeError if fields are missing or do not fit. */
export function archiveLeaf(record: PublicKey, execution: ExecutionRecord): Uint8Array {
  return leafOf(record.toBytes(), encodeArchived(execution));
}

/** The 32-byte leaf of an unclaimed refund. Throws RangeError if fields are missing or do not fit. */
export function unclaimedLeaf(refund: UnclaimedRefund): Uint8Array {
  return keccak_256(concatBytes(UNCLAIMED_LEAF_DOMAIN, encodeUnclaimed(refund)));
}

/** An unclaimed refund's fields as in its leaf. */
export function encodeUnclaimed(refund: UnclaimedRefund): Uint8Array {
  return codecOf('UnclaimedRefund').write(refund);
}

/** Decodes these bytes. Throws RangeError if they are not the fields of an unclaimed refund. */
export function decodeUnclaimed(fields: Uint8Array): UnclaimedRefund {
  return decodeFields('UnclaimedRefund', fields) as UnclaimedRefund;
}

/** The leaf that a refund's event reports; null if its money went to the caller. */
export function unclaimedOf(event: MarketplaceEvent): { refund: UnclaimedRefund; leaf: UnclaimedLeaf } | null {
  if (event.name !== 'ExecutionRefunded' && event.name !== 'DepositRefunded') return null;
  const { caller, amount, refundedAt, unclaimed } = event.data;
  if (!unclaimed) return null;
  const source = event.name === 'ExecutionRefunded' ? event.data.record : event.data.deposit;
  return { refund: { source, caller, amount, unclaimedAt: refundedAt }, leaf: unclaimed };
}

/** A record's fields as in its account after the discriminator. The leaf follows from these bytes. */
export function encodeArchived(execution: ExecutionRecord): Uint8Array {
  return codecOf('ExecutionRecord').write(execution);
}

/** The hash in a leaf of the fields that a dispute does not need. */
export function archivedRestHash(execution: ExecutionRecord): Uint8Array {
  return restHashOf(encodeArchived(execution));
}

/** Decodes these bytes. Throws RangeError if they are not a record's fields. */
export function decodeArchived(fields: Uint8Array): ExecutionRecord {
  return decodeFields('ExecutionRecord', fields) as ExecutionRecord;
}

/**
 * True if `archive_executions` accepts a record at this time of the chain's clock, unix seconds. `recordSeconds` is the
 * config's.
 */
export function isArchivable({ status, settledAt }: ExecutionRecord, recordSeconds: number, now: bigint): boolean {
  return status === 'completed' && now >= settledAt + BigInt(recordSeconds);
}

/**
 * Unix seconds from which an ended execution's record can be closed without being archived: a refunded one an hour after
 * its open, a paid one a year after its dispute window.
 */
export function closableFrom(record: ExecutionRecord): bigint {
  const { status, openedAt, settledAt, disputeWindowSeconds } = record;
  if (status === 'refunded') return openedAt + BigInt(constants.recordSecondsMin);
  return settledAt + BigInt(disputeWindowSeconds + constants.unarchivedRecordSeconds);
}

export interface LeafProof {
  /** The leaf's index. */
  index: number;
  /** The 20 sibling nodes on the path to the root, from the bottom up, 32 bytes each. */
  proof: readonly Uint8Array[];
}

export interface ArchiveProof extends LeafProof {
  /** Address of the record before it became a leaf. */
  record: PublicKey;
  execution: ExecutionRecord;
}

/** True if the tree, in its present state, has this execution as this leaf. */
export function verifyArchiveProof(claim: ArchiveProof, tree: Pick<ArchiveTree, 'count' | 'root'>): boolean {
  const { index, proof } = claim;
  if (proof.length !== constants.archiveDepth || proof.some((node) => node.length !== 32)) return false;
  if (!Number.isInteger(index) || index < 0 || index >= tree.count) return false;
  const root = archiveProofRoot(claim);
  return tree.root.length === 32 && root.every((byte, at) => byte === tree.root[at]);
}

/** The root that a proof leads to. It proves something only if a tree's account has had that root. */
export function archiveProofRoot({ record, execution, index, proof }: ArchiveProof): Uint8Array {
  return rootOf(archiveLeaf(record, execution), index, proof);
}

/** The root that the proof of an unclaimed refund leads to, as `archiveProofRoot`. */
export function unclaimedProofRoot({ refund, index, proof }: LeafProof & { refund: UnclaimedRefund }): Uint8Array {
  return rootOf(unclaimedLeaf(refund), index, proof);
}

/** The content of a tree's account. */
export interface ArchiveTree extends Omit<TreeAccount, 'authority'> {
  /** The archive that owns it. */
  authority: PublicKey;
}

/**
 * Reads a tree's account, which has the layout of SPL Account Compression (`ConcurrentMerkleTreeAccount` of
 * `@solana/spl-account-compression` reads it too). Throws RangeError if the data are not such an account of our size.
 */
export function readArchiveTree(data: Uint8Array): ArchiveTree {
  const { authority, ...rest } = readTreeAccount(data);
  return { authority: new PublicKey(authority), ...rest };
}
