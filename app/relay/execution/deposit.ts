/**
 * Follows the deposit that an x402 client pays into: makes its accounts, signs the payment, opens the execution from it,
 * or sends it back to its payer. Each deposit gets one payment with our signature, so a repeat never pays twice.
 */
import { AccountLayout, AccountState, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import {
  type AgentListing,
  type Deposit,
  decodeAccount,
  type ExecutionRecord,
  findExecution,
  findTokenAccount,
  parseAddress,
} from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { Fate } from '../chain/confirmations.ts';
import { feeOf } from '../chain/networkFee.ts';
import type { AccountsAt } from '../chain/reader.ts';
import { isWaiting, type JournalRow } from '../ledger/tables.ts';
import type { Ending } from './ending.ts';
import { OPEN_WINDOW_SECONDS, signOpen, signReturn, storedDeposit, storedPayment, storedRefund } from './sign.ts';
import type { EngineDeps, Live, Step } from './step.ts';

export type Depositing = ReturnType<typeof createDepositing>;

/** An interrupted payment of this age may have expired. It then gets no signature. */
const OLD_MS = 15_000;
/** A return is signed again at most this often without a pause of minutes. */
const MAX_REBUILDS = 5n;

/** Why a deposit is sent back: an error code of the API, and its message. */
export interface Why {
  code: 'payment_required' | 'price_changed' | 'agent_paused' | 'service_unavailable' | 'invalid_request';
  message: string;
}

/** A deposit and what belongs to it, at one moment. */
interface DepositAt {
  record: ExecutionRecord | null;
  deposit: Deposit | null;
  /** Base units in its vault. */
  paid: bigint;
  /** Base units that the payer's account can pay; 0 while it is frozen. */
  payable: bigint;
  listing: AgentListing | null;
  now: bigint;
  slot: number;
}

/** What a token account of this owner can pay, base units; 0 without one, and while it is frozen. */
export function payableOf(account: AccountInfo<Buffer> | null | undefined, owner: PublicKey, mint: PublicKey): bigint {
  if (!account?.owner.equals(TOKEN_PROGRAM_ID) || account.data.length < AccountLayout.span) return 0n;
  const token = AccountLayout.decode(account.data);
  const isUsable = token.owner.equals(owner) && token.mint.equals(mint) && token.state === AccountState.Initialized;
  return isUsable ? token.amount : 0n;
}

/** Price and service fee, base units. */
export const totalOf = (row: Pick<JournalRow, 'price' | 'service_fee'>): bigint => row.price + row.service_fee;

/** Reads deposits. */
function createReading({ chain, usdcMint }: Pick<EngineDeps, 'chain' | 'usdcMint'>) {
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
    return {
      record: record ? decodeAccount('ExecutionRecord', record.data) : null,
      deposit: deposit && deposit.data.length > 0 ? decodeAccount('Deposit', deposit.data) : null,
      paid: payableOf(vault, parseAddress(row.deposit!), usdcMint),
      payable: payableOf(source, parseAddress(row.wallet), usdcMint),
      listing: listing ? decodeAccount('AgentListing', listing.data) : null,
      now,
      slot,
    };
  }

  return {
    read: async (row: JournalRow): Promise<DepositAt> => toDepositAt(row, await chain.readAgreed(addressesOf(row))),
    /** Like `readPast`: null while bytes of this height could still land. */
    async readPast(row: JournalRow, lastValidHeight: bigint): Promise<DepositAt | null> {
      const read = await chain.readPast(addressesOf(row), lastValidHeight);
      return read && toDepositAt(row, read);
    },
  };
}

const isPaid = (row: JournalRow, at: DepositAt): boolean => at.deposit !== null && at.paid >= totalOf(row);

