/**
 * Begins an execution that an x402 client pays for. Checks the payer's accounts, claims the id and the deposit, and
 * stores the transaction that creates the deposit. Nothing is sent yet. The payment has only the client's signature.
 */
import { VersionedTransaction } from '@solana/web3.js';
import { isUndecided } from '../../../database/temporary.ts';
import { decodeOwn, findExecution, findTokenAccount, ownAccount, parseAddress } from '../../../sdk/program/program.ts';
import { deriveExecutionId, formatUuid } from '../../../sdk/receipt/receipt.ts';
import { least } from '../../../sdk/wire/amounts.ts';
import type { PaymentReason } from '../../../sdk/wire/errorDetails.ts';
import { formatUsdc } from '../../../sdk/wire/usdc.ts';
import type { Agent } from '../../agents/catalog.ts';
import { costOf } from '../../chain/fees.ts';
import type { AccountsAt } from '../../chain/reader.ts';
import { decodeRents, RENT_ADDRESS } from '../../chain/rent.ts';
import { ApiError, chainUnreadable, retryLater } from '../../errors.ts';
import { type ClaimedDeposit, NotFunded } from '../../ledger/claims.ts';
import { type Funds, NO_KEY, UNLIMITED } from '../../ledger/funding.ts';
import type { JournalRow } from '../../ledger/tables.ts';
import { JournalConflict } from '../../ledger/writing.ts';
import { interrupted, isOpenable, MAX_WAIT_MS, nodeBehind } from '../begin/claiming.ts';
import type { MoneyQueue } from '../begin/moneyQueue.ts';
import type { OpenQueue } from '../begin/openQueue.ts';
import { lentShortage, obstacleOf } from '../begin/waysToPay.ts';
import type { DepositCall } from '../contract.ts';
import type { EngineDeps, Progress } from '../deps.ts';
import type { Sharing } from '../sharing.ts';
import { depositInstruction, partOfDeposit, signDeposit } from '../sign.ts';
import { inProgress } from '../standing.ts';
import { payableOf } from './depositAt.ts';

/** Maximum network fee of the payment, lamports. */
export const MAX_PAYMENT_FEE = 12_000n;
export const WOULD_FAIL = 'The payment would fail on-chain';
const RETRY_PREPARE_SECONDS = 5;
/** Readings of a payer's accounts after which a node that stays behind an open of the payer ends the call. */
const MOST_READINGS = 10;
/** A payment that waits longer for its turn is checked again, because its blockhash lives for only half a minute. */
const CHECKED_MS = 1_000;

/** The 402 for a payment that was not taken: nothing was paid. */
export function refusePayment(reason: PaymentReason, message: string): ApiError<'payment_required'> {
  return new ApiError('payment_required', message, { details: { reason } });
}

