/** How an execution begins here: its id is taken, its money checked, its open signed and stored. Nothing is sent yet. */
import { isUndecided } from '../../database/temporary.ts';
import { findEscrow, findExecution, parseAddress } from '../../sdk/program/program.ts';
import {
  createNonce,
  deriveExecutionId,
  formatUuid,
  nonceDay,
  parseUuid,
  takesNonceDay,
} from '../../sdk/receipt/receipt.ts';
import { formatUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import type { Agent } from '../agents/catalog.ts';
import { LAMPORTS_PER_SIGNATURE } from '../chain/networkFee.ts';
import { ApiError } from '../errors.ts';
import { type ClaimedExecution, NotFunded, TooOld } from '../ledger/claims.ts';
import type { JournalRow } from '../ledger/tables.ts';
import { JournalConflict } from '../ledger/writing.ts';
import type { OpenedCall, PaidCall, Principal } from './contract.ts';
import { createOpenLine, type Ticket } from './openLine.ts';
import { gasShortage, heldFor, obstacleOf, waysToPay, whatHolds } from './protection.ts';
import { createReservations } from './reservations.ts';
import { allowedBy, isTaken, meansOf, type PayerAccounts, purseOf, readPayer, requirePayable } from './reserve.ts';
import { OPEN_WINDOW_SECONDS, signOpen } from './sign.ts';
import { inProgress } from './standing.ts';
import type { EngineDeps, Live } from './step.ts';

export type Beginning = ReturnType<typeof createBeginning>;

/** How long a call waits for earlier ones that hold what it needs of the wallet's money or of its tank. */
const MAX_WAIT_MS = 5_000;
/**
 * Accounts that are older when the call is claimed are read again: what has landed since then must not be final yet, because
 * what is final is not held against them, and finality takes 12 s. A reading takes less than one.
 */
export const MAX_AGE_MS = 5_000;
/** How often they are read again for that before the call is given up. */
const MAX_READINGS = 4;
const RETRY_START_SECONDS = 5;
/** The clock has been read again by then. */
const RETRY_DAY_SECONDS = 1;

/** The id that a call takes, and those that it would have taken on other days. */
interface Identity {
  executionId: string;
  nonce: Buffer;
  rivals: readonly string[];
}

/** The two ways in which an execution begins. */
export function createBeginning(deps: EngineDeps) {
  const { chain, journal, usdcMint, budgets } = deps;
  // Ids between their claim and their first step, which recovery must leave alone.
  const starting = new Set<string>();
  const reservations = createReservations(journal);
  const line = createOpenLine(async (wallet, listing, passing) => {
    const sums = await journal.sumsOf(wallet, listing, Date.now());
    const obstacle = obstacleOf(sums, budgets, paidByTank(feesOfCall()), BigInt(passing));
    if (obstacle instanceof ApiError) throw obstacle;
    return obstacle === null;
  });

  /** What a call's two transactions cost as priority stands, lamports. */
  function feesOfCall(): bigint {
    const { open, settle } = chain.quote();
    return 2n * LAMPORTS_PER_SIGNATURE + open + settle;
  }

  /** The way to pay of which the most is held against a wallet. */
  const paidByTank = (fees: bigint) => heldFor({ gas: fees, house: 0n }, budgets.sponsorsAll);

  /** The payer's accounts, which can pay. A repeated call is refused for money only if the first has not just taken it. */
  async function readFunds(
    principal: Principal,
    price: bigint,
    call: PaidCall,
    executionId: string,
    known: PayerAccounts | null,
  ) {
    const record = call.repeatable ? findExecution(parseUuid(executionId)!) : null;
    try {
      const accounts = known ?? (await readPayer(chain, principal, usdcMint, record));
      requirePayable(accounts, allowedBy(accounts), price);
      if (!isTaken(accounts)) return accounts;
    } catch (error) {
      await requireNotRunning(call, executionId);
      throw error;
    }
    throw inProgress(executionId);
  }

  async function requireNotRunning({ repeatable }: PaidCall, executionId: string): Promise<void> {
    const first = repeatable ? await journal.get(executionId) : undefined;
    if (first && first.state !== 'void') throw inProgress(executionId);
  }

  /**
   * Read and claim, again and again while only earlier calls of the wallet stand in the way. Throws ApiError.
   */
  async function claimPaid(principal: Principal, agent: Agent, call: PaidCall, identity: Identity, ticket: Ticket) {
    let { executionId, nonce, rivals } = identity;
    const { price } = agent;
    const patientUntil = performance.now() + MAX_WAIT_MS;
    let tooOld = 0;
    for (let known: PayerAccounts | null = null; ; ) {
      const accounts: PayerAccounts = await readFunds(principal, price, call, executionId, known);
      known = null;
      if (!hasOpenDay(nonce, accounts.now)) {
        if (call.repeatable) {
          // Its repeats were looked for under other days.
          const message = "The chain's clock is at another day than it was thought to be";
          throw new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_DAY_SECONDS });
        }
        ({ executionId, nonce, rivals } = identify(principal.wallet, call, nonceDay(accounts.now)));
        continue;
      }
      const allowed = allowedBy(accounts);
      const means = meansOf(accounts, allowed, feesOfCall());
      const ways = waysToPay(means, budgets);
      const purse = purseOf(accounts, allowed, principal, price);
      const until = accounts.readAt + MAX_AGE_MS;
      starting.add(executionId);
      try {
        const claimed = toClaimed(principal, agent, call, { executionId, nonce, acceptedAt: accounts.now });
        const row = await journal.claim(claimed, Date.now(), { ways, budgets, purse, until, rivals });
        return { row, now: accounts.now };
      } catch (error) {
        starting.delete(executionId);
        if (error instanceof JournalConflict && call.repeatable) throw inProgress(await takenBy(identity));
        if (error instanceof TooOld) {
          tooOld += 1;
          if (tooOld === MAX_READINGS) throw busy();
          continue;
        }
        if (!(error instanceof NotFunded)) throw error;
        const { sums } = error;
        const isPromised = sums.held_wallet + price > purse.wallet || sums.held_key + price > purse.key;
        if (isPromised || sums.failed_since > 0n) {
          known = await waitForMoney(principal, accounts, price, patientUntil - performance.now());
          if (known) continue;
          await requireNotRunning(call, executionId);
          requirePayable(accounts, allowed, price, sums);
          if (sums.failed_since > 0n) throw nodeBehind();
        }
        const obstacle = obstacleOf(sums, budgets, paidByTank(means.fees));
        if (obstacle instanceof ApiError) throw obstacle;
        const holds = obstacle === null ? whatHolds(ways, means, sums, budgets) : null;
        // What stood in the way may have ended since.
        if (obstacle === 'wait' || holds === 'passed') {
          await ticket.again();
          continue;
        }
        if (holds === null || performance.now() >= patientUntil) {
          throw gasShortage(principal.wallet, means, sums, budgets);
        }
        deps.log.debug({ wallet: principal.wallet, listing: agent.listing }, 'a call waits for its tank');
        await reservations.next(principal.wallet, patientUntil - performance.now());
      }
    }
  }

  /** The accounts once they have what is promised to nobody; null where that takes too long. */
  function waitForMoney(principal: Principal, accounts: PayerAccounts, price: bigint, leftMs: number) {
    return reservations.whenFree(principal, accounts, leftMs, {
      purseOf: (read) => purseOf(read, allowedBy(read), principal, price),
      read: () => readPayer(chain, principal, usdcMint, null),
    });
  }

  /** Which of a call's ids has a row. */
  async function takenBy({ executionId, rivals }: Identity): Promise<string> {
    for (const rival of rivals) {
      const row = await journal.get(rival);
      if (row && row.state !== 'void') return rival;
    }
    return executionId;
  }

  /**
   * The row of a paid call with its open signed; `live.opened` lets those go on that wait for it. Where the database was
   * lost meanwhile the row is still `accepted` here, and only its stored one says whether there is an open. Throws ApiError.
   */
  async function begin(principal: Principal, agent: Agent, call: PaidCall, live: Live): Promise<JournalRow> {
    requirePrice(agent, call);
    await deps.requireServing(agent.listing);
    const identity = identify(principal.wallet, call, nonceDay(chain.clock()));
    const { executionId } = identity;
    const ticket = await line.enter(principal.wallet, agent.listing, call.arrivedMs);
    // While the node answers: the open will need these addresses, and finding them takes a while.
    findEscrow(findExecution(parseUuid(executionId)!));
    const { row, now } = await claimPaid(principal, agent, call, identity, ticket).finally(ticket.leave);
    const opened = live.opened;
    live.opened = () => {
      reservations.wake(principal.wallet);
      line.wake(principal.wallet);
      opened();
    };
    try {
      const openBefore = now + OPEN_WINDOW_SECONDS;
      await journal.openSigned(row, await signOpen(chain, row, deps, openBefore), openBefore);
      return row;
    } catch (error) {
      // What may be stored will be sent: this call has begun, and has no other answer than its end.
      if (isUndecided(error)) return row;
      live.opened();
      throw error;
    } finally {
      starting.delete(row.execution_id);
    }
  }

  /** Take a funded record; what follows is what follows a confirmed open of ours. Returns its id. Throws ApiError. */
  async function beginOpened(agent: Agent, call: OpenedCall): Promise<string> {
    const { record } = call;
    const wallet = record.caller.toBase58();
    const executionId = formatUuid(record.executionId);
    const gas = BigInt(record.gasLamports);
    const need = LAMPORTS_PER_SIGNATURE + chain.quote().settle;
    const house = gas < need ? need - gas : 0n;
    // Two ends may fail, as of any call; its open was the wallet's own.
    const way = {
      gas,
      house,
      recordRent: 0n,
      escrowRent: 0n,
      tank: 0n,
      mayBurn: budgets.sponsorsAll ? 0n : 2n * (gas + house),
    };
    try {
      await journal.claimOpened(toOpenedClaim(wallet, agent, call), record, Date.now(), {
        ways: [way],
        budgets,
        purse: null,
      });
    } catch (error) {
      if (error instanceof JournalConflict) throw inProgress(executionId);
      if (!(error instanceof NotFunded)) throw error;
      const obstacle = obstacleOf(error.sums, budgets, way);
      if (obstacle instanceof ApiError) throw obstacle;
      if (house > 0n) throw tooLittleGas(executionId, gas, need);
      const message = 'Too much of what the wallet has started is undecided';
      throw new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_START_SECONDS });
    }
    return executionId;
  }

  return { begin, beginOpened, isBeginning: (executionId: string) => starting.has(executionId) };
}

