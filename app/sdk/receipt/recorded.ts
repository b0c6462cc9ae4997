/**
 * Checks the chain's record of an execution: its account, or its leaf, proven against the account of the tree. A
 * receipt's own archive is not trusted: the fields give the leaf, and leaf and proof give the root.
 */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import { leafOf, provenRoot, readTreeAccount, rootOf, type TreeAccount } from '../program/archiveTree.ts';
import { constants } from '../program/constants.ts';
import { formatUsdc, parseUsdc } from '../wire/usdc.ts';
import type { ExecutionArchive } from '../wire/wire.ts';
import { type OpenCheck, startCheck } from './checks.ts';
import { type Claim, isReceipt, keyOf } from './claim.ts';
import { fromBase64, type NodeAccount, type SolanaNode, Unanswered } from './node.ts';
import { archiveAddress, decodeInText, decodeRecordFields, PROGRAM, type RecordFields } from './onChain.ts';
import { formatResultHash, formatUuid } from './receipt.ts';
import { ArchiveShape } from './shape.ts';

const LAST_ARCHIVE = 2 ** 16 - 1;

/** Asks for the proof of an archived execution; null if there is none. The answer need not be trusted. */
export type FindArchive = (executionId: string) => Promise<ExecutionArchive | null>;

/** The place of a record, before anything is compared. */
export type Found =
  | { kind: 'account'; account: NodeAccount }
  | { kind: 'leaf'; archive: ExecutionArchive; archiveAccount: NodeAccount; tree: NodeAccount; treeAddress: string }
  /** `isAbsent`: the node answered that there is no account. */
  | { kind: 'nothing'; reason: string; isAbsent?: true };

/** Finds the record: by the receipt's proof, else by its account, else by a proof from `findArchive`. */
export async function findRecord(node: SolanaNode, claim: Claim, findArchive?: FindArchive): Promise<Found> {
  try {
    if (claim.archive) return await findLeaf(node, claim.archive);
    const account = await node.account(claim.record);
    if (account?.owner === PROGRAM) return { kind: 'account', account };
    const archive = await askForArchive(claim, findArchive);
    if (archive) return await findLeaf(node, archive);
    const reason =
      'The program has no account at the address of the record. It is on another chain, or was archived or closed since, ' +
      'and no proof of its leaf was given.';
    return { kind: 'nothing', reason, isAbsent: true };
  } catch (error) {
    if (error instanceof Unanswered) return { kind: 'nothing', reason: error.message };
    throw error;
  }
}

async function findLeaf(node: SolanaNode, archive: ExecutionArchive): Promise<Found> {
  const index = archive.archive_index;
  const archiveAccount = index > LAST_ARCHIVE ? null : await node.account(archiveAddress(index));
  if (!archiveAccount) return { kind: 'nothing', reason: `The node has no archive ${index}.` };
  const treeAddress = treeOf(archiveAccount);
  const tree = treeAddress === null ? null : await node.account(treeAddress);
  if (!treeAddress || !tree)
    return { kind: 'nothing', reason: `The node has no tree account of the archive ${index}.` };
  return { kind: 'leaf', archive, archiveAccount, tree, treeAddress };
}

function treeOf({ data }: NodeAccount): string | null {
  try {
    return decodeInText('Archive', data).tree;
  } catch {
    return null;
  }
}

async function askForArchive({ execution_id }: Claim, findArchive?: FindArchive): Promise<ExecutionArchive | null> {
  // If the request fails, or gives no proof, the proof is as unknown as without `findArchive`.
  try {
    const archive = v.parse(ArchiveShape, await findArchive?.(execution_id));
    fromBase64(archive.fields);
    return archive;
  } catch {
    return null;
  }
}

/** Compares the record with the claim. `fields` are the record's fields if the chain proves them, else null. */
export async function checkRecord(node: SolanaNode, claim: Claim, found: Found, findArchive?: FindArchive) {
  const check = startCheck('record', node.source);
  let fields: RecordFields | null = null;
  if (found.kind === 'nothing') check.lacks(found.reason);
  else if (found.kind === 'leaf') fields = await proveLeaf(node, claim, { check, found, findArchive });
  else fields = decodeRecord(check, () => decodeInText('ExecutionRecord', found.account.data));
  if (fields) compareFields(check, claim, fields);
  return { check: check.end(), fields };
}

function decodeRecord(check: OpenCheck, decode: () => RecordFields): RecordFields | null {
  try {
    return decode();
  } catch (error) {
    check.equal('record', `none: ${(error as Error).message}`, 'an ExecutionRecord');
    return null;
  }
}

