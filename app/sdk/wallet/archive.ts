/**
 * Checks the archive without trusting anyone: an execution's proof against the tree's account on any node. It can also
 * rebuild a whole tree from its own transactions, or from a file with its leaves.
 */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type Connection, PublicKey, type VersionedTransactionResponse } from '@solana/web3.js';
import {
  type ArchiveTree,
  archiveLeaf,
  archiveNode,
  decodeArchived,
  decodeUnclaimed,
  emptyArchiveNode,
  encodeArchived,
  encodeUnclaimed,
  provenRoot,
  readArchiveTree,
  unclaimedLeaf,
  unclaimedOf,
} from '../program/archive.ts';
import { rootOf } from '../program/archiveTree.ts';
import { decodeEventInstruction } from '../program/events.ts';
import {
  type Archive,
  constants,
  type ExecutionRecord,
  findArchive,
  findExecution,
  PROGRAM_ID,
  type UnclaimedRefund,
} from '../program/program.ts';
import { innerDataOf, readTransaction, UnreadableTransaction } from '../program/transaction.ts';
import { formatUuid } from '../receipt/receipt.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { ARCHIVE_PAGE, type ArchiveLine, type ExecutionArchive } from '../wire/wire.ts';
import { readAccount } from './connection.ts';
import { formatBytes, formatTime, type Progress } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { ask, restClient, type Service } from './service.ts';

/** Parallel requests for transactions. A public node still answers this many. */
const AT_ONCE = 8;
const SIGNATURES_AT_ONCE = 1_000;

/** An archive and its tree's account, as read from a node. */
export interface ArchiveOnChain {
  address: PublicKey;
  archive: Archive;
  tree: ArchiveTree;
  /** The data of the tree's account. */
  data: Uint8Array;
}

/** Reads an archive by its index. Throws Refusal if it does not exist. */
export async function readArchive(connection: Connection, index: number): Promise<ArchiveOnChain> {
  const address = findArchive(index);
  const archive = await readAccount(connection, 'Archive', address, `No archive ${index} exists on this chain.`);
  const account = await connection.getAccountInfo(archive.tree);
  if (!account?.owner.equals(PROGRAM_ID)) throw new Refusal(`The tree ${archive.tree} is not on this chain.`);
  return { address, archive, tree: readArchiveTree(account.data), data: account.data };
}

/** Finds the proof of an archived execution by its id. The answer need not be trusted. */
export type FindArchive = (executionId: string) => Promise<ExecutionArchive>;

/** Proofs from the service. Throws Refusal if it has none. */
export const archiveFrom =
  (service: Service): FindArchive =>
  (executionId) =>
    ask(service, () => restClient(service).getExecutionArchive(executionId));

/** A leaf that the chain proves. */
export interface ProvenPlace extends ArchiveOnChain {
  leafIndex: number;
  /** The 20 siblings on the path to the root, from the bottom up. */
  proof: Uint8Array[];
  /** The root that proves the leaf: the present one, or an earlier one of the same tree. Hex. */
  root: string;
}

/** An archived execution that the chain proves. */
export interface ProvenLeaf extends ProvenPlace {
  execution: ExecutionRecord;
}

/**
 * Proves an execution against the chain. The fields give the leaf, and leaf and proof must lead to nodes that the tree's
 * own account has. Throws Refusal if any step fails.
 */
export async function proveLeaf(
  connection: Connection,
  executionId: Uint8Array,
  proof: ExecutionArchive,
): Promise<ProvenLeaf> {
  const id = formatUuid(executionId);
  const record = findExecution(executionId);
  const execution = readFields(proof.fields);
  if (proof.record !== record.toBase58() || formatUuid(execution.executionId) !== id) {
    throw new Refusal(`The proof is for the record ${proof.record}, but the record of ${id} is ${record}.`);
  }
  return { ...(await provePlace(connection, proof, archiveLeaf(record, execution))), execution };
}

/** Where a leaf is and which nodes prove it, as a service says. */
type ClaimedPlace = Pick<ExecutionArchive, 'archive_index' | 'leaf_index' | 'proof'>;

