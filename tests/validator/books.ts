/**
 * Checks the money of a whole story. The relay only pays fees and lends rent. So the sum of its lamports, the callers'
 * gas balances and the rent it has lent changes only by the fees of its transactions and by gifts from a faucet. USDC
 * moves only as the rows say.
 */
import { type ConfirmedSignatureInfo, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { chunks } from '../../app/process/chunks.ts';
import {
  decodeAccount,
  findArchive,
  findEscrow,
  findExecution,
  findSeededTree,
  findSpender,
  PROGRAM_ID,
} from '../../app/sdk/program/program.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { until } from '../harness/edge/until.ts';
import type { Visitor } from '../journey/visitor.ts';

/** Transactions per request. A node accepts 50 KiB. */
const AT_ONCE = 50;
/** Like all other readings here. */
const FINALIZED = { commitment: 'finalized', maxSupportedTransactionVersion: 1 } as const;

interface Lamports {
  /** Balance of the relay authority. */
  relay: bigint;
  /** The callers' gas balances. */
  gas: bigint;
  /** Records and escrows whose rent the relay or a gas balance has lent. */
  lent: bigint;
  /** The first archive and its tree. */
  archive: bigint;
}

/** `executionIds` must contain all executions so far. */
async function readLamports({ demo, connection }: Visitor, executionIds: readonly string[]): Promise<Lamports> {
  const relay = new PublicKey(demo.relay_authorities[0]!);
  const spenders = demo.callers.map(({ wallet }) => findSpender(new PublicKey(wallet)));
  const read = async (keys: PublicKey[]) =>
    (await Promise.all(chunks(keys, 100).map((some) => connection.getMultipleAccountsInfo(some, 'confirmed')))).flat();
  const sum = (accounts: readonly ({ lamports: number } | null)[]) =>
    accounts.reduce((total, account) => total + BigInt(account?.lamports ?? 0), 0n);

  const records = executionIds.map((id) => findExecution(parseUuid(id)!));
  const lenders = new Set([relay, ...spenders].map(String));
  const found = await read(records);
  const isLent = found.map((account) => {
    return account !== null && lenders.has(decodeAccount('ExecutionRecord', account.data).rentSponsor.toBase58());
  });
  const lentRecords = records.filter((_, at) => isLent[at]);
  const escrows = await read(lentRecords.map((record) => findEscrow(record)));
  return {
    relay: BigInt(await connection.getBalance(relay, 'confirmed')),
    gas: sum(await read(spenders)),
    lent: sum(found.filter((_, at) => isLent[at])) + sum(escrows),
    archive: sum(await read([findArchive(0), findSeededTree(relay, 0)])),
  };
}

const total = ({ relay, gas, lent, archive }: Lamports): bigint => relay + gas + lent + archive;

/** Fees paid by the relay authority since that transaction, and lamports it received outside the marketplace. */
async function readFees({ demo, connection }: Visitor, since: string): Promise<{ fees: bigint; given: bigint }> {
  const relay = new PublicKey(demo.relay_authorities[0]!);
  const signatures: ConfirmedSignatureInfo[] = [];
  for (;;) {
    const before = signatures.at(-1)?.signature;
    const options = { until: since, ...(before && { before }) };
    const page = await connection.getSignaturesForAddress(relay, options, 'finalized');
    signatures.push(...page);
    if (page.length < 1_000) break;
  }
  let [fees, given] = [0n, 0n];
  for (const some of chunks(signatures, AT_ONCE)) {
    const transactions = await Promise.all(
      some.map(({ signature }) => connection.getTransaction(signature, FINALIZED)),
    );
    for (const transaction of transactions) {
      // A node lists a signature before it has stored the transaction, and one whose block was dropped.
      if (!transaction) continue;
      const { fee, preBalances, postBalances } = transaction.meta!;
      const keys = transaction.transaction.message.staticAccountKeys;
      const place = keys.findIndex((key) => key.equals(relay));
      if (place === 0) fees += BigInt(fee);
      else if (!keys.some((key) => key.equals(PROGRAM_ID))) given += BigInt(postBalances[place]! - preBalances[place]!);
    }
  }
  return { fees, given };
}

/** The latest transaction of the relay authority. */
async function latestOf({ demo, connection }: Visitor): Promise<string> {
  const relay = new PublicKey(demo.relay_authorities[0]!);
  const [latest] = await connection.getSignaturesForAddress(relay, { limit: 1 }, 'confirmed');
  return latest!.signature;
}

/** Begins to count while no call is in progress. What happened before belongs to the opening balance. */
export async function openBooks(visit: () => Visitor) {
  /** All executions of all callers. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the test is about
  async function rows(): Promise<any[]> {
    const found = [];
    for (const caller of visit().demo.callers.keys()) {
      for (let page = 0; ; page += 100) {
        const { executions } = (await visit().send(`/v1/executions?limit=100&offset=${page}`, caller)).body;
        found.push(...executions.map((row: object) => ({ ...row, payer: caller })));
        if (executions.length < 100) break;
      }
    }
    return found;
  }
  const ids = async (): Promise<string[]> => (await rows()).map((row) => row.execution_id);
  const earlier = await ids();
  const initial = await visit().balances();
  const first = await readLamports(visit(), earlier);
  const latest = await latestOf(visit());

  return {
    rows,
    /** Checks that the relay has lost nothing except its fees. Returns these, lamports. */
    async assertNothingLost(): Promise<bigint> {
      let read = { fees: 0n, given: 0n, now: 0n };
      const expected = () => total(first) - read.fees + read.given;
      const isEqual = async () => {
        const paid = await readFees(visit(), latest);
        read = { ...paid, now: total(await readLamports(visit(), await ids())) };
        return read.now === expected();
      };
      await until('the node shows all transactions', isEqual).catch(() => undefined);
      expect(read.now).to.equal(expected(), `fees ${read.fees}, given ${read.given}`);
      return read.fees;
    },

    /** Checks that all USDC is where the rows say that have come since. */
    async assertBalances(): Promise<void> {
      const { demo, balances, send } = visit();
      const wallets = demo.callers.map(({ wallet }) => wallet);
      const expected = { ...initial };
      const units = (usdc: number) => BigInt(Math.round(usdc * 1e6));
      for (const row of await rows()) {
        if (row.status !== 'completed' || earlier.includes(row.execution_id)) continue;
        const { body } = await send(`/v1/executions/${row.execution_id}`, row.payer);
        const creator = demo.agents.find(({ agent_id }) => agent_id === row.agent_id)?.creator;
        expected[wallets[row.payer]!]! -= units(body.cost_usdc);
        if (creator) expected[creator]! += units(body.creator_amount_usdc);
        expected.treasury! += units(body.platform_amount_usdc);
      }
      expect(await balances()).to.deep.equal(expected);
    },
  };
}

export type Books = Awaited<ReturnType<typeof openBooks>>;
