/**
 * Claims a paid call: it takes an id and reserves the money, checked against the payer's accounts. The claim is retried
 * while only earlier calls of the same wallet block it.
 */
import { findExecution, parseAddress } from '../../../sdk/program/program.ts';
import {
  createNonce,
  deriveExecutionId,
  formatUuid,
  nonceHalfHour,
  parseUuid,
  takesNonceHalfHour,
} from '../../../sdk/receipt/receipt.ts';
import type { Agent } from '../../agents/catalog.ts';
import { costOf } from '../../chain/fees.ts';
import { ApiError, retryLater } from '../../errors.ts';
import { type ClaimedExecution, NotFunded } from '../../ledger/claims.ts';
import type { Held, Sums } from '../../ledger/sums.ts';
import type { JournalRow } from '../../ledger/tables.ts';
import { JournalConflict } from '../../ledger/writing.ts';
import type { PaidCall, Principal } from '../contract.ts';
import type { EngineDeps } from '../deps.ts';
import { OPEN_WINDOW_SECONDS } from '../sign.ts';
import { inProgress } from '../standing.ts';
import type { MoneyQueue } from './moneyQueue.ts';
import type { Ticket } from './openQueue.ts';
import { allowedBy, fundsOf, hasRecord, meansOf, type PayerAccounts, readPayer, requirePayable } from './payer.ts';
import { cannotLend, gasBalanceBusy, gasShortage, obstacleOf, waysToPay, whatHolds } from './waysToPay.ts';

/**
 * How long a call waits, beyond a finality, for earlier calls that reserve the money or the gas balance that it needs:
 * their opens free it once they are final.
 */
export const MAX_WAIT_MS = 5_000;
export const RETRY_SECONDS = 5;

/** The id of a call. */
export interface Identity {
  executionId: string;
  nonce: Buffer;
}

interface Claim {
  principal: Principal;
  agent: Agent;
  call: PaidCall;
  identity: Identity;
  ticket: Ticket;
}

/** A claim in progress. */
interface Attempt extends Claim {
  /** Deadline of the waiting for money, after the last wait in the queue; on a monotonic clock, ms. */
  patientUntil: number;
  /** Accounts that the call read while it waited. */
  known: PayerAccounts | null;
  /** Lost fees that the wallet owes, as far as the call knows, lamports. */
  owed: bigint;
}

/** The money of a payer for a call, and the ways to pay for it. */
interface PaymentOptions {
  accounts: PayerAccounts;
  allowed: ReturnType<typeof allowedBy>;
  means: ReturnType<typeof meansOf>;
  ways: ReturnType<typeof waysToPay>;
  funds: ReturnType<typeof fundsOf>;
}

/** Reads the payer's money and finds what blocks the payment. */
function createOptions({ chain, journal, usdcMint, lending }: EngineDeps) {
  /**
   * Reads the payer's accounts and checks that they can pay. If the first request of a repeated call has just taken the
   * money, the error is `request_in_progress`.
   */
  async function readFunds({ principal, agent, call, identity, known }: Attempt): Promise<PayerAccounts> {
    const { executionId } = identity;
    const record = call.repeatable ? findExecution(parseUuid(executionId)!) : null;
    try {
      const accounts = known ?? (await readPayer(chain, principal, usdcMint, record));
      requirePayable(accounts, allowedBy(accounts), agent.price);
      if (!hasRecord(accounts)) return accounts;
    } catch (error) {
      await requireNotRunning(principal, call);
      throw error;
    }
    throw inProgress(executionId);
  }

  function optionsFor({ principal, agent, owed }: Attempt, accounts: PayerAccounts): PaymentOptions {
    const allowed = allowedBy(accounts);
    const means = meansOf(accounts, allowed, costOf(chain.quote()));
    const ways = waysToPay(means, lending, owed);
    return { accounts, allowed, means, ways, funds: fundsOf(accounts, allowed, principal, agent.price) };
  }

  async function requireNotRunning({ wallet }: Principal, { repeatable }: PaidCall): Promise<void> {
    const first = repeatable ? await journal.idByTail(wallet, repeatable.tail) : null;
    if (first) throw inProgress(first);
  }

  return { readFunds, optionsFor, requireNotRunning };
}

