/** Begins an execution: claims its id, checks the money, signs and stores the open. Nothing is sent yet. */
import { isUndecided } from '../../../database/temporary.ts';
import { findEscrow, findExecution } from '../../../sdk/program/program.ts';
import { formatUuid, parseUuid } from '../../../sdk/receipt/receipt.ts';
import { formatUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import type { Agent } from '../../agents/catalog.ts';
import { costOf } from '../../chain/fees.ts';
import { ApiError } from '../../errors.ts';
import type { ClaimedExecution } from '../../ledger/claims.ts';
import type { JournalRow } from '../../ledger/tables.ts';
import { JournalConflict } from '../../ledger/writing.ts';
import type { OpenedCall, PaidCall, Principal } from '../contract.ts';
import { createBuying } from '../deposits/buying.ts';
import type { EngineDeps, Progress } from '../deps.ts';
import { claimOf } from '../records.ts';
import type { Sharing } from '../sharing.ts';
import { OPEN_WINDOW_SECONDS, partOfOpen, signOpen } from '../sign.ts';
import { inProgress } from '../standing.ts';
import { createClaiming, identify, interrupted } from './claiming.ts';
import { createMoneyQueue } from './moneyQueue.ts';
import { createOpenQueue } from './openQueue.ts';
import { obstacleOf } from './waysToPay.ts';

export type Beginning = ReturnType<typeof createBeginning>;

/** Creates the ways to begin an execution. */
export function createBeginning(deps: EngineDeps, sharing: Pick<Sharing, 'share'>) {
  const { chain, journal, lending } = deps;
  // Ids between their claim and their first step, which recovery must leave alone.
  const starting = new Set<string>();
  const moneyQueue = createMoneyQueue(journal);
  const claiming = createClaiming(deps, moneyQueue, starting);
  const queue = createOpenQueue(async (wallet, listing, passing) => {
    const sums = await journal.sumsOf(wallet, listing, Date.now());
    const obstacle = obstacleOf(sums, lending, BigInt(passing));
    if (obstacle instanceof ApiError) throw obstacle;
    return obstacle === null ? true : Number(obstacle.opens);
  }, chain.finality);
  const { buy } = createBuying(deps, queue, moneyQueue, sharing, starting);

  /**
   * Returns the row of a paid call with its open signed. `progress.opened` wakes the calls that wait for it. If the
   * database fails meanwhile, the row here is still `accepted`; only the stored row knows if an open exists. Throws
   * ApiError.
   */
  async function begin(principal: Principal, agent: Agent, call: PaidCall, progress: Progress): Promise<JournalRow> {
    requirePrice(agent, call);
    deps.requireExposure(agent.listing);
    const identity = identify(principal.wallet, call, chain.clock());
    const { executionId } = identity;
    const ticket = await queue.enter(principal.wallet, agent.listing, call.arrivedMs);
    // Fills the address cache: the open needs these addresses, and finding them takes a while.
    findEscrow(findExecution(parseUuid(executionId)!));
    const { row, now } = await claiming.claim({ principal, agent, call, identity, ticket }).finally(ticket.leave);
    const opened = progress.opened;
    progress.opened = () => {
      moneyQueue.wake(principal.wallet);
      queue.wake(principal.wallet);
      opened();
    };
    try {
      const openBefore = now + OPEN_WINDOW_SECONDS;
      const isShared = await sharing.share('open', row, async () => partOfOpen(chain, row, deps, openBefore));
      if (!isShared) await journal.openSigned(row, await signOpen(chain, row, deps, openBefore), openBefore);
      return row;
    } catch (error) {
      // A stored open will be sent, so this call has begun: only its end can answer it.
      if (isUndecided(error)) return row;
      progress.opened();
      throw error instanceof JournalConflict ? interrupted() : error;
    } finally {
      starting.delete(row.execution_id);
    }
  }

  /**
   * Takes over a funded record, which then continues like a final open of ours. Returns its id. Throws ApiError.
   */
  async function beginOpened(agent: Agent, call: OpenedCall): Promise<string> {
    const { record } = call;
    const executionId = formatUuid(record.executionId);
    const gas = BigInt(record.gasLamports);
    const need = costOf(chain.quote()).gas;
    if (gas < need && !lending.sponsorsAll) throw tooLittleGas(executionId, gas, need);
    const way = { fee: 0n, repaid: 0n, gas, recordRent: 0n, escrowRent: 0n, gasBalance: 0n };
    try {
      await journal.claimOpened(toOpenedClaim(agent, call), record, Date.now(), {
        ways: [way],
        lending,
        funds: null,
      });
    } catch (error) {
      if (error instanceof JournalConflict) throw inProgress(executionId);
      throw error;
    }
    return executionId;
  }

  return { begin, beginOpened, buy, isBeginning: (executionId: string) => starting.has(executionId) };
}

function tooLittleGas(executionId: string, gas: bigint, need: bigint): ApiError {
  const message = `The record holds ${gas} lamports of gas, but settling and archiving it cost ${need}`;
  const details = { reason: 'gas' as const, have_lamports: Number(gas), need_lamports: Number(need) };
  return new ApiError('not_startable', message, { executionId, details });
}

function requirePrice(agent: Agent, call: PaidCall): void {
  if (agent.price <= call.maxCost) return;
  throw new ApiError(
    'price_changed',
    `The agent costs ${formatUsdc(agent.price)} USDC, more than max_cost_usdc, ${formatUsdc(call.maxCost)} USDC. Raise max_cost_usdc to pay the new price.`,
    { details: { price_usdc: toUsdc(agent.price), max_cost_usdc: toUsdc(call.maxCost) } },
  );
}

function toOpenedClaim(agent: Agent, { record, ...call }: OpenedCall): ClaimedExecution {
  return {
    ...claimOf(record),
    metadata_hash: agent.metadataHash,
    timeout_seconds: BigInt(call.timeoutSeconds),
    listing_timeout_seconds: BigInt(agent.timeoutSeconds),
    task: call.task,
    parameters: call.parameters,
  };
}
