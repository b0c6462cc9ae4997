/** How an execution begins here: its id is taken, its money checked, its open signed and stored. Nothing is sent yet. */
import canonicalize from 'canonicalize';
import { requestHash } from '../../sdk/creator/nativeReceipt.ts';
import { findEscrow, findExecution, parseAddress } from '../../sdk/program/program.ts';
import { createNonce, deriveExecutionId, formatUuid, nonceDay, parseUuid } from '../../sdk/receipt/receipt.ts';
import { formatUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import type { Agent } from '../agents/catalog.ts';
import { ApiError } from '../errors.ts';
import { type ClaimedExecution, OpenLimitReached } from '../ledger/claims.ts';
import type { JournalRow } from '../ledger/tables.ts';
import { JournalConflict } from '../ledger/writing.ts';
import type { OpenedCall, PaidCall, Principal } from './contract.ts';
import { requireWithinWalletLimits, tooManyOpen } from './protection.ts';
import type { Reservations } from './reservations.ts';
import { reserveFunds } from './reserve.ts';
import { OPEN_WINDOW_SECONDS, signOpen } from './sign.ts';
import { inProgress } from './standing.ts';
import type { EngineDeps, Live } from './step.ts';

export type Beginning = ReturnType<typeof createBeginning>;

/** The two ways in which an execution begins. */
export function createBeginning(deps: EngineDeps, reservations: Reservations) {
  const { chain, journal, usdcMint, walletLimits } = deps;
  // Ids between their claim and their first step, which recovery must leave alone.
  const starting = new Set<string>();

  /** A call that may be a repeated one is refused for money only if the first has not just taken it. */
  async function reserveOnce(principal: Principal, agent: Agent, call: PaidCall, executionId: string) {
    const record = call.repeatable ? findExecution(parseUuid(executionId)!) : null;
    try {
      const reserved = await reserveFunds(chain, reservations, principal, usdcMint, agent.price, record);
      if (!reserved.isTaken) return reserved;
      reserved.release();
    } catch (error) {
      const first = record === null ? undefined : await journal.get(executionId);
      if (!first || first.state === 'void') throw error;
    }
    throw inProgress(executionId);
  }

  /** The row of a paid call with its open signed; `live.opened` gives its reservation back. Throws ApiError. */
  async function begin(principal: Principal, agent: Agent, call: PaidCall, live: Live): Promise<JournalRow> {
    requirePrice(agent, call);
    deps.requireServing(agent.listing);
    await requireWithinWalletLimits(journal, walletLimits, principal.wallet, Date.now());
    const nonce = call.repeatable?.nonce ?? Buffer.from(createNonce(nonceDay(chain.clock())));
    const executionId = formatUuid(deriveExecutionId(parseAddress(principal.wallet).toBytes(), nonce));
    const reserving = reserveOnce(principal, agent, call, executionId);
    // While the node answers: the open will need these addresses, and finding them takes a while.
    findEscrow(findExecution(parseUuid(executionId)!));
    const { now, release } = await reserving;
    const opened = live.opened;
    live.opened = () => {
      release();
      opened();
    };
    starting.add(executionId);
    try {
      const claimed = toClaimed(principal, agent, call, { executionId, nonce, acceptedAt: now });
      const row = await journal.claim(claimed, Date.now(), walletLimits.openExecutions);
      const openBefore = now + OPEN_WINDOW_SECONDS;
      await journal.openSigned(row, await signOpen(chain, row, usdcMint, openBefore), openBefore);
      return row;
    } catch (error) {
      release();
      if (error instanceof JournalConflict && call.repeatable) throw inProgress(executionId);
      if (error instanceof OpenLimitReached) throw tooManyOpen(walletLimits.openExecutions);
      throw error;
    } finally {
      starting.delete(executionId);
    }
  }

  /** Take a funded record; what follows is what follows a confirmed open of ours. Returns its id. Throws ApiError. */
  async function beginOpened(agent: Agent, call: OpenedCall): Promise<string> {
    const { record } = call;
    const wallet = record.caller.toBase58();
    await requireWithinWalletLimits(journal, walletLimits, wallet, Date.now());
    const executionId = formatUuid(record.executionId);
    try {
      await journal.claimOpened(toOpenedClaim(wallet, agent, call), record, Date.now(), walletLimits.openExecutions);
    } catch (error) {
      if (error instanceof JournalConflict) throw inProgress(executionId);
      if (error instanceof OpenLimitReached) throw tooManyOpen(walletLimits.openExecutions);
      throw error;
    }
    return executionId;
  }

  return { begin, beginOpened, isBeginning: (executionId: string) => starting.has(executionId) };
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
    parameters: canonicalize(call.parameters) ?? '{}',
    accepted_at: taken.acceptedAt,
    request_hash: Buffer.from(requestHash(call.task, call.parameters)).toString('hex'),
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
    parameters: canonicalize(call.parameters) ?? '{}',
    accepted_at: record.openedAt,
    request_hash: Buffer.from(record.requestHash).toString('hex'),
  };
}