/** `starting` holds the ids between their claim and their first step. Each claim adds its own. */
export function createClaiming(deps: EngineDeps, moneyQueue: MoneyQueue, starting: Set<string>) {
  const { chain, journal, usdcMint, lending } = deps;
  const { readFunds, optionsFor, requireNotRunning } = createOptions(deps);
  const maxWaitMs = MAX_WAIT_MS + chain.finality.ms;

  /** Returns the row and the chain's time of acceptance. Throws ApiError. */
  async function claim(wanted: Claim): Promise<{ row: JournalRow; now: bigint }> {
    const attempt: Attempt = { ...wanted, patientUntil: performance.now() + maxWaitMs, known: null, owed: 0n };
    for (;;) {
      const claimed = await tryOnce(attempt);
      if (claimed) return claimed;
    }
  }

  /** Null if another attempt may succeed. */
  async function tryOnce(attempt: Attempt): Promise<{ row: JournalRow; now: bigint } | null> {
    const { principal, agent, call } = attempt;
    const accounts = await readFunds(attempt);
    attempt.known = null;
    if (!isOpenable(attempt.identity.nonce, accounts.now)) {
      attempt.identity = identify(principal.wallet, call, accounts.now);
      return null;
    }
    const options = optionsFor(attempt, accounts);
    const { ways, funds } = options;
    const { executionId, nonce } = attempt.identity;
    // The same call is already starting. This one must not remove the first one's id.
    if (starting.has(executionId)) throw inProgress(executionId);
    starting.add(executionId);
    try {
      const claimed = toClaimed(principal, agent, call, { executionId, nonce, acceptedAt: accounts.now });
      const row = await journal.claim(claimed, Date.now(), { ways, lending, funds });
      noticeClaimed(deps, attempt, options, row);
      return { row, now: accounts.now };
    } catch (error) {
      starting.delete(executionId);
      if (error instanceof JournalConflict && call.repeatable) {
        throw inProgress((await journal.idByTail(principal.wallet, call.repeatable.tail)) ?? executionId);
      }
      if (!(error instanceof NotFunded)) throw error;
      await waitForFunds(attempt, options, error.sums);
      return null;
    }
  }

  /** Waits until the obstacle may be gone. Throws ApiError if waiting does not help or takes too long. */
  async function waitForFunds(attempt: Attempt, options: PaymentOptions, sums: Sums & Held): Promise<void> {
    const { principal, agent, call, patientUntil } = attempt;
    const { accounts, allowed, means, ways, funds } = options;
    const isPromised = sums.held_wallet + agent.price > funds.wallet || sums.held_key + agent.price > funds.key;
    if (isPromised || sums.failed_since > 0n) {
      attempt.known = await waitForMoney(principal, accounts, agent.price, patientUntil - performance.now());
      if (attempt.known) return;
      await requireNotRunning(principal, call);
      requirePayable(accounts, allowed, agent.price, sums);
      if (sums.failed_since > 0n) throw nodeBehind();
    }
    const obstacle = obstacleOf(sums, lending);
    if (obstacle instanceof ApiError) throw obstacle;
    const holds = obstacle === null ? whatHolds(ways, means, sums, lending) : null;
    const owed = sums.owed > 0n ? sums.owed : 0n;
    if (obstacle === null && owed !== attempt.owed) {
      attempt.owed = owed;
      return;
    }
    const cannotRepay =
      holds !== null && owed > 0n && !lending.sponsorsAll && ways.every(({ repaid }) => repaid === 0n);
    // The obstacle may be gone by now.
    if (obstacle !== null || (holds === 'passed' && !cannotRepay)) {
      await attempt.ticket.again();
      // The wait in the queue has its own limit.
      attempt.patientUntil = performance.now() + maxWaitMs;
      return;
    }
    if (holds === 'gas' || cannotRepay) throw gasShortage(principal.wallet, means, sums);
    if (holds === 'lent') {
      const loans = { sums, lending, lentSince: journal.lentSince, now: accounts.now };
      throw await cannotLend(ways, principal.wallet, means, loans);
    }
    if (performance.now() >= patientUntil) throw gasBalanceBusy(principal.wallet, means, sums, ways[0]!.gasBalance);
    deps.log.debug(
      { wallet: principal.wallet, listing: agent.listing },
      'a call waits for gas that earlier calls reserve',
    );
    await moneyQueue.next(principal.wallet, patientUntil - performance.now());
  }

  /** Waits for accounts with unreserved money; null if that takes too long. */
  function waitForMoney(principal: Principal, accounts: PayerAccounts, price: bigint, leftMs: number) {
    return moneyQueue.whenFree(principal, accounts, leftMs, {
      fundsOf: (read) => fundsOf(read, allowedBy(read), principal, price),
      read: () => readPayer(chain, principal, usdcMint, null),
    });
  }

  return { claim };
}

