/**
 * Proofs of leaves from the chain's own transactions, for whoever gets no valid proof from a service. They need the
 * leaves of one block of 1,024; the tree's account has the nodes above it.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Connection, PublicKey } from '@solana/web3.js';
import { archiveNode, emptyArchiveNode } from '../program/archive.ts';
import { canopyNode } from '../program/archiveTree.ts';
import { constants } from '../program/program.ts';
import type { ArchiveLine } from '../wire/wire.ts';
import { type ClaimedPlace, readArchive, readUnclaimedFields } from './archive.ts';
import { AT_ONCE, type FoundLeaf, leafOfLine, leavesIn, linesOf, signaturePages } from './archiveLeaves.ts';
import { readAccount } from './connection.ts';
import type { Progress } from './format.ts';
import { Refusal } from './refusal.ts';

/** Leaves below a node of the canopy. */
const BLOCK = 2 ** constants.archiveProofNodes;

/** Says why the proofs of a service are not used. */
export function reportRebuilding(reason: unknown, onProgress: Progress | undefined): void {
  const text = (reason as Error).message.replace(/\.$/, '');
  onProgress?.(`${text}. The proof is rebuilt from the chain's transactions ...`);
}

/**
 * The leaves of a record, or the unclaimed refunds of a record or deposit, each with its proof. They are found in the
 * transactions that name it. Throws Refusal if the node lacks a transaction of their blocks. The result need not be
 * trusted.
 */
export async function rebuildProofs<Kind extends 'fields' | 'unclaimed'>(
  connection: Connection,
  source: PublicKey,
  { kind, onProgress }: { kind: Kind; onProgress?: Progress | undefined },
): Promise<(ClaimedPlace & LineOf<Kind>)[]> {
  const found: FoundLeaf[] = [];
  for await (const page of signaturePages(connection, source)) {
    for (let at = 0; at < page.length; at += AT_ONCE) {
      found.push(...(await leavesIn(connection, page.slice(at, at + AT_ONCE), onProgress)));
    }
  }
  const proven: (ClaimedPlace & LineOf<Kind>)[] = [];
  for (const leaf of found) {
    if (!hasKind(leaf.line, kind) || !sourceOf(leaf.line).equals(source)) continue;
    proven.push({ ...leaf.line, ...(await rebuildProof(connection, leaf, onProgress)) });
  }
  return proven;
}

type LineOf<Kind extends string> = Extract<ArchiveLine, Record<Kind, string>>;

const hasKind = <Kind extends string>(line: ArchiveLine, kind: Kind): line is LineOf<Kind> => kind in line;

const sourceOf = (line: ArchiveLine): PublicKey =>
  'unclaimed' in line ? readUnclaimedFields(line.unclaimed).source : new PublicKey(line.record);

async function rebuildProof(
  connection: Connection,
  leaf: FoundLeaf,
  onProgress: Progress | undefined,
): Promise<ClaimedPlace> {
  const missing = `The node does not show the archive ${leaf.archive}.`;
  const { index } = await readAccount(connection, 'Archive', leaf.archive, missing);
  const { tree, data } = await readArchive(connection, index);
  const at = leaf.line.leaf_index;
  if (at >= tree.count) throw new Refusal(`The node does not show the leaf ${at} of the tree ${leaf.tree} yet. Retry.`);
  const first = at - (at % BLOCK);
  const block = await readBlock(connection, leaf, { first, end: Math.min(first + BLOCK, tree.count), onProgress });
  const proof = [...lowerNodes(block, at - first), ...upperNodes(data, at)].map((node) => bytesToHex(node));
  return { archive_index: index, leaf_index: at, proof };
}

/** The leaves from `first` to before `end`, from the transactions before and after that of the given leaf. */
async function readBlock(
  connection: Connection,
  { tree, line, signature }: FoundLeaf,
  { first, end, onProgress }: { first: number; end: number; onProgress: Progress | undefined },
): Promise<Uint8Array[]> {
  const leaves: Uint8Array[] = Array(end - first);
  const missing = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) if (!leaves[index - first]) return index;
    return null;
  };
  /** Reads leaves until it has those from `from` to before `to`. */
  const read = async (signatures: string[], from: number, to: number): Promise<void> => {
    for (let at = 0; at < signatures.length && missing(from, to) !== null; at += AT_ONCE) {
      const found = await leavesIn(connection, signatures.slice(at, at + AT_ONCE), onProgress);
      for (const other of linesOf(found, tree)) {
        if (other.leaf_index >= first && other.leaf_index < end) leaves[other.leaf_index - first] = leafOfLine(other);
      }
    }
  };
  onProgress?.(`Reading the ${end - first} leaves that the proof needs ...`);
  const newer: string[] = [];
  for await (const page of signaturePages(connection, tree, { until: signature })) newer.push(...page);
  await read([signature, ...newer.reverse()], line.leaf_index, end);
  for await (const older of signaturePages(connection, tree, { before: signature })) {
    await read(older, first, line.leaf_index);
    if (missing(first, line.leaf_index) === null) break;
  }
  const lacking = missing(first, end);
  if (lacking === null) return leaves;
  throw new Refusal(`The node lacks the leaf ${lacking} of the tree ${tree}. Try a node with a longer history.`);
}

/** The siblings of a leaf and of the nodes above it, below the canopy. */
function lowerNodes(leaves: Uint8Array[], at: number): Uint8Array[] {
  let nodes = leaves;
  return Array.from({ length: constants.archiveProofNodes }, (_, level) => {
    const nodeAt = (index: number) => nodes[index] ?? emptyArchiveNode(level);
    const sibling = nodeAt((at >> level) ^ 1);
    const above = Math.ceil(nodes.length / 2);
    nodes = Array.from({ length: above }, (__, index) => archiveNode(nodeAt(2 * index), nodeAt(2 * index + 1)));
    return sibling;
  });
}

/** The siblings in the canopy of the nodes above a leaf. */
function upperNodes(data: Uint8Array, index: number): Uint8Array[] {
  const levels = constants.archiveDepth - constants.archiveProofNodes;
  return Array.from({ length: levels }, (_, up) => {
    const level = constants.archiveProofNodes + up;
    const sibling = canopyNode(data, level, index ^ (1 << level));
    return sibling.some((byte) => byte !== 0) ? sibling : emptyArchiveNode(level);
  });
}