/** A random id, or the one of the call's Idempotency-Key today, which yesterday's and tomorrow's must not be beside. */
function identify(wallet: string, { repeatable }: PaidCall, day: number): Identity {
  const nonce = repeatable?.nonce ?? Buffer.from(createNonce(day));
  const idOf = (bytes: Uint8Array) => formatUuid(deriveExecutionId(parseAddress(wallet).toBytes(), bytes));
  const rivals = repeatable ? [-1, 1].map((days) => idOf(onDay(nonce, nonce.readUInt32LE() + days))) : [];
  return { executionId: idOf(nonce), nonce, rivals };
}

/** Whether the program takes this nonce as long as its open may land. It was made by a reading that can be old. */
function hasOpenDay(nonce: Buffer, now: bigint): boolean {
  return [now, now + OPEN_WINDOW_SECONDS].every((moment) => takesNonceDay(nonce.readUInt32LE(), moment));
}

/** The same nonce of another day. */
function onDay(nonce: Buffer, day: number): Uint8Array {
  return createNonce(day, nonce.subarray(4));
}

function busy(): ApiError {
  const message = 'The service has too much to do at the moment';
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_START_SECONDS });
}

function nodeBehind(): ApiError {
  const message = 'The Solana node does not show yet what has become of an earlier call of the wallet';
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_START_SECONDS });
}

