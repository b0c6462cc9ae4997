/**
 * Checks the two transactions of an execution: the one that put the price into escrow, and the one that paid it out.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeBase58 } from '../program/base58.ts';
import { constants } from '../program/constants.ts';
import { idl } from '../program/idl/idl.ts';
import { parseUsdc } from '../wire/usdc.ts';
import { type OpenCheck, startCheck } from './checks.ts';
import { type Claim, isReceipt, keyOf, validity } from './claim.ts';
import { type NodeInstruction, type NodeTransaction, type SolanaNode, Unanswered } from './node.ts';
import {
  decodeInstruction,
  escrowAddress,
  PROGRAM,
  type RecordFields,
  treasuryAddress,
  unclaimedAddress,
} from './onChain.ts';
import { formatResultHash, formatSignature, verifyResultSignature } from './receipt.ts';
import { sentFrom } from './transfers.ts';

const OPENS = ['open_execution', 'open_execution_with_grant', 'open_execution_from_deposit'];
const SETTLES = ['settle_execution'];
const MOVE = 'move_unclaimed_refund';
const REFUNDS = ['refund_execution', MOVE];

/** An instruction of the program with its named arguments and accounts. */
interface Call {
  name: string;
  args: Record<string, unknown>;
  accounts: Record<string, string>;
}

interface Landed {
  transaction: NodeTransaction;
  call: Call;
}

interface Known {
  /** The record's fields, if the chain proves them. */
  fields: RecordFields | null;
  /** The wallet of the listing's creator; null if unknown. */
  creator: string | null;
  /** The wallet that paid, by the record or by the first transaction; null if unknown. */
  caller: string | null;
}

/** The refund of an execution, from the transfers of its transaction. */
export interface Refund {
  /** Base units that the caller got back. */
  amount: bigint;
  /** Signature of the transaction, base58. */
  transaction: string;
  /** Unix seconds; null if the node does not report it. */
  at: number | null;
}

/**
 * Checks the open. `caller` is the wallet that paid, from this transaction; `transaction` is its signature. `isAbsent`:
 * the node answered that there is no such transaction.
 */
export async function checkOpening(node: SolanaNode, claim: Claim) {
  const check = startCheck('opening', node.source);
  const landed = await readLanded(check, node, { claim, names: OPENS, signature: claim.transactions?.open });
  if (!landed || landed === 'none') {
    return { check: check.end(), caller: null, transaction: null, isAbsent: landed === 'none' };
  }
  const { args, accounts } = landed.call;
  check.equal('agent_id', accounts.listing ?? '', claim.agent_id);
  // An open from a deposit has the common arguments in `open`.
  const { requestHash } = (args.open ?? args) as Record<string, unknown>;
  check.equal('request_hash', hexOf(requestHash), claim.request_hash);
  const { signature: transaction } = landed.transaction;
  return { check: check.end(), caller: accounts.caller ?? null, transaction, isAbsent: false };
}

/**
 * Checks that the program accepted this signature for this hash, and paid the price less the fee, exact to the base
 * unit. Without a receipt the last transaction may be a refund instead: then it paid everything back to the caller.
 * Returns the transaction's signature too.
 */
