/**
 * Compares an execution in the chain, the journal and the index. The chain is right by definition. A difference names
 * the side that disagrees with it, by its kind.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import { recordStatus, splitPrice } from '../../../indexer/queries/record.ts';
import type { ExecutionStatusName } from '../../../indexer/queries/tables.ts';
import { type ExecutionRecord, findSpender, type RecordStatus } from '../../sdk/program/program.ts';
import { formatUsdc } from '../../sdk/wire/usdc.ts';
import { isByWallet } from '../execution/records.ts';
import type { ExecutionState } from '../ledger/tables.ts';

/** Every kind of difference and its meaning. */
export const DIFFERENCES = {
  escrow_short: 'an open record whose escrow has less than its price',
  escrow_left: 'an ended record whose escrow still exists',
  record_missing: 'an execution in the journal or the index that is not on the chain',
  journal_missing: 'an orphan: an open record paid through this service without a row in the journal',
  journal_deposit: 'a deposit of this service without a row in the journal; the relay returns it once it has expired',
  journal_state: "a row of the journal in a state that does not match the record's status",
  journal_terms: 'a row of the journal with another price, caller, agent or request than the record',
  journal_amounts: 'a settled row of the journal with other amounts than the record',
  journal_lamports:
    'a row of the journal with other gas than the record, or with a loan of rent that the gas balance lent',
  journal_result: 'a stored result of a paid execution whose hash differs from the record',
  index_missing: 'a record that is not in the index',
  index_status: "a row of the index with another status than the record's",
  index_terms: 'a row of the index with another price, caller, agent, request or result than the record',
  index_amounts: 'a row of the index with other amounts than the record',
  grant_spend: "a key's spending on the chain that differs from the sum of its executions",
  grant_count: "a key's execution count on the chain that differs from the number of its executions",
  index_grant: 'a key in the index whose spending or execution count differs from the chain',
} as const;
export type DifferenceKind = keyof typeof DIFFERENCES;

export interface Difference {
  kind: DifferenceKind;
  /** An execution's id, a deposit's address, or a key's wallet and id. */
  subject: string;
  /** Both sides, for a person. */
  detail: string;
}

/** The journal of a restored ledger lacks what happened after its backup: that is no difference. */
export interface Restored {
  /** Unix seconds. The journal has everything that ended before. */
  to: bigint;
  /** Called for each such execution or deposit, also repeatedly. */
  onLater(id: string): void;
}

interface JournalView {
  wallet: string;
  listing: string;
  price: bigint;
  request_hash: string;
  state: ExecutionState;
  creator_amount: bigint | null;
  platform_amount: bigint | null;
  gas_lamports: bigint;
  record_lent: bigint;
  /** `sha256:` and hex; null if no result is stored. */
  stored_result_hash: string | null;
}

interface IndexView {
  caller: string;
  listing: string;
  price: bigint;
  request_hash: string;
  /** Hex. */
  result_hash: string | null;
  status: ExecutionStatusName;
  creator_amount: bigint;
  platform_amount: bigint;
  closed: bigint;
  /** Both null: its wallet opened it. */
  key_id: string | null;
  deposit: string | null;
}

export interface ExecutionViews {
  executionId: string;
  record: ExecutionRecord | null;
  /** Balance of the escrow; null if there is none. */
  escrow: bigint | null;
  journal: JournalView | null;
  index: IndexView | null;
}

/** States of the journal that fit each status of the record. `none`: no record yet, or never. */
const FITTING: Record<RecordStatus | 'none', readonly ExecutionState[]> = {
  none: [
    'accepted',
    'deposit_signed',
    'deposit_confirmed',
    'pay_signed',
    'paid',
    'returning',
    'returned',
    'open_signed',
    'void',
  ],
  open: ['pay_signed', 'paid', 'open_signed', 'open_confirmed', 'dispatched', 'verified', 'refunding', 'parked'],
  completed: ['settled'],
  refunded: ['refunded'],
};

