/** What relays have signed for calls that share transactions, and a node that lets a shared one fail. */
import { type PublicKey, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import type { TestMarketplace } from './marketplace.ts';
import type { Kind, RpcProxy } from './rpcProxy.ts';

export const SIGNATURE_LAMPORTS = 5_000n;
const VERSION_1 = 0x81;

/** A transaction as one call has it. */
export interface Signed {
  kind: string;
  signature: string;
  fee: bigint;
  outcome: string;
  execution_id: string;
}

/** True for a transaction of version 1, base64. */
export const isVersionOne = (base64: unknown): boolean => Buffer.from(String(base64), 'base64')[0] === VERSION_1;

/**
 * Calls `spoil` before the first shared transaction of this kind, and with this account, reaches the node. The returned
 * function tells if there was one.
 */
export function spoilShared(
  proxy: RpcProxy,
  shared: Kind,
  spoil: () => Promise<void>,
  account?: PublicKey,
): () => boolean {
  let spoiled: Promise<void> | null = null;
  const names = (bytes: unknown) =>
    account === undefined || Buffer.from(String(bytes), 'base64').includes(account.toBuffer());
  proxy.onCall(async ({ kind, params: [bytes] }) => {
    if (kind === shared && isVersionOne(bytes) && names(bytes)) spoiled ??= spoil();
    await spoiled;
    return null;
  });
  return () => spoiled !== null;
}

/** Reads and judges what the relays of this marketplace have signed. */
export function readShared(market: TestMarketplace) {
  /** What was signed for the calls whose tasks begin so. */
  const signedFor = (tasks: string): Promise<Signed[]> =>
    market.query(
      'ledger',
      `SELECT t.kind, t.signature, t.fee, t.outcome, t.execution_id FROM transactions AS t
        JOIN executions AS e ON e.execution_id = t.execution_id WHERE e.task LIKE '${tasks}%'`,
    );

  /** Expects that the shares of each transaction add up to the fee that the chain took for it. Returns their sum. */
  async function requireExactFees(signed: Signed[]): Promise<bigint> {
    const shares = new Map<string, bigint>();
    for (const { signature, fee, outcome } of signed) {
      if (outcome !== 'expired') shares.set(signature, (shares.get(signature) ?? 0n) + fee);
    }
    for (const [signature, sum] of shares) {
      const landed = await readTransaction(market.node.connection, signature);
      expect(BigInt(landed!.meta!.fee), signature).to.equal(sum);
    }
    return [...shares.values()].reduce((sum, fee) => sum + fee, 0n);
  }

  /**
   * Expects that all of these have landed, and that each shared one is stored once, of version 1, with one instruction for
   * each call and its whole log. Returns the number of calls in each transaction.
   */
  async function requireWhole(signed: Signed[]): Promise<number[]> {
    expect(signed.map(({ outcome }) => outcome)).to.deep.equal(Array(signed.length).fill('landed'));
    const sizes: number[] = [];
    for (const signature of new Set(signed.map((one) => one.signature))) {
      const stored = `SELECT bytes, fee FROM signed_transactions WHERE signature = '${signature}'`;
      const [row] = await market.query('ledger', stored);
      const { message } = VersionedTransaction.deserialize(row.bytes);
      const calls = signed.filter((one) => one.signature === signature).length;
      expect(row.fee).to.equal(SIGNATURE_LAMPORTS);
      const landed = await readTransaction(market.node.connection, signature);
      expect(landed!.meta!.logMessages, 'events for the index').to.not.include('Log truncated');
      if (calls > 1) expect([message.version, message.compiledInstructions.length]).to.deep.equal([1, calls]);
      sizes.push(calls);
    }
    return sizes;
  }

  /**
   * Expects that the call that failed bears the whole fee of its transaction of this kind, and that the others of it have
   * these transactions besides, which have landed.
   */
  async function requireOneBearer(kind: string, bearer: Signed[], others: Signed[], landed: string[]): Promise<void> {
    const signed = [...bearer, ...others];
    await requireExactFees(signed);
    const failed = signed.filter(({ outcome }) => outcome === 'failed');
    expect(failed.map((one) => [one.fee, one.kind])).to.deep.equal([[SIGNATURE_LAMPORTS, kind]]);
    expect(bearer.map(({ execution_id }) => execution_id)).to.include(failed[0]!.execution_id);
    const innocent = others.filter(({ signature }) => signature === failed[0]!.signature);
    expect(innocent.length).to.be.at.least(1);
    for (const { execution_id, outcome } of innocent) {
      const own = signed.filter((one) => one.execution_id === execution_id && one.outcome === 'landed');
      expect([outcome, ...own.map((one) => one.kind).sort()]).to.deep.equal(['expired', ...landed]);
    }
  }

  return { signedFor, requireExactFees, requireWhole, requireOneBearer };
}