/** The tree's account has the nodes to which leaf and proof lead (`provenRoot`). Throws Refusal if not. */
export async function provePlace(connection: Connection, place: ClaimedPlace, leaf: Uint8Array): Promise<ProvenPlace> {
  const onChain = await readArchive(connection, place.archive_index);
  const { archive, tree, data } = onChain;
  const proof = place.proof.map((node) => hexToBytes(node));
  const index = place.leaf_index;
  if (index >= tree.count) throw new Refusal(`The tree ${archive.tree} has ${tree.count} leaves and no leaf ${index}.`);
  const root = provenRoot(data, { leaf, index, proof });
  if (!root) {
    throw new Refusal(
      `The fields and their proof give the root ${bytesToHex(rootOf(leaf, index, proof))}, which the tree ${archive.tree} does not have: ` +
        `its present root is ${bytesToHex(tree.root)}. Retry in a few seconds, because the service may be behind. If it fails again, the proof is wrong.`,
    );
  }
  return { ...onChain, leafIndex: index, proof, root: bytesToHex(root) };
}

/** Proves an execution by a proof from the service or from `given`. Throws Refusal if any step fails. */
export async function verifyArchived(
  { connection }: Pick<MarketplaceChain, 'connection'>,
  service: Service,
  { executionId, given }: { executionId: Uint8Array; given?: ExecutionArchive },
) {
  const id = formatUuid(executionId);
  const record = findExecution(executionId);
  const found = given ?? (await archiveFrom(service)(id));
  const { address, archive, tree, execution, leafIndex, root } = await proveLeaf(connection, executionId, found);
  return {
    execution_id: id,
    verified: true,
    record: record.toBase58(),
    status: execution.status,
    agent_id: execution.listing.toBase58(),
    caller: execution.caller.toBase58(),
    price_usdc: formatUsdc(execution.price),
    request_hash: formatBytes(execution.requestHash),
    result_hash: formatBytes(execution.resultHash),
    settled_at: formatTime(execution.settledAt),
    archive: address.toBase58(),
    tree: archive.tree.toBase58(),
    leaf_index: leafIndex,
    leaf: bytesToHex(archiveLeaf(record, execution)),
    root,
    /** An earlier root is equally valid, because leaves are only added. */
    root_is: root === bytesToHex(tree.root) ? 'the present root' : 'an earlier root of the same tree',
    fields_and_proof_from: given ? 'the given proof' : service.baseUrl,
    root_from: connection.rpcEndpoint,
  };
}

function readFields(base64: string) {
  return decoded(base64, 'a valid record', decodeArchived);
}

/** The fields of an unclaimed refund from base64. Throws Refusal if they are not that. */
export function readUnclaimedFields(base64: string): UnclaimedRefund {
  return decoded(base64, 'an unclaimed refund', decodeUnclaimed);
}

function decoded<Fields>(base64: string, what: string, decode: (bytes: Uint8Array) => Fields): Fields {
  try {
    return decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
  } catch (error) {
    throw new Refusal(`The fields are not ${what}: ${(error as Error).message}.`, { cause: error });
  }
}

/** The leaf of a published line. */
function leafOfLine(line: ArchiveLine): Uint8Array {
  if ('unclaimed' in line) return unclaimedLeaf(readUnclaimedFields(line.unclaimed));
  return archiveLeaf(new PublicKey(line.record), readFields(line.fields));
}