/** Creates the steps of a deposit. */
export function createDepositing(deps: EngineDeps, ending: Pick<Ending, 'isDead' | 'mayBurn'>, stopping: AbortSignal) {
  const { chain, journal, log } = deps;
  const { read, readPast } = createReading(deps);

  /** The deposit's accounts are made. Nothing is paid before they are there: a payment without them would fail. */
  async function prepare(row: JournalRow, live: Live): Promise<Step> {
    const isPrepared = (at: DepositAt) => at.deposit?.caller.toBase58() === row.wallet;
    const signed = storedDeposit(row);
    let fate: Fate['kind'] = 'confirmed';
    if (live.isFresh || !isPrepared(await read(row))) {
      live.isFresh = false;
      ({ kind: fate } = await chain.submit(signed, async () => isPrepared(await read(row)), stopping));
    }
    if (fate === 'unknown') return 'wait';
    const at = await read(row);
    if (isPrepared(at)) {
      await journal.depositConfirmed(row);
      return 'next';
    }
    const final = fate === 'failed' ? at : await readPast(row, signed.lastValidHeight);
    if (!final) return 'wait';
    if (isPrepared(final)) return 'wait';
    return endUnpaid(row, live, final, unpaid('The deposit of this payment could not be made'));
  }

  /** Signs the payment if it can still land and nothing has changed. Without this signature nobody can send it. */
  async function pay(row: JournalRow, live: Live): Promise<Step> {
    const at = await read(row);
    if (!at.deposit) {
      // The chain took it back.
      const { bytes, lastValidHeight } = storedDeposit(row);
      await chain.send(bytes);
      const final = await readPast(row, lastValidHeight);
      if (!final || final.deposit) return 'wait';
      return endUnpaid(row, live, final, unpaid('The chain rolled back the deposit of this payment'));
    }
    if (isPaid(row, at)) return notePaid(row, at);
    const why = (await whyNotToPay(row, at)) ?? whyNotToOpen(row, at);
    if (why) return giveBack(row, at, why);
    await journal.paySigned(row, chain.countersign(row.pay_transaction!, row.pay_last_valid_height!));
    return 'next';
  }

  async function whyNotToPay(row: JournalRow, { payable, now, deposit }: DepositAt): Promise<Why | null> {
    if (payable < totalOf(row)) return unpaid('The USDC account of the payer no longer holds the amount');
    if (now + OPEN_WINDOW_SECONDS >= (deposit?.expiresAt ?? 0n)) return unpaid('The deposit of this payment expires');
    if (Date.now() - Number(row.created_ms) < OLD_MS) return null;
    const { blockHeight } = await chain.finalized();
    return blockHeight > row.pay_last_valid_height! ? unpaid('The payment has expired') : null;
  }

  /** Sends the payment until its fate is final. */
  async function follow(row: JournalRow, live: Live): Promise<Step> {
    const signed = storedPayment(row);
    const hasHappened = async () => {
      const at = await read(row);
      return isPaid(row, at) || at.record !== null;
    };
    const fate = await chain.submit(signed, hasHappened, stopping);
    if (fate.kind === 'unknown') return 'wait';
    const at = await read(row);
    if (isPaid(row, at)) return notePaid(row, at);
    // A failed payment may still land on another fork. Only finality makes it dead.
    const final = await readPast(row, signed.lastValidHeight);
    if (!final) return 'wait';
    if (isPaid(row, final)) return notePaid(row, final);
    const what = fate.kind === 'failed' ? `failed: ${fate.message}` : 'expired before it landed';
    return giveBack(row, final, unpaid(`The payment ${what}`));
  }

  async function notePaid(row: JournalRow, { slot }: DepositAt): Promise<Step> {
    await journal.paid(row, slot);
    return 'next';
  }

  /** The money is in the deposit: signs the open, or the return if the execution cannot be opened. */
  async function open(row: JournalRow, live: Live): Promise<Step> {
    const at = await read(row);
    if (at.record) return noteOpened(row, at, at.record);
    if (!isPaid(row, at)) return withoutMoney(row, live);
    const why = whyNotToOpen(row, at);
    if (why) return giveBack(row, at, why);
    const openBefore = at.now + OPEN_WINDOW_SECONDS;
    await journal.openSigned(row, await signOpen(chain, row, deps, openBefore, at.deposit!.rentSponsor), openBefore);
    live.isFresh = true;
    return 'next';
  }

  async function noteOpened(row: JournalRow, { slot }: DepositAt, record: ExecutionRecord): Promise<Step> {
    await journal.openConfirmed(row, record, slot);
    return 'next';
  }

  /**
   * The chain showed the payment and does not any more: it rolled it back, or somebody has refunded the deposit, which
   * anyone may once it has expired.
   */
  async function withoutMoney(row: JournalRow, live: Live): Promise<Step> {
    const { bytes, lastValidHeight } = storedPayment(row);
    if (row.deposit_transaction) await chain.send(row.deposit_transaction);
    await chain.send(bytes);
    const final = await readPast(row, lastValidHeight);
    if (!final || isPaid(row, final) || final.record) return 'wait';
    const why = { code: 'service_unavailable', message: 'The payment was sent back before the call began' } as const;
    if (final.deposit) return giveBack(row, final, why);
    if (await chain.hasSucceeded(row.pay_signature!)) {
      await journal.returned(row, final.now, why);
      return 'ended';
    }
    return endUnpaid(row, live, final, unpaid('The chain rolled back the payment'));
  }

  /** Signs and stores the return of a deposit, paid or not. Its rent comes back too. */
  async function giveBack(row: JournalRow, at: Pick<DepositAt, 'deposit'>, why: Why, rebuilds = 0n): Promise<Step> {
    const rentSponsor = at.deposit?.rentSponsor ?? deps.rentReturn;
    const signed = await signReturn(chain, row, deps.usdcMint, rentSponsor, Number(rebuilds));
    await journal.returning(row, signed, { ...why, rebuilds });
    return 'next';
  }

  /** Sends the return until the deposit is gone. */
  async function sendBack(row: JournalRow, live: Live): Promise<Step> {
    const at = await read(row);
    // The open landed after all.
    if (at.record) return noteOpened(row, at, at.record);
    if (!at.deposit) return endReturn(row, live, at);
    const why = { code: row.error_code as Why['code'], message: row.error_message ?? '' };
    if (!row.refund_transaction || ending.isDead(storedRefund(row))) return giveBack(row, at, why, row.rebuilds);
    if (isWaiting(row)) {
      const again = await signReturn(chain, row, deps.usdcMint, at.deposit.rentSponsor);
      if (await chain.simulate(again.bytes)) return waitForAccount(row);
      await journal.returning(row, again, { ...why, rebuilds: row.rebuilds });
      return 'next';
    }
    const signed = storedRefund(row);
    const fate = await chain.submit(signed, async () => (await read(row)).deposit === null, stopping);
    if (fate.kind === 'unknown') return 'wait';
    const isPast = fate.kind !== 'failed';
    const fresh = isPast && fate.kind !== 'confirmed' ? await readPast(row, signed.lastValidHeight) : await read(row);
    if (!fresh) return 'wait';
    if (fresh.record || !fresh.deposit) return 'next';
    if (fate.kind === 'confirmed') return 'wait';
    if (fate.kind === 'failed') {
      await journal.burnt(row, feeOf(signed.bytes).lamports);
      if (fate.error === 'RefundDestinationUnusable') return waitForAccount(row);
    }
    if (row.rebuilds < MAX_REBUILDS) return giveBack(row, fresh, why, row.rebuilds + 1n);
    log.error({ execution_id: row.execution_id, fate: fate.kind }, 'a deposit cannot be returned; trying again later');
    if (await ending.mayBurn(row)) await giveBack(row, fresh, why, row.rebuilds);
    return 'rest';
  }

  async function waitForAccount(row: JournalRow): Promise<Step> {
    const { accounts } = await chain.read([findTokenAccount(parseAddress(row.wallet), deps.usdcMint)]);
    const isThere = accounts[0] && accounts[0].data.length > 0;
    await journal.refundWaits(row.execution_id, isThere ? 'blocked' : 'claimable');
    return 'rest';
  }

  /** The deposit is gone, and no record took it. */
  async function endReturn(row: JournalRow, live: Live, at: DepositAt): Promise<Step> {
    if (row.opened_slot === null) {
      return endUnpaid(row, live, at, { code: row.error_code as Why['code'], message: row.error_message ?? '' });
    }
    await journal.returned(row, at.now);
    return 'ended';
  }

  /** Nothing was paid. The operator has lost the fees. */
  async function endUnpaid(row: JournalRow, live: Live, { slot }: DepositAt, why: Why): Promise<Step> {
    await journal.void(row, why.code, why.message, { slot, burnt: row.fees });
    live.opened();
    return 'ended';
  }

  /** The authority that signed the open may not any more: another one signs it. */
  async function openAgain(row: JournalRow, openBefore: bigint): Promise<Step> {
    const { deposit } = await read(row);
    if (!deposit) return 'wait';
    await journal.openSigned(row, await signOpen(chain, row, deps, openBefore, deposit.rentSponsor), openBefore);
    return 'next';
  }

  /** An open of ours did not pay: its deposit still holds the money. */
  async function notOpened(row: JournalRow, why: Why): Promise<Step> {
    return giveBack(row, await read(row), why);
  }

  /**
   * The record of an open execution is gone: the chain rolled its open back, and maybe the payment before it. The
   * deposit is opened once more, or sent back.
   */
  async function withoutRecord(row: JournalRow, live: Live): Promise<Step> {
    for (const bytes of [row.deposit_transaction, row.pay_transaction, row.open_transaction]) {
      if (bytes) await chain.send(bytes);
    }
    const final = await readPast(row, row.open_last_valid_height ?? 0n);
    if (!final || final.record || final.now <= (row.open_before ?? 0n)) return 'wait';
    if (!isPaid(row, final)) return endUnpaid(row, live, final, unpaid('The chain rolled back the payment'));
    const why = whyNotToOpen(row, final);
    const isUndecided = row.state !== 'refunding' && row.state !== 'parked' && row.reopens === 0n;
    if (why || !isUndecided) {
      return giveBack(row, final, why ?? { code: 'service_unavailable', message: 'The chain rolled back the escrow' });
    }
    const openBefore = final.now + OPEN_WINDOW_SECONDS;
    const signed = await signOpen(chain, row, deps, openBefore, final.deposit!.rentSponsor);
    await journal.openSigned(row, signed, openBefore, 1n);
    return 'next';
  }

  /** Does what the state of a deposit asks for. */
  function step(row: JournalRow, live: Live): Promise<Step> {
    switch (row.state) {
      case 'deposit_signed':
        return prepare(row, live);
      case 'deposit_confirmed':
        return pay(row, live);
      case 'pay_signed':
        return follow(row, live);
      case 'paid':
        return open(row, live);
      default:
        return sendBack(row, live);
    }
  }

  return { step, openAgain, notOpened, withoutRecord };
}

const unpaid = (what: string): Why => ({ code: 'payment_required', message: `${what}. Nothing was paid.` });

/** What would make the chain refuse the open; null if nothing is known of. */
function whyNotToOpen(row: JournalRow, { listing, deposit, now }: DepositAt): Why | null {
  if (listing?.status !== 'active') return { code: 'agent_paused', message: 'The creator has paused the agent' };
  if (BigInt(listing.listingVersion) !== row.listing_version || listing.price !== row.price) {
    return { code: 'price_changed', message: "The agent's listing changed during the call" };
  }
  if (now + OPEN_WINDOW_SECONDS < (deposit?.expiresAt ?? 0n)) return null;
  return { code: 'service_unavailable', message: 'The deposit expired before the execution could be opened' };
}
