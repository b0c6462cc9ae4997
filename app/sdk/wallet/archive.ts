/** Checks the archive without trusting anyone: a leaf's proof against the tree's account on any node. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { Connection, PublicKey } from '@solana/web3.js';
import {
  type ArchiveTree,
  archiveLeaf,
  decodeArchived,
  decodeUnclaimed,
  provenRoot,
  readArchiveTree,
} from '../program/archive.ts';
import { rootOf } from '../program/archiveTree.ts';
import {
  type Archive,
  type ExecutionRecord,
  findArchive,
  findExecution,
  PROGRAM_ID,
  type UnclaimedRefund,
} from '../program/program.ts';
import { formatUuid } from '../receipt/receipt.ts';
import type { ExecutionArchive } from '../wire/wire.ts';
import { readAccount } from './connection.ts';
import { Refusal } from './refusal.ts';
import { ask, clientOf, type Service } from './service.ts';

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

/** Where a leaf is and which nodes prove it, as a service says. */
export type ClaimedPlace = Pick<ExecutionArchive, 'archive_index' | 'leaf_index' | 'proof'>;
/** The same with the fields of an archived execution. */
export type ClaimedLeaf = ClaimedPlace & Pick<ExecutionArchive, 'record' | 'fields'>;

/** Finds the proof of an archived execution by its id. The answer need not be trusted. */
export type FindArchive = (executionId: string) => Promise<ClaimedLeaf>;

/** Proofs from the service. Throws Refusal if it has none. */
export const archiveFrom =
  (service: Service): FindArchive =>
  (executionId) =>
    ask(service, () => clientOf(service).request('getExecutionArchive', { execution_id: executionId }));

/** A leaf that the chain proves. */
export interface ProvenPlace extends ArchiveOnChain {
  leafIndex: number;
  /** The 20 siblings on the path to the root, from the bottom up. */
  proof: Uint8Array[];
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
  proof: ClaimedLeaf,
): Promise<ProvenLeaf> {
  const id = formatUuid(executionId);
  const record = findExecution(executionId);
  const execution = readArchivedFields(proof.fields);
  if (proof.record !== record.toBase58() || formatUuid(execution.executionId) !== id) {
    throw new Refusal(`The proof is for the record ${proof.record}, but the record of ${id} is ${record}.`);
  }
  return { ...(await provePlace(connection, proof, archiveLeaf(record, execution))), execution };
}

/** The tree's account has the nodes to which leaf and proof lead (`provenRoot`). Throws Refusal if not. */
export async function provePlace(connection: Connection, place: ClaimedPlace, leaf: Uint8Array): Promise<ProvenPlace> {
  const onChain = await readArchive(connection, place.archive_index);
  const { archive, tree, data } = onChain;
  const proof = place.proof.map((node) => hexToBytes(node));
  const index = place.leaf_index;
  if (index >= tree.count) throw new Refusal(`The tree ${archive.tree} has ${tree.count} leaves and no leaf ${index}.`);
  if (!provenRoot(data, { leaf, index, proof })) {
    throw new Refusal(
      `The fields and their proof give the root ${bytesToHex(rootOf(leaf, index, proof))}, which the tree ${archive.tree} does not have: ` +
        `its present root is ${bytesToHex(tree.root)}. Retry in a few seconds, because the service may be behind. If it fails again, the proof is wrong.`,
    );
  }
  return { ...onChain, leafIndex: index, proof };
}

/** The fields of a record from base64. Throws Refusal if they are not that. */
export function readArchivedFields(base64: string): ExecutionRecord {
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
