/** A deposit on the chain at one moment, and the conclusions for its call. */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import {
  type AgentListing,
  type Deposit,
  decodeOwn,
  type ExecutionRecord,
  findExecution,
  findTokenAccount,
  parseAddress,
} from '../../../sdk/program/program.ts';
import { parseUuid } from '../../../sdk/receipt/receipt.ts';
import type { AccountsAt } from '../../chain/reader.ts';
import { readToken, usableAccount } from '../../chain/tokenAccounts.ts';
import type { Culprit, JournalRow } from '../../ledger/tables.ts';
import type { EngineDeps } from '../deps.ts';
import { OPEN_WINDOW_SECONDS } from '../sign.ts';

/** Why a deposit is sent back, and whose doing that was: an error code of the API, and its message. */
export interface Why {
  code: 'payment_required' | 'price_changed' | 'agent_paused' | 'service_unavailable' | 'invalid_request';
  message: string;
  culprit: Culprit;
}

/** A deposit and its related accounts at one moment. */
export interface DepositAt {
  record: ExecutionRecord | null;
  deposit: Deposit | null;
  /** Base units in its vault; 0 while it is frozen. */
  paid: bigint;
  /** True if its vault exists and holds nothing. */
  isEmpty: boolean;
  /** Base units that the payer's account can pay; 0 while it is frozen. */
  payable: bigint;
  /** True if that account cannot receive. */
  isStuck: boolean;
  listing: AgentListing | null;
  now: bigint;
  slot: number;
}

/** Base units that this owner's token account can pay; 0 if it is missing or frozen. */
export function payableOf(account: AccountInfo<Buffer> | null | undefined, owner: PublicKey, mint: PublicKey): bigint {
  return usableAccount(account, owner, mint)?.amount ?? 0n;
}

/** True if a vault exists and holds nothing. A frozen one with money is not empty. */
const isEmptyVault = (vault: AccountInfo<Buffer> | null | undefined): boolean => readToken(vault)?.amount === 0n;

/** Price and service fee, base units. */
export const totalOf = (row: Pick<JournalRow, 'price' | 'service_fee'>): bigint => row.price + row.service_fee;

/** Reads deposits. */
export function createDepositReader({ chain, usdcMint }: Pick<EngineDeps, 'chain' | 'usdcMint'>) {
  function addressesOf(row: JournalRow): PublicKey[] {
    const deposit = parseAddress(row.deposit!);
    return [
      findExecution(parseUuid(row.execution_id)!),
      deposit,
      findTokenAccount(deposit, usdcMint),
      findTokenAccount(parseAddress(row.wallet), usdcMint),
      parseAddress(row.listing),
    ];
  }

  function toDepositAt(row: JournalRow, { accounts, now, slot }: AccountsAt): DepositAt {
    const [record, deposit, vault, source, listing] = accounts;
    const payer = parseAddress(row.wallet);
    return {
      record: decodeOwn('ExecutionRecord', record),
      deposit: decodeOwn('Deposit', deposit),
      paid: payableOf(vault, parseAddress(row.deposit!), usdcMint),
      isEmpty: isEmptyVault(vault),
      payable: payableOf(source, payer, usdcMint),
      isStuck: usableAccount(source, payer, usdcMint) === null,
      listing: decodeOwn('AgentListing', listing),
      now,
      slot,
    };
  }

  return {
    read: async (row: JournalRow): Promise<DepositAt> => toDepositAt(row, await chain.readAgreed(addressesOf(row))),
    /** Like `readSnapshotPast`: null while bytes of this height could still land. */
    async readPast(row: JournalRow, lastValidHeight: bigint): Promise<DepositAt | null> {
      const read = await chain.readPast(addressesOf(row), lastValidHeight);
      return read && toDepositAt(row, read);
    },
  };
}

export const isPaid = (row: JournalRow, at: DepositAt): boolean => at.deposit !== null && at.paid >= totalOf(row);

/**
 * True if our open took the deposit. The payer may also have opened a record with the same id itself: beside the
 * deposit, or with other terms after the deposit's refund.
 */
export function isOpenedFrom(row: JournalRow, { record, deposit }: DepositAt): boolean {
  if (record === null || deposit !== null) return false;
  const isSame = record.listing.toBase58() === row.listing && record.price === row.price;
  return isSame && bytesToHex(record.requestHash) === row.request_hash;
}

export const unpaid = (what: string, culprit: Culprit): Why => ({
  code: 'payment_required',
  message: `${what}. Nothing was paid.`,
  culprit,
});

/** True in a deposit's last minute and after it. The relay then neither pays into it nor opens from it. */
export const isExpiring = ({ expiresAt }: Deposit, now: bigint): boolean => now + OPEN_WINDOW_SECONDS >= expiresAt;

/** Why the chain would refuse the open; null if no reason is known. */
export function whyNotToOpen(row: JournalRow, { record, listing, deposit, now }: DepositAt): Why | null {
  if (record) {
    const message = 'The payer has opened a call with this id itself';
    return { code: 'service_unavailable', message, culprit: 'wallet' };
  }
  if (listing?.status !== 'active') {
    return { code: 'agent_paused', message: 'The agent is paused', culprit: 'listing' };
  }
  if (BigInt(listing.listingVersion) !== row.listing_version || listing.price !== row.price) {
    return { code: 'price_changed', message: "The agent's listing changed during the call", culprit: 'listing' };
  }
  if (deposit && !isExpiring(deposit, now)) return null;
  const message = 'The deposit expired before the call could be opened';
  return { code: 'service_unavailable', message, culprit: 'operator' };
}