function tooLittleGas(executionId: string, gas: bigint, need: bigint): ApiError {
  const message = `The record holds ${gas} lamports of gas, and to settle it costs ${need}`;
  const details = { reason: 'gas' as const, have_lamports: Number(gas), need_lamports: Number(need) };
  return new ApiError('not_startable', message, { executionId, details });
}

function requirePrice(agent: Agent, call: PaidCall): void {
  if (agent.price <= call.maxCost) return;
  throw new ApiError(
    'price_changed',
    `The agent costs ${formatUsdc(agent.price)} USDC, more than the ${formatUsdc(call.maxCost)} USDC of max_cost_usdc`,
    { details: { price_usdc: toUsdc(agent.price), max_cost_usdc: toUsdc(call.maxCost) } },
  );
}

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

function toOpenedClaim(wallet: string, agent: Agent, { record, ...call }: OpenedCall): ClaimedExecution {
  return {
    execution_id: formatUuid(record.executionId),
    wallet,
    key_id: Buffer.from(record.keyId).toString('hex'),
    listing: agent.listing,
    listing_version: BigInt(record.listingVersion),
    metadata_hash: agent.metadataHash,
    // The wallet's own; nobody needs it again.
    nonce: '',
    fingerprint: null,
    price: record.price,
    max_cost: record.price,
    timeout_seconds: BigInt(call.timeoutSeconds),
    listing_timeout_seconds: BigInt(agent.timeoutSeconds),
    task: call.task,
    parameters: call.parameters,
    accepted_at: record.openedAt,
    request_hash: Buffer.from(record.requestHash).toString('hex'),
  };
}