/** The leaves of an archive in order, as a service publishes them. */
export async function* publishedLeaves(service: Service, index: number): AsyncGenerator<ArchiveLine> {
  for (let first = 0; ; ) {
    const page = await ask(service, () => restClient(service).listLeaves(index, first));
    yield* page;
    first += page.length;
    if (page.length < ARCHIVE_PAGE) return;
  }
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

/**
 * Rebuilds an archive's root from its leaves in order, and reports if it equals the one on-chain. The leaves come from
 * its own transactions unless `leaves` is given. `onLeaf` gets each leaf. Throws Refusal if leaves are missing or
 * malformed.
 */
export async function rebuildArchive(
  { connection }: Pick<MarketplaceChain, 'connection'>,
  options: {
    index: number;
    leaves?: Iterable<ArchiveLine> | AsyncIterable<ArchiveLine>;
    onLeaf?: (leaf: ArchiveLine) => void;
    onProgress?: Progress;
  },
) {
  const { address, archive, tree } = await readArchive(connection, options.index);
  const leaves = options.leaves ?? (await readLeaves(connection, archive.tree, tree.count, options.onProgress));
  const made = createArchiveRoot();
  for await (const leaf of leaves) {
    if (leaf.leaf_index !== made.count)
      throw new Refusal(`The leaf ${made.count} is missing: got leaf ${leaf.leaf_index}.`);
    made.add(leafOfLine(leaf));
    options.onLeaf?.(leaf);
  }
  const root = bytesToHex(made.root());
  return {
    archive: address.toBase58(),
    tree: archive.tree.toBase58(),
    leaves: made.count,
    root,
    leaves_on_chain: tree.count,
    root_on_chain: bytesToHex(tree.root),
    is_equal: made.count === tree.count && root === bytesToHex(tree.root),
    leaves_from: options.leaves ? 'the given leaves' : connection.rpcEndpoint,
    root_from: connection.rpcEndpoint,
  };
}

/**
 * The first `count` leaves of a tree, from the program's calls to itself in transactions that name the tree. Leaves
 * added after the count was read are skipped.
 */
async function readLeaves(
  connection: Connection,
  tree: PublicKey,
  count: number,
  onProgress: Progress | undefined,
): Promise<ArchiveLine[]> {
  const signatures: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await connection.getSignaturesForAddress(tree, {
      limit: SIGNATURES_AT_ONCE,
      ...(before && { before }),
    });
    signatures.push(...page.filter(({ err }) => err === null).map(({ signature }) => signature));
    before = page.at(-1)?.signature;
    if (page.length < SIGNATURES_AT_ONCE) break;
  }
  const leaves: ArchiveLine[] = [];
  for (let at = 0; at < signatures.length; at += AT_ONCE) {
    onProgress?.(`Reading transaction ${at + 1} of ${signatures.length} ...`);
    const some = signatures.slice(at, at + AT_ONCE);
    const found = await Promise.all(some.map((signature) => tryTransaction(connection, signature, onProgress)));
    leaves.push(...found.flatMap((transaction) => (transaction ? leavesOf(transaction, tree) : [])));
  }
  return leaves.filter(({ leaf_index }) => leaf_index < count).sort((one, other) => one.leaf_index - other.leaf_index);
}

/** Null if it cannot be read. Anyone can name the tree in any transaction; a missing leaf is noticed. */
async function tryTransaction(
  connection: Connection,
  signature: string,
  onProgress: Progress | undefined,
): Promise<VersionedTransactionResponse | null> {
  try {
    const transaction = await readTransaction(connection, signature);
    if (transaction?.meta) return transaction;
  } catch (error) {
    if (!(error instanceof UnreadableTransaction)) throw error;
    onProgress?.(`Skipped: ${error.message}.`);
    return null;
  }
  throw new Refusal(`The node does not have the transaction ${signature}. Try a node with a longer history.`);
}

/** The leaves that a transaction added. Anyone can name the tree in a transaction that adds none. */
function leavesOf(transaction: VersionedTransactionResponse, tree: PublicKey): ArchiveLine[] {
  return innerDataOf(transaction, PROGRAM_ID).flatMap((data): ArchiveLine[] => {
    const event = decodeEventInstruction(data);
    const unclaimed = event && unclaimedOf(event);
    if (unclaimed?.leaf.tree.equals(tree)) {
      return [{ leaf_index: unclaimed.leaf.leafIndex, unclaimed: toBase64(encodeUnclaimed(unclaimed.refund)) }];
    }
    if (event?.name !== 'ExecutionsArchived' || !event.data.tree.equals(tree)) return [];
    const { firstIndex, executions } = event.data;
    return executions.map(({ record, execution }, at) => ({
      leaf_index: firstIndex + at,
      record: record.toBase58(),
      fields: toBase64(encodeArchived(execution)),
    }));
  });
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