/** Reads what a payment needs, and waits for its money. */
function createFinding(deps: EngineDeps, moneyQueue: MoneyQueue) {
  const { chain, usdcMint } = deps;

  /** Reads the payer's money and the deposit, and tries the payment. Throws ApiError 402 if it would not land. */
  async function find(agent: Agent, call: DepositCall, owed: bigint) {
    const payer = parseAddress(call.payer);
    const id = deriveExecutionId(payer.toBytes(), call.nonce);
    const source = findTokenAccount(payer, usdcMint);
    const read = await chain
      .read([source, parseAddress(call.deposit), findExecution(id), RENT_ADDRESS])
      .catch(chainUnreadable);
    const { accounts, now, slot } = read;
    const [account, depositAccount, record, rent] = accounts;
    const deposit = decodeOwn('Deposit', depositAccount);
    const isOthers = deposit !== null && deposit.caller.toBase58() !== call.payer;
    if (ownAccount(record) || isOthers)
      throw refusePayment('quote_used', 'This quote was used before. Pay the new quote.');
    if (!isOpenable(call.nonce, now)) throw refusePayment('quote_expired', 'The quote has expired. Pay the new quote.');
    const total = agent.price + call.serviceFee;
    const payable = payableOf(account, payer, usdcMint);
    if (payable < total) throw insufficient(call.payer, payable, total);
    const row = toClaimed(agent, call, formatUuid(id), now);
    await requireLanding(deps, row, call.payment, deposit !== null);
    const rents = decodeRents(rent!.data);
    const { fee, gas } = costOf(chain.quote());
    // The service fee is at least 1.5 times what a call costs: the rest repays earlier losses of the wallet.
    const spare = (fee + gas) / 2n;
    const repaid = least(owed, spare);
    return {
      row,
      payable,
      way: { fee: 0n, repaid, gas: 0n, recordRent: rents.record, escrowRent: rents.escrow, gasBalance: 0n },
      funds: {
        slot: BigInt(slot),
        keyId: NO_KEY,
        price: total,
        wallet: payable,
        key: UNLIMITED,
        gasBalance: 0n,
        gasBalanceRest: 0n,
      },
      read,
    };
  }

  /**
   * Waits while payments in flight reserve the money: the accounts may already lack it. False if it is not free in time.
   */
  async function waitForMoney(wallet: string, read: AccountsAt, funds: Funds, leftMs: number): Promise<boolean> {
    const payer = parseAddress(wallet);
    const free = await moneyQueue.whenFree({ wallet, keyId: NO_KEY }, { wallet: payer, ...read }, leftMs, {
      fundsOf: ({ accounts }) => ({ ...funds, wallet: payableOf(accounts[0], payer, usdcMint) }),
      read: async () => {
        const again = await chain.read([findTokenAccount(payer, usdcMint)]).catch(chainUnreadable);
        return { wallet: payer, ...again };
      },
    });
    return free !== null;
  }

  return { find, waitForMoney };
}

/** `starting` holds the ids between their claim and their first step, which recovery must leave alone. */
export function createBuying(
  deps: EngineDeps,
  queue: OpenQueue,
  moneyQueue: MoneyQueue,
  sharing: Pick<Sharing, 'share'>,
  starting: Set<string>,
) {
  const { chain, journal, lending } = deps;
  const { find, waitForMoney } = createFinding(deps, moneyQueue);
  const maxWaitMs = MAX_WAIT_MS + chain.finality.ms;

  /** Returns the row with the deposit's transaction signed. Throws ApiError. */
  async function buy(agent: Agent, call: DepositCall, progress: Progress): Promise<JournalRow> {
    deps.requireExposure(agent.listing);
    const executionId = formatUuid(deriveExecutionId(parseAddress(call.payer).toBytes(), call.nonce));
    // The same payment is already starting. This one's `finally` must not remove the first one's id.
    if (starting.has(executionId)) throw inProgress(executionId);
    starting.add(executionId);
    const opened = progress.opened;
    progress.opened = () => {
      moneyQueue.wake(call.payer);
      queue.wake(call.payer);
      opened();
    };
    try {
      const row = await claim(agent, call, executionId);
      try {
        const isShared = await sharing.share('deposit', row, async () => partOfDeposit(chain, row, deps));
        if (!isShared) await journal.depositSigned(row, await signDeposit(chain, row, deps));
      } catch (error) {
        // A stored transaction will be sent, so this call has begun: only its end can answer it.
        if (!isUndecided(error)) throw error;
      }
      return row;
    } catch (error) {
      progress.opened();
      throw error instanceof JournalConflict ? interrupted() : error;
    } finally {
      starting.delete(executionId);
    }
  }

  /** Claims the row, in turn with the wallet's other payments. Throws ApiError. */
  async function claim(agent: Agent, call: DepositCall, executionId: string): Promise<JournalRow> {
    const arrived = performance.now();
    const ticket = await queue.enter(call.payer, agent.listing, arrived);
    let patientUntil = performance.now() + maxWaitMs;
    try {
      let behind = 0;
      for (let owed = 0n, turn = 0; ; turn += 1) {
        if (turn > 0 || performance.now() - arrived > CHECKED_MS) await requireAlive(chain, call.payment);
        const { row, way, funds, read, payable } = await find(agent, call, owed);
        const claimed = await journal.claimDeposit(row, Date.now(), { ways: [way], lending, funds }).catch((error) => {
          if (error instanceof JournalConflict) throw inProgress(executionId);
          if (error instanceof NotFunded) return error.sums;
          throw error;
        });
        if ('execution_id' in claimed) return claimed;
        if (claimed.held_wallet + funds.price > payable) {
          if (claimed.newest_slot <= funds.slot) {
            const isFree = await waitForMoney(call.payer, read, funds, patientUntil - performance.now());
            if (!isFree) throw insufficient(call.payer, payable - claimed.held_wallet, funds.price);
            continue;
          }
          // The accounts may already lack the money of an open that counts as later, so it would count twice.
          behind += 1;
          if (behind > MOST_READINGS) throw nodeBehind();
          continue;
        }
        const obstacle = obstacleOf(claimed, lending);
        if (obstacle instanceof ApiError) throw obstacle;
        const { lentSince } = journal;
        const shortage = await lentShortage(way, 'x402', { sums: claimed, lending, lentSince, now: read.now });
        if (shortage) throw shortage;
        if (claimed.failed_since > 0n) throw nodeBehind();
        const owes = claimed.owed > 0n ? claimed.owed : 0n;
        // The obstacle may be gone by now.
        if (owes === owed) {
          await ticket.again();
          // The wait in the queue has its own limit.
          patientUntil = performance.now() + maxWaitMs;
        }
        owed = owes;
      }
    } finally {
      ticket.leave();
    }
  }

  return { buy };
}