export async function checkSettlement(node: SolanaNode, claim: Claim, known: Known) {
  const { fields, creator } = known;
  const check = startCheck('settlement', node.source);
  const names = isReceipt(claim) ? SETTLES : [...SETTLES, ...REFUNDS];
  const landed = await readLanded(check, node, { claim, names, signature: claim.transactions?.settle });
  if (!landed || landed === 'none') return { check: check.end(), refund: null, transaction: null };
  const { transaction, call } = landed;
  if (REFUNDS.includes(call.name)) {
    const amount = compareRefund(check, landed, known);
    const ended = check.end();
    const isProven = ended.state === 'passed' && amount !== null;
    const refund = { amount: amount ?? 0n, transaction: transaction.signature, at: transaction.blockTime };
    return { check: ended, refund: isProven ? refund : null, transaction: transaction.signature };
  }
  const { resultHash, signature } = call.args as { resultHash: Uint8Array; signature: Uint8Array };
  check.equal('agent_id', call.accounts.listing ?? '', claim.agent_id ?? fields?.listing);
  const committed = formatResultHash(resultHash);
  check.equal(
    'result_hash',
    committed,
    claim.result_hash ?? (fields ? formatResultHash(fields.resultHash) : undefined),
  );
  check.equal('signature', formatSignature(signature), claim.signature);
  const key = claim.signing_key ?? fields?.signingKey;
  if (key !== undefined) {
    const isValid = verifyResultSignature(keyOf(key), committed, formatSignature(signature));
    check.equal('signature of signing_key over result_hash', validity(isValid), 'valid');
  }
  comparePayment(check, landed, { creator, terms: termsOf(claim, fields) });
  return { check: check.end(), refund: null, transaction: transaction.signature };
}

/**
 * Compares the transfers out of the escrow with what the caller's account received, or the account of unclaimed refunds.
 * Returns the amount; null if the node does not report it.
 */
function compareRefund(check: OpenCheck, landed: Landed, { fields, caller }: Known): bigint | null {
  const { escrow = '', record = '', destination = '', unclaimed = '' } = landed.call.accounts;
  const isUnclaimed = landed.call.name === MOVE;
  check.equal('status', 'refunded', fields?.status);
  check.equal('escrow', escrow, escrowAddress(record));
  const moved = readMoved(check, landed, isUnclaimed ? unclaimed : destination);
  if (!moved) return null;
  const { received, total, owner, left } = moved;
  if (fields) check.equal('escrow held at least the price', `${total >= fields.price}`, 'true');
  check.equal(isUnclaimed ? 'base units unclaimed' : 'base units back to the caller', `${received}`, `${total}`);
  check.equal('base units left in the escrow', `${left}`, '0');
  if (isUnclaimed) check.equal('account of unclaimed refunds', unclaimed, unclaimedAddress());
  else if (caller === null || owner === null)
    check.notes("The owner of the caller's account was not compared: the node does not report it.");
  else check.equal("owner of the caller's account", owner, caller);
  return received;
}

/**
 * The transfers out of the call's escrow, and the accounts after the transaction. Other calls in the transaction do not
 * change them. Null if the node does not report them; `check` then has the reason.
 */
function readMoved(check: OpenCheck, { transaction, call }: Landed, receiver: string) {
  const { escrow = '' } = call.accounts;
  const sent = sentFrom(escrow, transaction.instructions);
  // Every settle and refund moves the price, which is never 0.
  if (sent.size === 0) {
    check.lacks('The node does not report the transfers out of the escrow.');
    return null;
  }
  const { holdings } = transaction;
  const held = holdings?.get(receiver);
  if (!holdings || !held) {
    check.lacks('The node does not report the token balances.');
    return null;
  }
  return {
    sent,
    received: sent.get(receiver) ?? 0n,
    /** All that the escrow held, if nothing is left in it. */
    total: [...sent.values()].reduce((sum, amount) => sum + amount, 0n),
    owner: held.owner,
    left: holdings.get(escrow)?.amount ?? 0n,
  };
}

const hexOf = (bytes: unknown): string => (bytes instanceof Uint8Array ? bytesToHex(bytes) : '');

function termsOf({ price_usdc, fee_bps }: Claim, fields: RecordFields | null) {
  const price = price_usdc === undefined ? fields?.price : parseUsdc(price_usdc);
  const feeBps = fee_bps ?? fields?.feeBps;
  return price === undefined || feeBps === undefined ? null : { price, feeBps };
}

interface Payment {
  creator: string | null;
  terms: { price: bigint; feeBps: number } | null;
}