/** The fields in the leaf. Null if they could not be proven; `check` then has the reason. */
async function proveLeaf(
  node: SolanaNode,
  claim: Claim,
  given: { check: OpenCheck; found: Found & { kind: 'leaf' }; findArchive: FindArchive | undefined },
): Promise<RecordFields | null> {
  const { check, found, findArchive } = given;
  const { archive, tree, treeAddress } = found;
  if (found.archiveAccount.owner !== PROGRAM || tree.owner !== PROGRAM) {
    check.lacks("The archive's accounts do not belong to the program.");
    return null;
  }
  const fields = decodeRecord(check, () => decodeRecordFields(fromBase64(archive.fields)));
  if (!fields) return null;
  check.equal('archive.record', archive.record, claim.record);
  check.equal('archive.archive', archive.archive, archiveAddress(archive.archive_index));
  check.equal('archive.tree', archive.tree, treeAddress);
  const place = placeOf(claim, archive);
  const root = bytesToHex(rootOf(place.leaf, place.index, place.proof));
  check.equal('archive.leaf', archive.leaf, bytesToHex(place.leaf));
  check.equal('archive.root', archive.root, root);
  const present = readTree(tree);
  if (!present) {
    check.lacks("The data of the tree's account is not a tree.");
    return null;
  }
  if (place.index >= present.count) {
    check.equal('archive.leaf_index', `${place.index}`, `one of the tree's ${present.count} leaves`);
    return null;
  }
  let isProven = compareTree(check, place, tree);
  // An account with fewer leaves than this has every root that its tree has had.
  if (!isProven && present.count < constants.archiveBuffer) {
    check.equal('root from fields and proof', root, bytesToHex(present.root));
  } else if (!isProven) {
    const fresh = await askForArchive(claim, findArchive);
    if (fresh && compareTree(check, placeOf(claim, fresh), tree)) {
      check.equal('archive.fields', archive.fields, fresh.fields);
      if (archive.fields !== fresh.fields) return null;
      isProven = true;
    } else check.lacks(fresh ? NEITHER : OUTGROWN);
  }
  if (isProven) await checkArchiving(node, check, found);
  return isProven ? fields : null;
}

const OUTGROWN = 'The tree has grown since then, so a new proof of the leaf is needed. None was given.';
const NEITHER = 'Neither the proof in the receipt nor the new proof leads to nodes that the tree has.';

function placeOf({ record }: Claim, { fields, leaf_index, proof }: ExecutionArchive) {
  const nodes = proof.map((node) => hexToBytes(node));
  return { leaf: leafOf(keyOf(record), fromBase64(fields)), index: leaf_index, proof: nodes };
}

/** True if the tree proves the leaf, by the rule of the program (`provenRoot`). */
function compareTree(check: OpenCheck, place: ReturnType<typeof placeOf>, { data }: NodeAccount): boolean {
  const proven = provenRoot(data, place);
  if (!proven) return false;
  const { leaf, index, proof } = place;
  const root = bytesToHex(rootOf(leaf, index, proof));
  const canopyNode = bytesToHex(rootOf(leaf, index, proof.slice(0, constants.archiveProofNodes)));
  if (root === bytesToHex(proven)) check.equal('root from fields and proof', root, root);
  else check.equal('canopy node from fields and proof', canopyNode, canopyNode);
  return true;
}

function readTree({ data }: NodeAccount): TreeAccount | null {
  try {
    return readTreeAccount(data);
  } catch {
    return null;
  }
}

/** The transaction that made the leaf proves nothing more. But if the receipt names a wrong one, the check fails. */
async function checkArchiving(
  node: SolanaNode,
  check: OpenCheck,
  { archive, treeAddress }: Found & { kind: 'leaf' },
): Promise<void> {
  const unknown = 'It was not checked that archive.transaction archived the record: ';
  try {
    const transaction = await node.transaction(archive.transaction);
    const adds = transaction?.instructions.some(
      ({ program, accounts }) => program === PROGRAM && accounts.includes(treeAddress),
    );
    if (adds === undefined) check.notes(`${unknown}the node's history does not have it.`);
    else check.equal('archive.transaction', adds ? 'adds to the tree' : 'another', 'adds to the tree');
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    check.notes(unknown + error.message);
  }
}

function compareFields(check: OpenCheck, claim: Claim, fields: RecordFields): void {
  const { status } = fields;
  check.equal('status', status, isReceipt(claim) ? 'completed' : status);
  check.equal('execution_id', formatUuid(fields.executionId), claim.execution_id);
  check.equal('agent_id', fields.listing, claim.agent_id);
  check.equal('caller', fields.caller, claim.caller);
  check.equal('signing_key', fields.signingKey, claim.signing_key);
  check.equal('request_hash', bytesToHex(fields.requestHash), claim.request_hash);
  check.equal('result_hash', formatResultHash(fields.resultHash), claim.result_hash);
  const { price_usdc } = claim;
  check.equal(
    'price_usdc',
    formatUsdc(fields.price),
    price_usdc === undefined ? undefined : formatUsdc(parseUsdc(price_usdc)),
  );
  check.equal('fee_bps', `${fields.feeBps}`, claim.fee_bps?.toString());
  check.equal('opened_at', `${fields.openedAt}`, secondsOf(claim.opened_at));
  check.equal('settled_at', `${fields.settledAt}`, secondsOf(claim.settled_at));
}

/** Unix seconds as text. The chain has whole seconds, so a fraction matches no record; Date would drop a small one. */
function secondsOf(time: string | undefined): string | undefined {
  if (time === undefined) return undefined;
  const [whole = '', rest = ''] = time.slice(0, -1).split('.');
  const fraction = rest.replace(/0+$/, '');
  return `${Date.parse(`${whole}Z`) / 1_000}${fraction && `.${fraction}`}`;
}