/** Throws ApiError 402 if the payment would fail although its deposit was there. So far nothing was lent or sent. */
async function requireLanding(
  deps: EngineDeps,
  row: ClaimedDeposit,
  payment: Uint8Array,
  isPrepared: boolean,
): Promise<void> {
  const { chain } = deps;
  const preparation = isPrepared ? [] : [depositInstruction(chain, row, deps)];
  const failing = await chain.wouldFailAfter(preparation, payment).catch(chainUnreadable);
  if (failing === 'payment') throw refusePayment('payment_failed', `${WOULD_FAIL}. Nothing was paid.`);
  if (failing === 'preparation') throw notPrepared();
}

/** Throws ApiError 402 if the payment has expired while it waited for its turn. So far nothing was lent or sent. */
async function requireAlive(chain: EngineDeps['chain'], payment: Uint8Array): Promise<void> {
  const { recentBlockhash } = VersionedTransaction.deserialize(payment).message;
  if ((await chain.lastHeightOf(recentBlockhash).catch(chainUnreadable)) !== null) return;
  throw refusePayment('quote_expired', 'The payment has expired while it waited for its turn. Pay the new quote.');
}

const notPrepared = (): ApiError =>
  retryLater('The deposit for this payment cannot be created now. Nothing was paid.', RETRY_PREPARE_SECONDS);

function insufficient(payer: string, have: bigint, need: bigint): ApiError {
  const left = formatUsdc(have > 0n ? have : 0n);
  const message = `Wallet ${payer} can pay ${left} USDC from its associated token account; this call needs ${formatUsdc(need)} USDC`;
  return refusePayment('insufficient_funds', message);
}

function toClaimed(agent: Agent, call: DepositCall, executionId: string, acceptedAt: bigint): ClaimedDeposit {
  return {
    execution_id: executionId,
    wallet: call.payer,
    key_id: NO_KEY,
    listing: agent.listing,
    listing_version: BigInt(agent.listingVersion),
    metadata_hash: agent.metadataHash,
    nonce: call.nonce.toString('hex'),
    fingerprint: call.fingerprint,
    price: agent.price,
    max_cost: agent.price,
    timeout_seconds: BigInt(call.timeoutSeconds),
    listing_timeout_seconds: BigInt(agent.timeoutSeconds),
    task: call.task,
    parameters: call.parameters,
    accepted_at: acceptedAt,
    request_hash: call.requestHash,
    deposit: call.deposit,
    names_payer: call.namesPayer ? 1n : 0n,
    service_fee: call.serviceFee,
    payment_id: call.paymentId,
    payment: call.payment,
    payment_last_valid_height: call.lastValidHeight,
  };
}
