/**
 * Tracks the relay's lamports. It only pays fees and lends rent. So the sum of its balance, the callers' gas balances
 * and the rent it has lent changes only by the fees of its transactions and by gifts from a faucet.
 */
import { type ConfirmedSignatureInfo, PublicKey } from '@solana/web3.js';
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
import { readTransaction } from '../../app/sdk/program/transaction.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import type { Visitor } from '../journey/visitor.ts';

/** Transactions per request. A node accepts 50 KiB. */
const AT_ONCE = 50;

export interface Lamports {
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
export async function readLamports({ demo, connection }: Visitor, executionIds: readonly string[]): Promise<Lamports> {
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

export const total = ({ relay, gas, lent, archive }: Lamports): bigint => relay + gas + lent + archive;

/** Fees paid by the relay authority since that transaction, and lamports it received outside the marketplace. */
export async function readFees({ demo, connection }: Visitor, since: string): Promise<{ fees: bigint; given: bigint }> {
  const relay = new PublicKey(demo.relay_authorities[0]!);
  const signatures: ConfirmedSignatureInfo[] = [];
  for (;;) {
    const before = signatures.at(-1)?.signature;
    const options = { until: since, ...(before && { before }) };
    const page = await connection.getSignaturesForAddress(relay, options, 'confirmed');
    signatures.push(...page);
    if (page.length < 1_000) break;
  }
  let [fees, given] = [0n, 0n];
  for (const some of chunks(signatures, AT_ONCE)) {
    const transactions = await Promise.all(
      some.map(({ signature }) => readTransaction(connection, signature, 'confirmed')),
    );
    for (const [at, transaction] of transactions.entries()) {
      if (!transaction?.meta) throw new Error(`the node does not know its own transaction ${some[at]?.signature}`);
      const { fee, preBalances, postBalances } = transaction.meta;
      const keys = transaction.transaction.message.staticAccountKeys;
      const place = keys.findIndex((key) => key.equals(relay));
      if (place === 0) fees += BigInt(fee);
      else if (!keys.some((key) => key.equals(PROGRAM_ID))) given += BigInt(postBalances[place]! - preBalances[place]!);
    }
  }
  return { fees, given };
}

/** The latest transaction of the relay authority. */
export async function latestOf({ demo, connection }: Visitor): Promise<string> {
  const relay = new PublicKey(demo.relay_authorities[0]!);
  const [latest] = await connection.getSignaturesForAddress(relay, { limit: 1 }, 'confirmed');
  return latest!.signature;
}
