/**
 * Checks after any run, against the chain: conservation, and the invariants I3 (each record pays one side), I5 (paid
 * means signed), I9 (completed means settled, with exactly that result), I10 (one execution per Idempotency-Key), I11
 * (no dispatch before it is funded; checked by the creator), I12 (every id can be read), I13 (keys and agents have the
 * chain's counts), I15 (no task or result in the log), I16 (every lamport explained).
 */
import type { Connection, PublicKey, TransactionError } from '@solana/web3.js';
import {
  decodeAccount,
  findExecution,
  findGrant,
  PROGRAM_ID,
  RECORD_OFFSETS,
} from '../../../app/sdk/program/program.ts';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import { keyIdOf } from '../../../app/sdk/receipt/apiKey.ts';
import { hashResult, parseUuid, verifyResultSignature } from '../../../app/sdk/receipt/receipt.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  type Balances,
  FEE,
  PRICE,
  request,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { BEHAVIOURS, type PlannedExecution } from './plan.ts';

/** One execution from its client's view at the end. */
export interface Ended {
  planned: PlannedExecution;
  task: string;
  /** The id of its only charged execution, by wallet and Idempotency-Key. */
  id: string;
  /** The answer that the client accepted as final. */
  answer: Answer;
}

/** All figures that executions change, at one moment. */
export interface Picture {
  balances: Balances;
  /** Amount spent and number of executions of the callers' grants. */
  grants: { spent: bigint; count: number }[];
  agent: { total: number; successful: number };
  records: number;
  /** Balances of the relay authorities, and the rent in records. */
  lamports: { authority: number; rent: number };
  /** Newest transaction of each relay authority. */
  lastSignatures: (string | null)[];
}

export async function pollOne(market: TestMarketplace, url: string, authorities: PublicKey[]): Promise<Picture> {
  const { connection } = market.node;
  const grants = await Promise.all(
    market.callers.map(async ({ wallet, apiKey }) => {
      const account = await connection.getAccountInfo(findGrant(wallet.publicKey, keyIdOf(apiKey)), 'confirmed');
      const grant = decodeAccount('KeyGrant', account!.data);
      return { spent: grant.totalSpent, count: Number(grant.executionCount) };
    }),
  );
  const agent = (await request(url, `/v1/agents/${market.agentId}`)).body;
  const lastSignatures = await Promise.all(
    authorities.map(async (authority) => {
      const [last] = await connection.getSignaturesForAddress(authority, { limit: 1 }, 'confirmed');
      return last?.signature ?? null;
    }),
  );
  return {
    balances: await market.balances(),
    grants,
    agent: { total: agent.total_executions, successful: agent.successful_executions },
    ...(await readLamports(market, authorities)),
    lastSignatures,
  };
}

async function readLamports(
  { node: { connection } }: TestMarketplace,
  authorities: PublicKey[],
): Promise<Pick<Picture, 'records' | 'lamports'>> {
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  const lent = await Promise.all(
    authorities.map((authority) =>
      connection.getProgramAccounts(PROGRAM_ID, {
        commitment: 'confirmed',
        filters: [{ memcmp: { offset: RECORD_OFFSETS.rentSponsor, bytes: authority.toBase58() } }],
      }),
    ),
  );
  const records = lent.flat();
  return {
    records: records.length,
    lamports: {
      authority: sum(await Promise.all(authorities.map((authority) => connection.getBalance(authority, 'confirmed')))),
      rent: sum(records.map(({ account }) => account.lamports)),
    },
  };
}

interface Seen {
  ended: Ended[];
  before: Picture;
  after: Picture;
  log: string;
}

/** Returns one sentence for each violation. */
export async function findViolations(
  market: TestMarketplace,
  url: string,
  seen: Seen,
  authorities: PublicKey[],
): Promise<string[]> {
  const found: string[] = [];
  const demand = (isSo: boolean, otherwise: string) => void (isSo || found.push(otherwise));
  const journal = new Map((await market.journal()).map((row) => [row.execution_id, row]));
  for (const one of seen.ended) await checkExecution(market, url, one, journal.get(one.id), demand);

  const { before, after, ended } = seen;
  const paid = ended.filter(({ planned }) => BEHAVIOURS[planned.behaviour] === 'completed');
  const count = BigInt(paid.length);
  demand(after.records - before.records === ended.length, `I10: ${after.records - before.records} new records`);
  demand(after.balances.creator === before.balances.creator + (PRICE - FEE) * count, 'conservation: creator');
  demand(after.balances.treasury === before.balances.treasury + FEE * count, 'conservation: treasury');
  for (const [index, caller] of before.balances.callers.entries()) {
    const own = BigInt(paid.filter(({ planned }) => planned.caller === index).length);
    demand(after.balances.callers[index] === caller - PRICE * own, `conservation: caller ${index}`);
    const [was, is] = [before.grants[index]!, after.grants[index]!];
    demand(is.spent - was.spent === PRICE * own, `I13: the key of caller ${index} spent ${is.spent - was.spent}`);
  }
  // Calls that time out had less time than the listing asks for, so they do not count for the agent.
  const judged = ended.filter(({ planned }) => BEHAVIOURS[planned.behaviour] !== 'timeout');
  await checkCounts(market, url, before, judged.length, paid.length, demand);
  await checkLamports(market, authorities, before, demand);
  demand(!/canary-task|, answer \d/.test(seen.log), 'I15: a task or a result is in the log');
  return found;
}