function noticeClaimed(
  deps: EngineDeps,
  { principal, agent }: Attempt,
  options: PaymentOptions,
  row: JournalRow,
): void {
  const { accounts, allowed, means, funds } = options;
  const gas = row.gas_balance_lamports > 0n ? means.fee + means.gas : 0n;
  const gasBalance = funds.gasBalance - funds.gasBalanceRest - row.gas_balance_lamports;
  const { wallet, keyId } = principal;
  deps.claimed?.({ wallet, keyId, price: agent.price, grant: allowed.grant, now: accounts.now, gas, gasBalance });
}

/** Returns the id for this time, unix seconds: from the call's Idempotency-Key, or random. */
export function identify(wallet: string, { repeatable }: Pick<PaidCall, 'repeatable'>, now: bigint): Identity {
  const nonce = Buffer.from(createNonce(nonceHalfHour(now), repeatable?.tail));
  return { executionId: formatUuid(deriveExecutionId(parseAddress(wallet).toBytes(), nonce)), nonce };
}

/**
 * True if the program accepts this nonce for as long as the open may land. The nonce comes from a clock reading that
 * may be old.
 */
export function isOpenable(nonce: Buffer, now: bigint): boolean {
  return [now, now + OPEN_WINDOW_SECONDS].every((moment) => takesNonceHalfHour(nonce.readUInt32LE(), moment));
}

/** The 503 for a call whose row was taken before its first transaction was stored, by recovery or another relay. */
export const interrupted = (): ApiError =>
  retryLater('The call was interrupted before it began. Nothing was charged.', RETRY_SECONDS);

/** The 503 for a call whose accounts are older than an open of the wallet that the chain has refused. */
export const nodeBehind = (): ApiError =>
  retryLater(
    'The Solana node does not show the outcome of an earlier call of this wallet yet. Nothing was charged.',
    RETRY_SECONDS,
  );

function toClaimed(
  principal: Principal,
  agent: Agent,
  call: PaidCall,
  taken: { executionId: string; nonce: Buffer; acceptedAt: bigint },
): ClaimedExecution {
  return {
    execution_id: taken.executionId,
    wallet: principal.wallet,
    key_id: principal.keyId,
    listing: agent.listing,
    listing_version: BigInt(agent.listingVersion),
    metadata_hash: agent.metadataHash,
    nonce: taken.nonce.toString('hex'),
    fingerprint: call.repeatable?.fingerprint ?? null,
    price: agent.price,
    max_cost: call.maxCost,
    timeout_seconds: BigInt(call.timeoutSeconds),
    listing_timeout_seconds: BigInt(agent.timeoutSeconds),
    task: call.task,
    parameters: call.parameters,
    accepted_at: taken.acceptedAt,
    request_hash: call.requestHash,
  };
}