/**
 * Compares the amounts that the escrow sent to each account. It may have held more than the price, because anyone can
 * send USDC there. The surplus goes to the treasury. If the fee was waived because the treasury cannot receive,
 * everything goes to the creator.
 */
function comparePayment(check: OpenCheck, landed: Landed, { creator, terms }: Payment): void {
  const { escrow = '', payout = '', treasury = '', record = '' } = landed.call.accounts;
  check.equal('escrow', escrow, escrowAddress(record));
  check.equal('treasury', treasury, treasuryAddress());
  if (!terms) {
    check.lacks('The price is unknown: neither the receipt nor the record has it.');
    return;
  }
  const moved = readMoved(check, landed, payout);
  if (!moved) return;
  const { sent, received, total, owner, left } = moved;
  const { price, feeBps } = terms;
  const fee = (price * BigInt(feeBps)) / BigInt(constants.bpsDenominator);
  const toTreasury = sent.get(treasury) ?? 0n;
  const isWaived = feeBps === 0 && toTreasury === 0n;
  const creatorAmount = isWaived ? total : price - fee;
  check.equal('escrow held at least the price', `${total >= price}`, 'true');
  check.equal('base units to the creator', `${received}`, `${creatorAmount}`);
  check.equal('base units to the treasury', `${toTreasury}`, `${total - creatorAmount}`);
  check.equal('base units left in the escrow', `${left}`, '0');
  if (creator === null)
    check.notes('The owner of the paid account was not compared: the creator is known only from the listing.');
  else if (owner === null) check.notes('The owner of the paid account was not compared: the node does not report it.');
  else check.equal("owner of the creator's account", owner, creator);
}

interface Wanted {
  claim: Claim;
  /** Any of these instructions. */
  names: readonly string[];
  /** Signature of the transaction; if null, the record's own transactions are searched. */
  signature: string | null | undefined;
}

/**
 * The transaction and its call for this record. Without one, `check` has the reason: `none` if the node has no such
 * transaction, null if there is nothing to compare.
 */
async function readLanded(
  check: OpenCheck,
  node: SolanaNode,
  { claim, names, signature }: Wanted,
): Promise<Landed | 'none' | null> {
  try {
    const signatures = signature ? [signature] : await node.signaturesOf(claim.record);
    for (const candidate of signatures) {
      const transaction = await node.transaction(candidate);
      const call = transaction && callOf(transaction, names, claim.record);
      if (!signature && !call) continue;
      if (!transaction) {
        check.lacks('The node does not have the transaction. Try a node with a longer history.');
        return null;
      }
      check.equal('transaction', transaction.signature, candidate);
      check.equal('outcome', transaction.error ?? 'succeeded', 'succeeded');
      if (!call && !transaction.hasInner) {
        check.lacks('The node does not report instructions that other programs called.');
        return null;
      }
      const wanted = `${call?.name ?? names.join(' or ')} of ${claim.record}`;
      check.equal('instruction', call ? wanted : 'none', wanted);
      return call && { transaction, call };
    }
    check.lacks("No transaction is named, and the node's history of the record has none.");
    return 'none';
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    check.lacks(error.message);
  }
  return null;
}

function callOf({ instructions }: NodeTransaction, names: readonly string[], record: string): Call | null {
  const calls = instructions.map(readCall);
  return calls.find((call) => call !== null && names.includes(call.name) && call.accounts.record === record) ?? null;
}

function readCall({ program, accounts, data }: NodeInstruction): Call | null {
  if (program !== PROGRAM) return null;
  try {
    const decoded = decodeInstruction(decodeBase58(data));
    const definition = idl.instructions.find(({ name }) => name === decoded?.name);
    if (!decoded || !definition) return null;
    const named = definition.accounts.map(({ name }, at) => [name, accounts[at] ?? '']);
    return { ...decoded, accounts: Object.fromEntries(named) };
  } catch {
    // Unreadable data belong to no instruction that succeeded.
    return null;
  }
}
