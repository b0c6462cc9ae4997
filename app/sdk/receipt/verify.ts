/**
 * Checks a receipt by itself and then against any Solana node, in a browser or in Node, without trusting anyone. Each
 * check reports what it compared. Unknown facts never fail a receipt, and no node decides about a hash or a signature.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import { idl } from '../program/idl/idl.ts';
import { CHECKS, type Check, type CheckName, notChecked, startCheck } from './checks.ts';
import { type Claim, checkExecutionSignature, checkRequestHash, checkResultHash, checkSignature } from './claim.ts';
import { createNode, type NodeAccount, type SolanaNode, Unanswered } from './node.ts';
import {
  type DisputeFields,
  decodeInText,
  disputeAddress,
  PROGRAM,
  type RecordFields,
  recordAddress,
} from './onChain.ts';
import { checkOpening, checkSettlement, type Refund } from './paid.ts';
import { parseUuid } from './receipt.ts';
import { checkRecord, type FindArchive, type Found, findRecord } from './recorded.ts';
import { ReceiptShape } from './shape.ts';

export type { Check, CheckName, Comparison } from './checks.ts';
export { CHECKS } from './checks.ts';
export type { Refund } from './paid.ts';

/** The node's facts about the execution. A field is null if the node does not show it. */
export interface ExecutionFacts {
  status: RecordFields['status'] | null;
  /** The outcome of its dispute; null if it was never disputed, or if the dispute's account is closed. */
  dispute: DisputeFields['outcome'] | null;
  agentId: string | null;
  /** The wallet that paid. */
  caller: string | null;
  /** The wallet that listed the agent. */
  creator: string | null;
  /** Base units. */
  price: bigint | null;
  /** Unix seconds at which it was opened. */
  openedAt: bigint | null;
  /** Hash of the task and its parameters, hex. */
  requestHash: string | null;
  /** Signatures of the transactions that opened it, and that paid it out or refunded it. */
  transactions: { open: string | null; end: string | null };
  /** The refund that gave the whole price back, if the settlement check proved one. */
  refund: Refund | null;
  /** The node answered, and has neither an account nor a transaction of the execution. */
  isAbsent: boolean;
}

export interface VerifyOptions {
  /** JSON-RPC URL of a Solana node that you trust more than the sender of the receipt; null for no network. */
  rpcUrl: string | null;
  /** Default: the platform's `fetch`. */
  fetch?: typeof fetch;
  /** Called with each check as soon as it is made. */
  onCheck?: (check: Check) => void;
  /** Called once, before the promise resolves, with the node's facts about the execution. Not called without a node. */
  onFacts?: (facts: ExecutionFacts) => void;
  /** Returns the proof of an archived execution. Called if the receipt has no proof, or one of an outdated root. */
  findArchive?: FindArchive;
  /** The execution that the receipt must be of, for a receipt that was asked for by its id. */
  executionId?: string | undefined;
}

const NO_NETWORK = 'No node was given, so the chain was not read.';

/**
 * Checks a receipt, which may be any value. Returns every check of `CHECKS` in that order; never throws for a bad
 * receipt.
 */
export async function verifyReceipt(receipt: unknown, options: VerifyOptions): Promise<Check[]> {
  const { checks, add } = collect(options);
  const shape = startCheck('shape', 'receipt');
  const { success, output: claim, issues } = v.safeParse(ReceiptShape, receipt, { message: explain });
  if (!success) {
    for (const issue of issues) shape.equal(placeOf(issue), 'malformed', issue.message);
    add(shape.end());
    for (const name of CHECKS.slice(1)) add(notChecked(name, 'receipt', 'It does not have the format of a receipt.'));
    return checks;
  }
  shape.equal('version', `${claim.version}`, '1');
  shape.equal('execution_id', claim.execution_id, options.executionId);
  add(shape.end());
  await verify(claim, { ...options, add });
  return checks;
}

/**
 * Checks an execution by its id alone: the node's facts agree, and the money went to the right accounts. Result and
 * signatures are only in a receipt and are not checked.
 */
export async function verifyExecution(executionId: string, options: VerifyOptions): Promise<Check[]> {
  const id = parseUuid(executionId);
  if (!id) throw new RangeError('the execution id must be a UUID in lower case');
  const { checks, add } = collect(options);
  add(notChecked('shape', 'receipt', 'No receipt was given, only the id of the execution.'));
  await verify({ program_id: PROGRAM, execution_id: executionId, record: recordAddress(id) }, { ...options, add });
  return checks;
}

/** The expected form of a malformed field. */
const explain = (issue: v.BaseIssue<unknown>): string => {
  if (isSurplus(issue)) return 'no other fields';
  const { input, kind, type, expected } = issue;
  if (input === undefined) return 'a value';
  return kind === 'schema' && type !== 'literal' ? `of type ${expected}` : 'well-formed';
};

const isSurplus = ({ expected }: v.BaseIssue<unknown>): boolean => expected === 'never';

/** The path of the malformed field, or of the object with an extra field. */
function placeOf(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map(({ key }) => key) ?? [];
  return (isSurplus(issue) ? keys.slice(0, -1) : keys).join('.') || 'receipt';
}

function collect({ onCheck }: VerifyOptions) {
  const checks: Check[] = [];
  const add = (check: Check): void => {
    checks.push(check);
    onCheck?.(check);
  };
  return { checks, add };
}

