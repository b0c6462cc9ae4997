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
import { AT_ONCE, type FoundLeaf, leafOfLine, leavesIn, type Reading, signaturePages } from './archiveLeaves.ts';
import { readAccount } from './connection.ts';
import type { Progress } from './format.ts';
import { Refusal } from './refusal.ts';

/** Leaves below a node of the canopy. */
const BLOCK = 2 ** constants.archiveProofNodes;

/** What the proofs of a service give; null if it gives none that hold, for whatever reason, which is told. */
export async function unlessRebuilt<T>(prove: () => Promise<T>, onProgress: Progress | undefined): Promise<T | null> {
  try {
    return await prove();
  } catch (error) {
    const text = (error as Error).message.replace(/\.$/, '');
    onProgress?.(`${text}. The proof is rebuilt from the chain's transactions ...`);
    return null;
  }
}

/**
 * The leaves of a record, or the unclaimed refunds of a record or deposit, each with its proof. They are found in the
 * transactions that name it. Throws Refusal if the node lacks a leaf of their blocks. The result need not be
 * trusted.
 */
export async function rebuildProofs<Kind extends 'fields' | 'unclaimed'>(
  connection: Connection,
  source: PublicKey,
  { kind, onProgress }: { kind: Kind; onProgress?: Progress | undefined },
): Promise<(ClaimedPlace & LineOf<Kind>)[]> {
  const proven: (ClaimedPlace & LineOf<Kind>)[] = [];
  // A record is archived once, so a missing leaf is noticed.
  const isOnly = kind === 'fields';
  for await (const leaf of leavesNaming(connection, source, { onProgress, skipMissing: isOnly })) {
    if (!hasKind(leaf.line, kind) || !sourceOf(leaf.line).equals(source)) continue;
    proven.push({ ...leaf.line, ...(await rebuildProof(connection, leaf, onProgress)) });
    if (isOnly) break;
  }
  return proven;
}

/** The leaves of the transactions that name an address, the newest first. */
async function* leavesNaming(connection: Connection, source: PublicKey, reading: Reading): AsyncGenerator<FoundLeaf> {
  for await (const page of signaturePages(connection, source)) {
    for (let at = 0; at < page.length; at += AT_ONCE) {
      yield* await leavesIn(connection, page.slice(at, at + AT_ONCE), reading);
    }
  }
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
  const at = leaf.line.leaf_index;
  const first = at - (at % BLOCK);
  const block = createBlock(connection, leaf, { first, onProgress });
  let onChain = await readArchive(connection, index);
  for (let isRepeat = false; ; isRepeat = true) {
    const { tree, data } = onChain;
    if (at >= tree.count) {
      throw new Refusal(`The node does not show the leaf ${at} of the tree ${leaf.tree} yet. Retry.`);
    }
    const leaves = await block.readTo(Math.min(first + BLOCK, tree.count));
    const proof = [...lowerNodes(leaves, at - first), ...upperNodes(data, at)].map((node) => bytesToHex(node));
    const place = { archive_index: index, leaf_index: at, proof };
    // Until its block is full, a proof holds only for the next leaves. Reading may have taken longer than that.
    if (isRepeat || leaves.length === BLOCK) return place;
    onChain = await readArchive(connection, index);
    if (onChain.tree.count === tree.count) return place;
  }
}

/** The leaves of a block, from the transactions before and after that of the given leaf. */
function createBlock(
  connection: Connection,
  { tree, line, signature }: FoundLeaf,
  { first, onProgress }: { first: number; onProgress: Progress | undefined },
) {
  const leaves: Uint8Array[] = [];
  /** The last leaf that was read, and its transaction. */
  const last = { index: line.leaf_index, signature };
  const lacking = (from: number, to: number): number | null => {
    for (let index = from; index < to; index += 1) if (!leaves[index - first]) return index;
    return null;
  };
  /** Reads leaves until it has those from `from` to before `to`. True if it has them. */
  async function read(signatures: string[], from: number, to: number): Promise<boolean> {
    for (let at = 0; at < signatures.length && lacking(from, to) !== null; at += AT_ONCE) {
      const some = signatures.slice(at, at + AT_ONCE);
      for (const found of await leavesIn(connection, some, { onProgress, skipMissing: true })) {
        const index = found.line.leaf_index;
        if (!found.tree.equals(tree) || index < first || index >= first + BLOCK) continue;
        leaves[index - first] = leafOfLine(found.line);
        if (index > last.index) Object.assign(last, { index, signature: found.signature });
      }
    }
    return lacking(from, to) === null;
  }
  return {
    /** The leaves before this index. Those that it has are not read again. */
    async readTo(end: number): Promise<Uint8Array[]> {
      const own = line.leaf_index;
      onProgress?.(`Reading the ${end - first} leaves that the proof needs ...`);
      if (leaves.length === 0) await read([signature], own, end);
      if (lacking(own, end) !== null) {
        for await (const newer of newerPages(connection, tree, last.signature)) {
          if (await read(newer, own, end)) break;
        }
      }
      if (lacking(first, own) !== null) {
        for await (const older of signaturePages(connection, tree, { before: signature })) {
          if (await read(older, first, own)) break;
        }
      }
      const missing = lacking(first, end);
      if (missing === null) return leaves.slice(0, end - first);
      throw new Refusal(`The node lacks the leaf ${missing} of the tree ${tree}. Try a node with a longer history.`);
    },
  };
}

/**
 * Signatures of the transactions after this one that name a tree, the oldest first. A node lists only from the newest,
 * and anyone can make the list long: one signature of each page is kept, and the pages are asked for again.
 */
async function* newerPages(connection: Connection, tree: PublicKey, until: string): AsyncGenerator<string[]> {
  const firsts: string[] = [];
  for await (const [first] of signaturePages(connection, tree, { until })) if (first) firsts.push(first);
  for (const first of firsts.reverse()) {
    for await (const page of signaturePages(connection, tree, { before: first, until })) {
      yield [...page.reverse(), first];
      break;
    }
  }
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