type Demand = (isSo: boolean, otherwise: string) => void;

async function checkExecution(
  market: TestMarketplace,
  url: string,
  { planned, task, id, answer }: Ended,
  row: Awaited<ReturnType<TestMarketplace['journal']>>[number] | undefined,
  demand: Demand,
): Promise<void> {
  const expected = BEHAVIOURS[planned.behaviour];
  const name = `${task} (${id})`;
  const told = answer.body.execution_id ?? answer.body.error?.execution_id;
  demand(told === id, `I10: ${name} was answered as ${told}: ${JSON.stringify(answer.body)}`);
  const record = await market.record(id);
  const status = expected === 'completed' ? 'completed' : 'refunded';
  demand(record?.status === status, `I3: ${name} is ${record?.status} on the chain`);
  demand(!(await market.escrowExists(id)), `I3: the escrow of ${name} is still there`);
  const address = findExecution(parseUuid(id)!);
  const sent = await market.node.connection.getSignaturesForAddress(address, undefined, 'confirmed');
  const landed = sent.filter(({ err }) => !isDropped(err));
  const isOnce = landed.length === 2 && landed.every(({ err }) => err === null);
  demand(isOnce, `I3: ${name} has the transactions ${JSON.stringify(sent.map(({ err }) => err))}`);

  const { apiKey } = market.callers[planned.caller]!;
  const { status: code, body } = await request(url, `/v1/executions/${id}`, { apiKey });
  demand(code === 200, `I12: ${name} cannot be read: ${code}`);
  demand(body.status === (expected === 'completed' ? 'completed' : 'failed'), `I9: ${name} is shown as ${body.status}`);
  if (expected !== 'completed') {
    // A relay that was killed during the call may have left no time for another one.
    const codes = expected === 'timeout' ? ['execution_timeout', 'service_unavailable'] : ['execution_failed'];
    demand(
      codes.includes(body.error?.code) && body.cost_usdc === 0,
      `I9: ${name} ended with ${JSON.stringify(body.error)}`,
    );
    return;
  }
  const committed = `sha256:${Buffer.from(record?.resultHash ?? []).toString('hex')}`;
  const text = await (await fetch(body.ipfs_url)).text();
  demand(hashResult(text) === committed && body.result === text, `I9: ${name} shows another result than the chain's`);
  const isSigned = row?.signature && verifyResultSignature(record!.signingKey.toBytes(), committed, row.signature);
  demand(Boolean(isSigned), `I5: ${name} was paid without the creator's signature`);
}

/** Checks the agent's figures, once the index has read everything. */
async function checkCounts(
  market: TestMarketplace,
  url: string,
  before: Picture,
  total: number,
  successful: number,
  demand: Demand,
): Promise<void> {
  const isRight = async () => {
    const { body } = await request(url, `/v1/agents/${market.agentId}`);
    const grown = [body.total_executions - before.agent.total, body.successful_executions - before.agent.successful];
    return grown[0] === total && grown[1] === successful;
  };
  await until('the index has counted', isRight).catch(() => demand(false, 'I13: the agent has other figures'));
}

/** Checks that the relay authorities' losses are rent in records or fees, once the node shows all transactions. */
async function checkLamports(
  market: TestMarketplace,
  authorities: PublicKey[],
  before: Picture,
  demand: Demand,
): Promise<void> {
  const { connection } = market.node;
  const sentBy = (authority: PublicKey, last: string | null | undefined) =>
    connection.getSignaturesForAddress(authority, last ? { until: last } : undefined, 'confirmed');
  const fees = new Map<string, number>();
  let [lost, explained] = [0, 0];
  const isExplained = async () => {
    const { lamports } = await readLamports(market, authorities);
    const sent = await Promise.all(authorities.map((authority, n) => sentBy(authority, before.lastSignatures[n])));
    for (const { signature } of sent.flat().filter(({ err }) => !isDropped(err))) {
      const fee = fees.get(signature) ?? (await feeOf(connection, signature));
      // Listed, but not shown yet: it is requested again.
      if (fee !== null) fees.set(signature, fee);
    }
    lost = before.lamports.authority - lamports.authority;
    explained = [...fees.values()].reduce((sum, fee) => sum + fee, 0) + lamports.rent - before.lamports.rent;
    return lost === explained;
  };
  await until('every lamport is explained', isExplained).catch(() =>
    demand(false, `I16: ${lost} lamports are gone, ${explained} are explained`),
  );
}

/** True for a transaction that came too late. The local node lists it; a cluster drops it. */
function isDropped(error: TransactionError | null): boolean {
  return error === 'BlockhashNotFound';
}

/**
 * The sum that all accounts of a transaction lose; null while the node does not show it. The local node's `meta.fee`
 * lacks the priority fee and the signatures that the Ed25519 program checks.
 */
async function feeOf(connection: Connection, signature: string): Promise<number | null> {
  const meta = (await readTransaction(connection, signature))?.meta;
  if (!meta) return null;
  const sum = (balances: number[]) => balances.reduce((total, balance) => total + balance, 0);
  return sum(meta.preBalances) - sum(meta.postBalances);
}