async function verify(claim: Claim, options: VerifyOptions & { add: (check: Check) => void }): Promise<void> {
  const { add, rpcUrl, findArchive } = options;
  for (const check of [checkResultHash, checkSignature, checkRequestHash, checkExecutionSignature]) add(check(claim));
  if (rpcUrl === null) {
    for (const name of CHECKS.slice(CHECKS.indexOf('genesis_hash'))) add(withoutNode(name, claim));
    return;
  }
  const node = createNode(rpcUrl, options.fetch);
  add(await checkGenesis(node, claim));
  const found = await findRecord(node, claim, findArchive);
  add(checkProgram(claim, node.source, found));
  const { check, fields } = await checkRecord(node, claim, found, findArchive);
  add(check);
  const listing = await readListing(node, claim.agent_id ?? fields?.listing);
  add(checkSigningKey(claim, node.source, { fields, listing }));
  const opening = await checkOpening(node, claim);
  add(opening.check);
  const caller = fields?.caller ?? opening.caller;
  const settlement = await checkSettlement(node, claim, { fields, creator: listing.found?.creator ?? null, caller });
  add(settlement.check);
  options.onFacts?.({
    status: fields?.status ?? null,
    dispute: await readDispute(node, claim, fields),
    agentId: fields?.listing ?? null,
    caller,
    price: fields?.price ?? null,
    openedAt: fields?.openedAt ?? null,
    creator: listing.found?.creator ?? null,
    requestHash: fields ? bytesToHex(fields.requestHash) : null,
    transactions: { open: opening.transaction, end: settlement.transaction },
    refund: settlement.refund,
    isAbsent: found.kind === 'nothing' && found.isAbsent === true && opening.isAbsent,
  });
}

function withoutNode(name: CheckName, claim: Claim): Check {
  return name === 'program'
    ? checkProgram(claim, 'receipt', { kind: 'nothing', reason: NO_NETWORK })
    : notChecked(name, 'receipt', NO_NETWORK);
}

async function checkGenesis(node: SolanaNode, { genesis_hash }: Claim): Promise<Check> {
  const check = startCheck('genesis_hash', node.source);
  try {
    const genesis = await node.genesisHash();
    check.equal('genesis_hash', genesis, genesis_hash);
    if (genesis_hash === undefined)
      check.lacks(`Without a receipt, the expected chain is unknown. The node is on the chain ${genesis}.`);
  } catch (error) {
    check.lacks(reasonOf(error));
  }
  return check.end();
}

/** Checks that it is our program, that the record's address is right, and that the program owns the account. */
function checkProgram(claim: Claim, source: string, found: Found): Check {
  const check = startCheck('program', source);
  check.equal('program_id', claim.program_id, idl.address);
  const id = parseUuid(claim.execution_id);
  check.equal('record', claim.record, id ? recordAddress(id) : 'none: the execution_id is not a UUID');
  if (found.kind === 'account') check.equal("owner of the record's account", found.account.owner, PROGRAM);
  if (found.kind === 'leaf') {
    check.equal("owner of the archive's account", found.archiveAccount.owner, PROGRAM);
    check.equal("owner of the tree's account", found.tree.owner, PROGRAM);
  }
  if (found.kind === 'nothing') check.lacks(found.reason);
  return check.end();
}

/** A dispute changes no record, so that only its own account shows it. */
async function readDispute(
  node: SolanaNode,
  { record }: Claim,
  fields: RecordFields | null,
): Promise<DisputeFields['outcome'] | null> {
  if (fields?.status !== 'completed') return null;
  try {
    const account = await node.account(disputeAddress(record));
    return account?.owner === PROGRAM ? decodeInText('Dispute', account.data).outcome : null;
  } catch {
    // The checks say nothing about disputes, so none fails.
    return null;
  }
}

interface Listing {
  /** Null if the node has no listing or does not answer. */
  found: { signingKey: string; creator: string } | null;
  reason: string;
}

async function readListing(node: SolanaNode, address: string | undefined): Promise<Listing> {
  if (address === undefined) return { found: null, reason: 'Neither a receipt nor the record names the listing.' };
  let account: NodeAccount | null;
  try {
    account = await node.account(address);
  } catch (error) {
    return { found: null, reason: reasonOf(error) };
  }
  try {
    if (account?.owner === PROGRAM) return { found: decodeInText('AgentListing', account.data), reason: '' };
  } catch {
    // Data that are not a listing count as no listing.
  }
  return { found: null, reason: `The node has no listing at ${address}.` };
}

/** Listings change their keys: the present key is accepted, or the key of the record's open. */
function checkSigningKey(
  { signing_key }: Claim,
  source: string,
  { fields, listing }: { fields: RecordFields | null; listing: Listing },
): Check {
  const check = startCheck('signing_key', source);
  const present = listing.found?.signingKey;
  if (signing_key === undefined) check.lacks('No receipt was given, so there is no key to compare.');
  else if (present === signing_key) check.equal('signing_key of the listing', present, signing_key);
  else if (fields) {
    check.equal('signing_key of the record', fields.signingKey, signing_key);
    check.notes(present === undefined ? listing.reason : `The listing has another key now: ${present}.`);
  } else if (present === undefined) check.lacks(listing.reason);
  else check.lacks(`The listing has the key ${present} now; no record shows its earlier key.`);
  return check.end();
}

function reasonOf(error: unknown): string {
  if (error instanceof Unanswered) return error.message;
  throw error;
}