/** All differences; empty if all agree. */
export function compareExecution(views: ExecutionViews): Difference[] {
  const { executionId: subject, record, escrow, index } = views;
  const journal = isOfAnotherCall(views) ? null : views.journal;
  const found: Difference[] = [];
  const differ = (kind: DifferenceKind, detail: string): void => void found.push({ kind, subject, detail });
  // From an hour after its open, an ended record may be closed or archived. Then only the index has it.
  const isClosed = record === null && index?.closed === 1n;
  const status = record?.status ?? (isClosed ? recordStatus(index.status) : 'none');

  if (record?.status === 'open' && (escrow ?? 0n) < record.price) {
    differ(
      'escrow_short',
      `price ${formatUsdc(record.price)}, escrow ${escrow === null ? 'gone' : formatUsdc(escrow)}`,
    );
  }
  if (record && record.status !== 'open' && escrow !== null) {
    differ('escrow_left', `${status}, escrow ${formatUsdc(escrow)}`);
  }
  if (!record && !isClosed && index) differ('record_missing', `its status in the index is ${index.status}`);
  if (record && !index) differ('index_missing', `the record is ${status}`);
  if (journal) {
    if (!FITTING[status].includes(journal.state)) {
      const kind = status === 'none' && !index ? 'record_missing' : 'journal_state';
      differ(
        kind,
        `its state in the journal is ${journal.state}, the record is ${status === 'none' ? 'missing' : status}`,
      );
    }
  } else if (record?.status === 'open' && !isByWallet(record)) {
    differ('journal_missing', `price ${formatUsdc(record.price)}`);
  }
  if (record && journal) compareJournal(record, status, journal, differ);
  if (record && index) compareIndex(record, status, index, differ);
  return found;
}

/** True if the row is of a call that never opened a record, and its wallet has opened one with the same id itself. */
function isOfAnotherCall({ journal, index }: ExecutionViews): boolean {
  const isByWallet = index?.key_id === null && index.deposit === null;
  return isByWallet && (journal?.state === 'void' || journal?.state === 'returned');
}

type Differ = (kind: DifferenceKind, detail: string) => void;

function compareJournal(record: ExecutionRecord, status: string, journal: JournalView, differ: Differ): void {
  const terms = [journal.price, journal.wallet, journal.listing, journal.request_hash].join(' ');
  const recorded = [record.price, record.caller, record.listing, bytesToHex(record.requestHash)].join(' ');
  if (terms !== recorded) differ('journal_terms', `the journal has ${terms}, the record ${recorded}`);
  const isOwn = record.rentSponsor.equals(findSpender(record.caller));
  if (journal.gas_lamports !== BigInt(record.gasLamports) || (isOwn && journal.record_lent > 0n)) {
    const lamports = `${journal.gas_lamports} lamports of gas and ${journal.record_lent} of lent rent`;
    differ(
      'journal_lamports',
      `the journal has ${lamports}, the record ${record.gasLamports} and ${record.rentSponsor} as sponsor`,
    );
  }
  if (status !== 'completed') return;
  const resultHash = `sha256:${bytesToHex(record.resultHash)}`;
  if (journal.stored_result_hash !== null && journal.stored_result_hash !== resultHash) {
    differ('journal_result', `the stored result is ${journal.stored_result_hash}, the record has ${resultHash}`);
  }
  if (journal.state !== 'settled') return;
  const { creator_amount: creator, platform_amount: platform } = splitPrice(record.price, BigInt(record.feeBps));
  if (journal.creator_amount !== creator || journal.platform_amount !== platform) {
    const amounts = `${journal.creator_amount} and ${journal.platform_amount}`;
    differ('journal_amounts', `the journal has ${amounts} base units, the record paid ${creator} and ${platform}`);
  }
}

function compareIndex(record: ExecutionRecord, status: string, index: IndexView, differ: Differ): void {
  const indexed = recordStatus(index.status);
  const isPaid = indexed === 'completed';
  if (indexed !== status) differ('index_status', `the index has ${index.status}, the record ${status}`);
  const result = isPaid ? index.result_hash : '';
  const terms = [index.price, index.caller, index.listing, index.request_hash, result].join(' ');
  const resultHash = isPaid ? bytesToHex(record.resultHash) : '';
  const recorded = [record.price, record.caller, record.listing, bytesToHex(record.requestHash), resultHash].join(' ');
  if (terms !== recorded) differ('index_terms', `the index has ${terms}, the record ${recorded}`);
  const paid = status === 'completed' ? record.price : 0n;
  const { creator_amount: creator, platform_amount: platform } = splitPrice(paid, BigInt(record.feeBps));
  // Tokens that somebody sent to the escrow beyond its price go to the treasury with the fee.
  if (index.creator_amount !== creator || index.platform_amount < platform) {
    const amounts = `${index.creator_amount} and ${index.platform_amount}`;
    differ('index_amounts', `the index has ${amounts} base units, the record paid ${creator} and ${platform}`);
  }
}
